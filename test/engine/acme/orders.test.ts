import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { afterEach, expect, jest, test } from '@jest/globals';
import pino from 'pino';
import { AcmeProblem, answerOf } from '../../../src/engine/acme/acme-problem.ts';
import { ACME_TIMING } from '../../../src/engine/acme/acme-timing.ts';
import { CertificateAuthority, type Present } from '../../../src/engine/acme/certificate-authority.ts';
import { type AcmeAttempt, AcmeFiles, certificateFile } from '../../../src/engine/acme/files.ts';
import { OrderBook } from '../../../src/engine/acme/order-book.ts';
import { Orderer } from '../../../src/engine/acme/orderer.ts';
import { type AcmeOrders, currentOrders, mayBegin, NO_ORDERS, withoutChallenge } from '../../../src/engine/acme/orders.ts';
import { AcmeDirectory, type AcmeTexts } from '../../../src/engine/acme/texts.ts';
import { dueAt, newlyWanted, renewalOf } from '../../../src/engine/acme/wanted-name.ts';
import { certificatePair } from '../../../src/rules/certificate.ts';
import { writePrivately } from '../../../src/settings/private-file.ts';
import { addressOf } from '../../../src/http/listening.ts';
import { covering } from '../../support/certificates.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { LogRecorder } from '../../support/log-recorder.ts';

const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
const silent = pino({ level: 'silent' });

const dir = temporaryDirectory();
const spies: Array<{ mockRestore(): void }> = [];
afterEach(() => {
  for (const spy of spies.splice(0)) spy.mockRestore();
});

/** What the program says of an answer of the authority; what is no problem is passed on. */
function problemOf(error: unknown): unknown {
  try {
    return answerOf(error);
  } catch (problem) {
    return problem instanceof AcmeProblem ? [problem.message, problem.reason, problem.retryAfterMs] : problem;
  }
}

test("an authority's answer is a problem with its text, its type, and the time that it asks to wait", () => {
  spies.push(jest.spyOn(Date, 'now').mockReturnValue(Date.parse('Fri, 27 Nov 2026 10:00:00 GMT')));
  const answer = (status: number, data: unknown, retryAfter?: string) =>
    Object.assign(new Error('x'), { response: { status, data, headers: { 'retry-after': retryAfter } } });
  const type = 'urn:ietf:params:acme:error:rateLimited';
  expect(problemOf(answer(429, { type, detail: 'a\n\0b' }, '120'))).toEqual(['a b', 'rateLimited', 120_000]);
  expect(problemOf(answer(400, { type: 'about:blank', detail: 'x'.repeat(600) }, 'Fri, 27 Nov 2026 10:00:05 GMT'))).toEqual(['x'.repeat(500), '', 5000]);
  expect(problemOf(answer(503, 'no JSON', 'Fri, 27 Nov 2026 09:00:00 GMT'))).toEqual(['the certificate authority answered with status 503', '', 0]);
  expect(problemOf(answer(400, {}, 'soon'))).toEqual(['the certificate authority answered with status 400', '', 0]);
  // The library handles these.
  for (const expected of [answer(399, {}), answer(400, { type: 'urn:ietf:params:acme:error:badNonce', detail: 'x' })]) {
    expect(problemOf(expected)).toBe(expected.response);
  }
  expect(problemOf(new Error('gone'))).toEqual(['the certificate authority cannot be reached: gone', '', 0]);
  expect(problemOf(Object.assign(new Error(''), { code: 'ECONNREFUSED' }))).toEqual(['the certificate authority cannot be reached: ECONNREFUSED', '', 0]);
  expect(problemOf('thrown')).toBe('thrown');
});

test('an answer of more than 1 MB is no answer', async () => {
  const server = http.createServer((_, response) => response.end('x'.repeat(1024 * 1024 + 1))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const directory = `http://127.0.0.1:${addressOf(server).port}/directory`;
  const authority = new CertificateAuthority({ directory, email: '' }, new AcmeFiles({ dir, write: writePrivately }, directory, silent));
  const ordered = authority.order('a.test', async () => undefined, new AbortController().signal);
  await expect(ordered).rejects.toThrow('the certificate authority cannot be reached: maxContentLength size of 1048576 exceeded');
  server.closeAllConnections();
  server.close();
});

test('of the orders, those of the last hour and the open challenges count, and no clock that is ahead delays others', () => {
  const now = 10 * DAY;
  const challenge = (at: number) => ({ name: 'a', token: 't', answer: 'k', at });
  const orders: AcmeOrders = {
    begun: [now - HOUR, now - HOUR + 1, now, now + DAY].map((at, clientId) => ({ at, clientId })),
    pausedUntil: now + DAY,
    challenges: [-6 * MINUTE, -6 * MINUTE + 1, 0, 6 * MINUTE - 1, 6 * MINUTE].map((away) => challenge(now + away)),
  };
  expect(currentOrders(orders, now)).toEqual({
    begun: [{ at: now - HOUR + 1, clientId: 1 }, { at: now, clientId: 2 }, { at: now, clientId: 3 }],
    pausedUntil: now + HOUR,
    challenges: [-6 * MINUTE + 1, 0, 6 * MINUTE - 1].map((away) => challenge(now + away)),
  });
  expect(currentOrders({ ...orders, pausedUntil: now + 5 }, now).pausedUntil).toBe(now + 5);
  const two = { ...orders, challenges: [{ ...challenge(1), name: 'b' }, challenge(2), challenge(3)] };
  expect(withoutChallenge(two, 'a')).toEqual({ ...orders, challenges: [{ ...challenge(1), name: 'b' }] });
});

test('a client begins no more orders than it leaves to others, and nobody does while the authority asks to wait', () => {
  const of = (...clientIds: number[]): AcmeOrders => ({ ...NO_ORDERS, begun: clientIds.map((clientId) => ({ at: 0, clientId })) });
  expect([of(1), of(1, 1), of(1, 1, 2), of(2, 2, 2, 2), of(2, 2, 2, 2, 2)].map((orders) => mayBegin(orders, 1, 0, 5))).toEqual([true, true, true, true, false]);
  expect([of(1, 1, 1), of(2, 1, 1)].map((orders) => mayBegin(orders, 1, 0, 5))).toEqual([false, true]);
  expect([9, 10].map((now) => mayBegin({ ...NO_ORDERS, pausedUntil: 10 }, 1, now, 5))).toEqual([false, true]);
});

test('attempts for a name can be requested a few times an hour, by all servers together', () => {
  const book = new OrderBook();
  const request = (now: number, others: readonly number[] = [], orders = NO_ORDERS) => book.request('a', others, orders, now, 2);
  expect([request(100), request(200), request(300)]).toEqual([{ kind: 'started' }, { kind: 'started' }, { kind: 'later', at: 100 + HOUR }]);
  expect(book.retriesOf('a')).toEqual([100, 200]);
  expect(request(100 + HOUR)).toEqual({ kind: 'started' });
  expect(book.retriesOf('a')).toEqual([200, 100 + HOUR]);
  expect(request(150 + HOUR, [10, 50 + HOUR, 60 + HOUR])).toEqual({ kind: 'later', at: 50 + 2 * HOUR });
  expect(request(201 + HOUR, [], { ...NO_ORDERS, pausedUntil: 900 + HOUR })).toEqual({ kind: 'later', at: 900 + HOUR });
  // Requests that no longer count are forgotten, also those of other names.
  expect(book.request('b', [], NO_ORDERS, 100 + 2 * HOUR, 2)).toEqual({ kind: 'started' });
  expect([book.retriesOf('a'), book.retriesOf('b')]).toEqual([undefined, [100 + 2 * HOUR]]);
});

test('when the clock is set back, delays and limits stay as long as they were', () => {
  const book = new OrderBook();
  book.useRetries('a', [1000, 2000]);
  book.begin(1000, 7);
  book.begin(2000, 8);
  book.pauseUntil(3000);
  book.clockSetBack(100);
  expect(book.retriesOf('a')).toEqual([900, 1900]);
  expect(book.orders).toEqual({ begun: [{ at: 900, clientId: 7 }, { at: 1900, clientId: 8 }], pausedUntil: 2900, challenges: [] });
  book.keepCurrent(HOUR + 1000);
  expect(book.orders).toEqual({ begun: [{ at: 1900, clientId: 8 }], pausedUntil: 2900, challenges: [] });
});

test('a certificate is renewed at two thirds of its lifetime, and an order that failed is due as it was kept, but not later than the longest delay', () => {
  const facts = { ...certificatePair(covering.certificate, covering.key), validFrom: new Date(100), validTo: new Date(400) };
  expect([renewalOf(facts, 5), renewalOf(undefined, 5)]).toEqual([300, 5]);
  const attempt = (nextAt: number) => ({ failures: 1, problem: 'x', nextAt });
  expect([dueAt(facts, undefined, 5, 50), dueAt(facts, attempt(54), 5, 50), dueAt(facts, attempt(56), 5, 50)]).toEqual([300, 54, 55]);
});

/** An authority that refuses every order. */
class Refusing extends CertificateAuthority {
  forgotten = 0;
  problem: Error = new Error('the first');

  override order(): Promise<never> {
    return Promise.reject(this.problem);
  }

  override async forgetAccount(): Promise<void> {
    this.forgotten++;
  }
}

test('after a failure a name waits, twice as long each time, as long as the authority asks; others wait if it limits them', async () => {
  spies.push(jest.spyOn(Math, 'random').mockReturnValue(0.5));
  const directory = 'https://ca.test/directory';
  const files = new AcmeFiles({ dir, write: writePrivately }, directory, silent);
  const authority = new Refusing({ directory, email: '' }, files);
  const [book, log] = [new OrderBook(), new LogRecorder()];
  const now = 1_800_000_000_000;
  const changes: string[] = [];
  const orderer = new Orderer({
    files,
    authority,
    book,
    log: log.logger,
    now: () => now,
    timing: ACME_TIMING,
    amongOthers: false,
    isStopping: () => false,
    onChange: (name) => changes.push(name),
  });
  const wanted = newlyWanted('a.test', 3);
  const failed = async (problem: Error, failures = wanted.failures) => {
    authority.problem = problem;
    wanted.failures = failures;
    expect(await orderer.place(wanted)).toBe(true);
    expect((await files.kept('a.test')).attempt).toEqual({ failures: failures + 1, problem: problem.message, lastAt: now, nextAt: wanted.nextAt });
    return [wanted.problem, wanted.failures, (wanted.nextAt ?? 0) - now];
  };
  const acme = (type: string, retryAfterMs: number) => new AcmeProblem(`it is ${type}`, `urn:ietf:params:acme:error:${type}`, retryAfterMs);
  expect(await failed(new Error('the first'))).toEqual(['the first', 1, 5.5 * MINUTE]);
  expect(await failed(new Error('the second'))).toEqual(['the second', 2, 11 * MINUTE]);
  expect(await failed(new Error('many'), 8)).toEqual(['many', 9, 256 * 5.5 * MINUTE]);
  expect(await failed(new Error('many'), 9)).toEqual(['many', 10, DAY]);
  expect(await failed(acme('x', DAY), 0)).toEqual(['it is x', 1, DAY]);
  expect(await failed(acme('x', 8 * DAY), 0)).toEqual(['it is x', 1, 7 * DAY]);
  expect([authority.forgotten, book.orders.pausedUntil]).toEqual([0, 0]);
  await failed(acme('rateLimited', 0), 0);
  expect(book.orders.pausedUntil).toBe(now + 5 * MINUTE);
  await failed(acme('rateLimited', 30 * MINUTE), 0);
  expect(book.orders.pausedUntil).toBe(now + 30 * MINUTE);
  await failed(acme('rateLimited', DAY), 0);
  expect([authority.forgotten, book.orders.pausedUntil]).toEqual([0, now + HOUR]);
  await failed(acme('accountDoesNotExist', 0), 0);
  expect(authority.forgotten).toBe(1);
  expect([changes.length, wanted.ordering, wanted.turn]).toEqual([20, false, 10]);
  // The error of a bug is logged whole.
  expect(log.entries.map(({ err }) => err !== undefined)).toEqual([true, true, true, true, false, false, false, false, false, false]);
});

/** An authority that issues certificates for *.p.example.com, and lets a test look at what is so meanwhile. */
class Issuing extends CertificateAuthority {
  asked = 0;
  during: (present: Present) => Promise<void> = async () => undefined;

  override async order(_name: string, present: Present): Promise<{ readonly key: string; readonly chain: string }> {
    this.asked++;
    await this.during(present);
    return { key: covering.key, chain: covering.certificate };
  }
}

/** Texts that servers share, in memory. */
class Memory implements AcmeTexts {
  readonly texts = new Map<string, string>();

  async read(file: string): Promise<string | undefined> {
    return this.texts.get(file);
  }

  async list(): Promise<readonly string[]> {
    return [...this.texts.keys()];
  }

  async change(files: readonly string[], change: Parameters<AcmeTexts['change']>[1]): Promise<void> {
    const now = new Map(Array.from(this.texts).filter(([file]) => files.includes(file)));
    for (const [file, text] of change(now)) {
      if (text === undefined) this.texts.delete(file);
      else this.texts.set(file, text);
    }
  }

  /** What is kept in a file. */
  get(file: string): unknown {
    return JSON.parse(this.texts.get(file) ?? 'null');
  }
}

let directories = 0;

/** Orders of one server, or of one among others. */
function ordering(texts?: AcmeTexts) {
  const directory = 'https://ca.test/directory';
  const files = new AcmeFiles(
    { dir: path.join(dir, `ordering-${++directories}`), write: writePrivately, ...texts && { shared: { texts: () => texts, leads: () => true } } },
    directory,
    silent,
  );
  const authority = new Issuing({ directory, email: '' }, files);
  const book = new OrderBook();
  const changes: string[] = [];
  const state = { now: 1_800_000_000_000, stopping: false };
  const orderer = new Orderer({
    files,
    authority,
    book,
    log: silent,
    now: () => state.now,
    timing: ACME_TIMING,
    amongOthers: texts !== undefined,
    isStopping: () => state.stopping,
    onChange: (name) => changes.push(name),
  });
  return { files, authority, book, orderer, changes, state };
}

const before: AcmeAttempt = { failures: 2, problem: 'nobody answered', lastAt: 5, nextAt: 6 };

test('an order counts as broken off until it has ended; then the certificate is kept, and nothing else', async () => {
  spies.push(jest.spyOn(Math, 'random').mockReturnValue(0));
  const { files, authority, orderer, changes, state: { now } } = ordering();
  const name = 'a.p.example.com';
  const wanted = Object.assign(newlyWanted(name, 3), before);
  const during: unknown[] = [];
  authority.during = async (present) => {
    await present('token', 'answer');
    during.push((await files.kept(name)).attempt, wanted.ordering, wanted.lastAt, [...wanted.answers], changes.length);
  };
  expect(await orderer.place(wanted)).toBe(true);
  expect(during).toEqual([
    { failures: 3, problem: 'the order was broken off', lastAt: now, nextAt: now + 4 * 5 * MINUTE },
    true,
    now,
    [['token', 'answer']],
    1,
  ]);
  const { facts, attempt } = await files.kept(name);
  expect([facts?.description.names, attempt, await files.orders()]).toEqual([['*.p.example.com'], undefined, NO_ORDERS]);
  expect(readFileSync(files.certificateFile(name), 'utf8')).toBe(`${covering.key.trim()}\n${covering.certificate.trim()}\n`);
  expect(wanted).toMatchObject({ failures: 0, problem: '', lastAt: now, nextAt: renewalOf(facts, now), ordering: false });
  expect([wanted.facts?.validTo, wanted.answers.size, changes]).toEqual([facts?.validTo, 0, [name, name]]);
  // One for another name is not kept.
  const other = newlyWanted('a.example.org', 3);
  await orderer.place(other);
  expect(other).toMatchObject({ facts: undefined, failures: 1, problem: 'the certificate is for another name' });
  expect((await files.kept('a.example.org')).facts).toBeUndefined();
});

test('an order that is ended begins again after a stop as if it had not begun, and counts as broken off if the name was removed', async () => {
  for (const stopping of [true, false]) {
    for (const failures of [0, 2]) {
      const { files, authority, orderer, state } = ordering();
      const wanted = Object.assign(newlyWanted('a.p.example.com', 3), { ...before, failures });
      authority.during = async () => {
        state.stopping = stopping;
        wanted.over.abort();
        throw new Error('it was aborted');
      };
      expect(await orderer.place(wanted)).toBe(true);
      const { attempt } = await files.kept('a.p.example.com');
      if (!stopping) expect(attempt).toMatchObject({ failures: failures + 1, problem: 'the order was broken off', lastAt: state.now });
      else expect(attempt).toEqual(failures === 0 ? undefined : before);
      // A certificate that comes too late is not kept.
      const late = newlyWanted('b.p.example.com', 3);
      authority.during = async () => late.over.abort();
      await orderer.place(late);
      expect((await files.kept('b.p.example.com')).facts).toBeUndefined();
    }
  }
});

test('servers share what an order was before, for which client it is, its challenges while it lasts, and until when the authority asks to wait', async () => {
  const memory = new Memory();
  const { authority, book, orderer, state: { now } } = ordering(memory);
  const [name, file] = ['a.p.example.com', 'a.p.example.com.json'];
  const others = { begun: [{ at: now - 1, clientId: 9 }], pausedUntil: now - 5, challenges: [{ name: 'b.example', token: 't', answer: 'k', at: now }] };
  memory.texts.set('orders.json', JSON.stringify(others));
  book.useRetries(name, [now - 7]);
  const wanted = Object.assign(newlyWanted(name, 3), { ...before, nextAt: now });
  const begun = [...others.begun, { at: now, clientId: 3 }];
  authority.during = async (present) => {
    expect(memory.get(file)).toMatchObject({ failures: 3, ordering: { failures: 2, problem: 'nobody answered' }, retries: [now - 7] });
    expect(memory.get('orders.json')).toEqual({ ...others, begun });
    await present('token', 'answer');
    expect(memory.get('orders.json')).toEqual({ ...others, begun, challenges: [...others.challenges, { name, token: 'token', answer: 'answer', at: now }] });
    throw new AcmeProblem('too many', 'urn:ietf:params:acme:error:rateLimited', 10 * MINUTE);
  };
  expect(await orderer.place(wanted)).toBe(true);
  expect(memory.get(file)).toEqual({ failures: 3, problem: 'too many', lastAt: now, nextAt: wanted.nextAt, retries: [now - 7] });
  expect(memory.get('orders.json')).toEqual({ ...others, begun, pausedUntil: now + 10 * MINUTE });

  // Another server is ordering, or has ordered, or too many have begun.
  authority.asked = 0;
  expect(await orderer.place(wanted)).toBe(false);
  expect([wanted.nextAt, wanted.ordering, authority.asked]).toEqual([undefined, false, 0]);
  expect(book.orders).toEqual({ ...others, begun, pausedUntil: now + 10 * MINUTE });
  memory.texts.set('orders.json', JSON.stringify({ ...others, begun: Array.from({ length: 60 }, () => ({ at: now, clientId: 9 })) }));
  expect(await orderer.place(newlyWanted('c.p.example.com', 3))).toBe(false);
  expect([authority.asked, memory.texts.has('c.p.example.com.json')]).toEqual([0, false]);
  memory.texts.set('orders.json', JSON.stringify(others));
  authority.during = async (present) => present('token', 'answer');
  expect(await orderer.place(newlyWanted('c.p.example.com', 3))).toBe(true);
  expect([authority.asked, memory.texts.has('c.p.example.com.json'), memory.get('orders.json')]).toEqual([1, false, { ...others, begun }]);
});

test('files of ACME are where they were, each authority has its own; one that cannot be read counts as missing, a directory that cannot be read is an error', async () => {
  const own = path.join(dir, 'texts');
  const log = new LogRecorder();
  const texts = new AcmeDirectory({ dir: own, write: writePrivately }, log.logger);
  expect([await texts.list(), await texts.read('a.pem'), log.entries]).toEqual([[], undefined, []]);
  await texts.change([], () => new Map([['a.pem', 'a'], ['b.pem', 'b']]));
  mkdirSync(path.join(own, 'c.pem'));
  let seen = new Map<string, string>();
  await texts.change(['a.pem', 'c.pem', 'd.pem'], (now) => {
    seen = new Map(now);
    return new Map([['a.pem', undefined], ['d.pem', undefined]]);
  });
  expect([[...seen], (await texts.list()).toSorted()]).toEqual([[['a.pem', 'a']], ['b.pem', 'c.pem']]);
  expect(log.entries).toEqual([expect.objectContaining({ level: 50, file: 'c.pem' })]);
  writeFileSync(path.join(dir, 'a file'), '');
  await expect(new AcmeDirectory({ dir: path.join(dir, 'a file'), write: writePrivately }, silent).list()).rejects.toMatchObject({ code: 'ENOTDIR' });

  const at = (directory: string) => certificateFile({ dir: '/acme' }, directory, 'a.example');
  expect(at('https://ca.example/directory')).toBe('/acme/ca.example-0d5eb258/a.example.pem');
  expect(at('https://ca.example/staging')).not.toBe(at('https://ca.example/directory'));
  const files = new AcmeFiles({ dir: '/acme', write: writePrivately }, 'https://ca.example/directory', silent);
  expect(files.certificateFile('a.example')).toBe(at('https://ca.example/directory'));
});

test('certificates that have expired are not shared with other servers', async () => {
  const memory = new Memory();
  const { files } = ordering(memory);
  writePrivately(files.certificateFile('a.p.example.com'), `${covering.key}${covering.certificate}`);
  writePrivately(files.certificateFile('b.p.example.com'), 'no certificate');
  const year = 365 * DAY;
  spies.push(jest.spyOn(Date, 'now').mockReturnValue(Date.parse('2120-01-01') + year));
  await files.share();
  expect([...memory.texts.keys()]).toEqual([]);
  spies.pop()?.mockRestore();
  await files.share();
  expect([...memory.texts.keys()]).toEqual(['a.p.example.com.pem']);
});
