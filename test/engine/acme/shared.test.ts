import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { Acme } from '../../../src/engine/acme/acme.ts';
import type { AcmeTiming } from '../../../src/engine/acme/acme-timing.ts';
import { AcmeFiles } from '../../../src/engine/acme/files.ts';
import type { AcmeTexts, ChangedTexts } from '../../../src/engine/acme/texts.ts';
import { writePrivately } from '../../../src/settings/private-file.ts';
import { covering, makeCertificate } from '../../support/certificates.ts';
import { eventually } from '../../support/eventually.ts';
import { freePortRange } from '../../support/free-port.ts';
import { LogRecorder } from '../../support/log-recorder.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const MINUTE = 60_000;
const kept = temporaryDirectory();
const running: Acme[] = [];
afterEach(async () => {
  for (const acme of running.splice(0)) await acme.stop();
});

/** What servers share, in memory, and which of them orders. Each change is followed by the others, as by the log of changes. */
class Installation implements AcmeTexts {
  readonly texts = new Map<string, string>();
  readonly leaders = new Set<string>();
  readonly log = new LogRecorder();
  clock = Date.now();
  readonly #servers = new Map<string, Acme>();
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  /** Nobody listens where the authority is, so that each order fails. */
  static async make(): Promise<Installation> {
    return new Installation(`https://127.0.0.1:${await freePortRange(1)}/directory`);
  }

  get keeping() {
    return { directory: this.#directory, email: '', write: writePrivately };
  }

  server(name: string, timing: Partial<AcmeTiming> = {}): Acme {
    const shared = { texts: () => this.seenBy(name), leads: () => this.leaders.has(name) };
    const options = { ...this.keeping, dir: path.join(kept, `${this.#directory.replaceAll(/\W/g, '')}-${name}`), shared, timing: { lookMs: 5, ...timing } };
    const acme = new Acme(options, this.log.logger, () => this.clock);
    running.push(acme);
    this.#servers.set(name, acme);
    return acme;
  }

  seenBy(name: string): AcmeTexts {
    return { read: (file) => this.read(file), list: () => this.list(), change: (files, change) => this.#changeBy(name, files, change) };
  }

  async read(file: string): Promise<string | undefined> {
    return this.texts.get(file);
  }

  async list(): Promise<readonly string[]> {
    return [...this.texts.keys()];
  }

  change(files: readonly string[], change: (now: ReadonlyMap<string, string>) => ChangedTexts): Promise<void> {
    return this.#changeBy('', files, change);
  }

  async #changeBy(name: string, files: readonly string[], change: (now: ReadonlyMap<string, string>) => ChangedTexts): Promise<void> {
    await new Promise(setImmediate);
    const changed = change(new Map(files.flatMap((file) => this.texts.has(file) ? [[file, this.texts.get(file) ?? '']] : [])));
    for (const [file, text] of changed) {
      if (text === undefined) this.texts.delete(file);
      else this.texts.set(file, text);
      for (const [other, acme] of this.#servers) if (other !== name) void acme.follow(path.parse(file).name);
    }
  }

  /** How many orders have failed. */
  get failed(): number {
    return this.log.entries.filter(({ msg }) => msg.startsWith('no ACME certificate')).length;
  }
}

async function two(timing: Partial<AcmeTiming> = {}, names: readonly string[] = ['a.example']) {
  const installation = await Installation.make();
  installation.leaders.add('one');
  const [one, other] = [installation.server('one', timing), installation.server('other', timing)];
  for (const acme of [one, other]) {
    for (const name of names) acme.want(name, 1);
    acme.start();
  }
  const failed = (acme: Acme, failures: number, name = 'a.example') =>
    eventually(() => acme.state(name), (state) => state?.status === 'failed' && state.failures === failures);
  return { installation, one, other, failed };
}

test('only the server that leads orders, all know how it went, and the next leader waits as long, and counts on', async () => {
  const { installation, one, other, failed } = await two();
  await failed(one, 1);
  expect(await failed(other, 1)).toEqual(one.state('a.example'));
  expect(installation.failed).toBe(1);

  installation.leaders.delete('one');
  installation.leaders.add('other');
  installation.clock += 4 * MINUTE;
  await eventually(() => other.state('a.example')?.nextAt, (at) => at === one.state('a.example')?.nextAt);
  for (let turn = 0; turn < 20; turn++) {
    other.look();
    await new Promise(setImmediate);
  }
  expect(installation.failed).toBe(1);
  installation.clock += 3 * MINUTE;
  expect((await failed(other, 2))?.nextAt).toBeGreaterThan(installation.clock + 9 * MINUTE);
  expect(await failed(one, 2)).toEqual(other.state('a.example'));
  expect(installation.failed).toBe(2);
});

test('challenges of a host without ACME, whose target may have its own, wait for no look; all others do', async () => {
  const { other } = await two();
  expect(other.answer('target.example', 'token', true)).toBeUndefined();
  expect(other.answer('a.example', 'token', true)).toBeInstanceOf(Promise);
  // A host that this server does not know yet.
  expect(await other.answer('new.example', 'token', false)).toBeUndefined();
});

test('the orders of an hour are limited for all servers together', async () => {
  const names = Array.from({ length: 6 }, (_, index) => `${index}.example`);
  const { installation, other } = await two({ perHour: 5 }, names);
  await eventually(() => installation.failed, (count) => count === 3);
  installation.leaders.clear();
  installation.leaders.add('other');
  other.want('a.example', 2);
  await eventually(() => other.state('a.example')?.status, (status) => status === 'failed');
  other.want('b.example', 3);
  await eventually(() => other.state('b.example')?.status, (status) => status === 'failed');
  other.want('c.example', 4);
  installation.clock += 50 * MINUTE;
  for (let turn = 0; turn < 20; turn++) {
    other.look();
    await new Promise(setImmediate);
  }
  expect(installation.failed).toBe(5);
  installation.clock += 11 * MINUTE;
  await eventually(() => other.state('c.example')?.status, (status) => status === 'failed');
});

test('two servers that both believe to lead order a name once', async () => {
  const { installation, one, other, failed } = await two({}, []);
  installation.leaders.add('other');
  const names = ['a.example', 'b.example', 'c.example'];
  for (const name of names) for (const acme of [one, other]) acme.want(name, 0);
  for (const name of names) for (const acme of [one, other]) await failed(acme, 1, name);
  expect(installation.failed).toBe(3);
});

test('an attempt can be requested at any server, three times per hour for a name at all of them together', async () => {
  const { installation, one, other, failed } = await two();
  await failed(other, 1);
  for (const [acme, failures] of [[other, 2], [one, 3], [other, 4]] as const) {
    expect(await acme.retry('a.example')).toEqual({ kind: 'started' });
    for (const each of [one, other]) await failed(each, failures);
  }
  for (const acme of [one, other]) expect(await acme.retry('a.example')).toMatchObject({ kind: 'later', at: expect.any(Number) });
  expect(await other.retry('unknown.example')).toEqual({ kind: 'notFailed' });
  expect(installation.failed).toBe(4);
});

test('an order that a dead server had begun counts as failed at all servers when another one leads', async () => {
  const installation = await Installation.make();
  const begun = { failures: 3, problem: 'the order was broken off', lastAt: installation.clock, nextAt: installation.clock + MINUTE };
  installation.texts.set('a.example.json', JSON.stringify({ ...begun, ordering: { failures: 2, problem: 'nobody answered' } }));
  const [one, other] = [installation.server('one'), installation.server('other')];
  for (const acme of [one, other]) {
    acme.want('a.example', 1);
    acme.start();
    await acme.recalled();
    expect(acme.state('a.example')).toEqual({ status: 'pending', failures: 2, problem: 'nobody answered', lastAt: begun.lastAt, nextAt: null });
  }
  installation.leaders.add('one');
  for (const acme of [one, other]) {
    expect(await eventually(() => acme.state('a.example'), (state) => state?.status === 'failed')).toMatchObject({ failures: 3, nextAt: begun.nextAt });
  }
  expect(JSON.parse(installation.texts.get('a.example.json') ?? '')).toEqual(begun);
});

test('what others have changed meanwhile is read for all names together, and what has expired is deleted by the server that orders', async () => {
  const { installation, one, other, failed } = await two({}, ['a.example', 'b.example']);
  for (const name of ['a.example', 'b.example']) await failed(other, 1, name);
  const attempt = { failures: 7, problem: 'of another server', lastAt: 1, nextAt: installation.clock + MINUTE };
  for (const name of ['a.example', 'b.example']) installation.texts.set(`${name}.json`, JSON.stringify(attempt));
  await other.follow();
  for (const name of ['a.example', 'b.example']) expect(other.state(name)).toEqual({ status: 'failed', ...attempt });
  expect(one.state('a.example')).toMatchObject({ failures: 1 });

  installation.texts.set('old.p.example.com.pem', `${covering.key}${covering.certificate}`);
  installation.leaders.clear();
  installation.clock = Date.parse('2121-01-01');
  // Its own copy is looked at last.
  const copy = other.fileOf('old.p.example.com');
  writePrivately(copy, `${covering.key}${covering.certificate}`);
  other.look();
  await eventually(() => existsSync(copy), (is) => !is);
  expect(installation.texts.has('old.p.example.com.pem')).toBe(true);
  installation.leaders.add('one');
  installation.clock += 25 * 60 * MINUTE;
  await eventually(() => installation.texts.has('old.p.example.com.pem'), (is) => !is);
});

test('while the database is away nothing is ordered; what could not be read is read later', async () => {
  const installation = await Installation.make();
  const read = installation.read.bind(installation);
  installation.read = () => Promise.reject(new Error('it is away'));
  installation.leaders.add('one');
  const one = installation.server('one', { lookAmongOthersMs: 5 });
  one.want('a.example', 1);
  one.start();
  await one.recalled();
  expect(one.state('a.example')).toMatchObject({ status: 'pending', nextAt: null });
  expect(installation.failed).toBe(0);
  installation.read = read;
  await eventually(() => installation.failed, (count) => count === 1);
});

test('the files of a server are shared once, unless they are of no use or others have them; others get the certificates as files', async () => {
  const installation = await Installation.make();
  const { log: { logger }, keeping } = installation;
  const [own, others] = [path.join(kept, 'own'), path.join(kept, 'others')];
  const certificate = async (name: string) => {
    const { certificate: chain, key } = await makeCertificate([name]);
    return `${key}${chain}`;
  };
  const alone = new AcmeFiles({ ...keeping, dir: own }, keeping.directory, logger);
  const failed = { failures: 1, problem: 'nobody answered', lastAt: 1, nextAt: 2 };
  await alone.saveAccount({ key: 'the key', url: 'https://ca.example/account' });
  for (const name of ['a.example', 'b.example']) await alone.update(name, 0, () => ({ certificate: '' }));
  const [a, b] = [await certificate('a.example'), await certificate('b.example')];
  await alone.update('a.example', 0, () => ({ certificate: a }));
  await alone.update('b.example', 0, () => ({ certificate: b }));
  await alone.update('c.example', 0, () => ({ certificate: a, attempt: failed }));
  const there = await certificate('b.example');
  installation.texts.set('b.example.pem', there);

  const shared = { texts: () => installation, leads: () => true };
  const sharing = new AcmeFiles({ ...keeping, dir: own, shared }, keeping.directory, logger);
  await sharing.share();
  expect(Object.fromEntries(installation.texts)).toEqual({
    'account.json': JSON.stringify({ key: 'the key', url: 'https://ca.example/account' }),
    'a.example.pem': a,
    'b.example.pem': there,
    'c.example.json': JSON.stringify(failed),
  });
  // What another server has shared just now stays, too.
  const list = installation.list.bind(installation);
  installation.list = async () => [];
  await sharing.share();
  installation.list = list;
  expect(installation.texts.get('b.example.pem')).toBe(there);
  expect(await sharing.kept('b.example')).toMatchObject({ facts: { description: { names: ['b.example'] } } });
  // What is over meanwhile does not come back with the next start.
  installation.texts.delete('c.example.json');
  await new AcmeFiles({ ...keeping, dir: own, shared }, keeping.directory, logger).share();
  expect(installation.texts.has('c.example.json')).toBe(false);
  installation.texts.set('c.example.json', JSON.stringify(failed));

  const later = new AcmeFiles({ ...keeping, dir: others, shared }, keeping.directory, logger);
  await later.share();
  expect(await later.kept('c.example')).toMatchObject({ facts: undefined, attempt: failed });
  await (await later.kept('a.example')).copy();
  expect(readFileSync(later.certificateFile('a.example'), 'utf8')).toBe(a);
  // One for another name is of no use.
  installation.texts.set('d.example.pem', a);
  await (await later.kept('d.example')).copy();
  expect(existsSync(later.certificateFile('d.example'))).toBe(false);
  const copies = readdirSync(others, { recursive: true, encoding: 'utf8' }).map((file) => path.basename(file));
  expect(copies.filter((file) => file.includes('.')).filter((file) => !file.startsWith('127'))).toEqual(['a.example.pem']);

  // Copies that overlap are written in their order.
  const renewed = await certificate('a.example');
  const before = await later.kept('a.example');
  installation.texts.set('a.example.pem', renewed);
  const after = await later.kept('a.example');
  await Promise.all([after.copy(), before.copy(), after.copy()]);
  expect(readFileSync(later.certificateFile('a.example'), 'utf8')).toBe(renewed);

  // Swept by the server that orders, when they have expired and nobody needs them.
  installation.texts.set('orders.json', JSON.stringify({ begun: [], pausedUntil: 0, challenges: [] }));
  const inTwoYears = Date.now() + 2 * 365 * 86_400_000;
  await later.sweep((name) => name === 'b.example', inTwoYears, false);
  expect(readdirSync(path.dirname(later.certificateFile('a.example')))).toEqual([]);
  expect(installation.texts.has('a.example.pem')).toBe(true);
  await later.sweep((name) => name === 'b.example', inTwoYears, true);
  expect([...installation.texts.keys()].toSorted()).toEqual(['account.json', 'b.example.pem', 'orders.json']);
});
