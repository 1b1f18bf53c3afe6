import { existsSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { Acme, type AcmeOptions } from '../../../src/engine/acme/acme.ts';
import { AcmeFiles } from '../../../src/engine/acme/files.ts';
import { writePrivately } from '../../../src/settings/private-file.ts';
import { covering } from '../../support/certificates.ts';
import { eventually } from '../../support/eventually.ts';
import { freePortRange } from '../../support/free-port.ts';
import { LogRecorder } from '../../support/log-recorder.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const YEAR = 365 * 86_400_000;
const MINUTE = 60_000;
const kept = temporaryDirectory();
const listening = new Set<net.Server>();
const connections: net.Socket[] = [];
afterEach(() => {
  for (const socket of connections.splice(0)) socket.destroy();
  for (const server of listening) server.close();
});

test('a clock that was a year ahead and is set right delays orders no longer than usual', async () => {
  let clock = Date.now() + YEAR;
  const directory = `https://127.0.0.1:${await freePortRange(1)}/directory`; // nobody listens
  const options = { directory, email: '', dir: path.join(kept, 'acme'), write: writePrivately, timing: { lookMs: 5, perHour: 1 } };
  const acme = new Acme(options, new LogRecorder().logger, () => clock);
  const state = () => acme.state('a.example');
  const failed = (times: number) => eventually(state, (now) => now?.failures === times && now.nextAt !== null);
  acme.want('a.example', 1);
  acme.start();
  await failed(1);
  expect(state()?.nextAt).toBeGreaterThan(clock + 4 * MINUTE);

  clock -= YEAR;
  await eventually(state, (now) => Number(now?.nextAt) < clock + 7 * MINUTE);
  expect(state()).toMatchObject({ status: 'failed', failures: 1 });
  clock += 61 * MINUTE; // the order of the wrong time counts for an hour, too
  await failed(2);
  expect([await acme.retry('unknown.example'), acme.state('unknown.example')]).toEqual([{ kind: 'notFailed' }, undefined]);
  for (let retry = 0; retry < 3; retry++) {
    clock += 61 * MINUTE;
    expect(await acme.retry('a.example')).toEqual({ kind: 'started' });
    await failed(3 + retry);
  }
  await acme.stop();
});

test('names that never failed are ordered first, then those with fewer failures, then those that have waited longer; as many at once as the limit says', async () => {
  const clock = Date.now();
  const options: AcmeOptions = {
    directory: `https://127.0.0.1:${await freePortRange(1)}/directory`, // nobody listens
    email: '',
    dir: path.join(kept, 'order'),
    write: writePrivately,
    timing: { atOnce: 1 },
  };
  const log = new LogRecorder();
  const files = new AcmeFiles(options, options.directory, log.logger);
  for (const [name, failures, ago] of [['a.example', 2, 100], ['b.example', 1, 1], ['c.example', 1, 50], ['e.example', 1, -1000]] as const) {
    await files.update(name, clock, () => ({ attempt: { failures, problem: 'x', nextAt: clock - ago } }));
  }
  const acme = new Acme(options, log.logger, () => clock);
  for (const [index, name] of ['a', 'b', 'c', 'd', 'e'].entries()) acme.want(`${name}.example`, index);
  await eventually(() => ['a', 'b', 'c', 'd', 'e'].map((name) => acme.state(`${name}.example`)?.nextAt ?? null), (times) => !times.includes(null));
  acme.start();
  const ordered = () => log.entries.filter(({ msg }) => msg.startsWith('no ACME')).map(({ name }) => name);
  await eventually(ordered, (names) => names.length === 4);
  expect(ordered()).toEqual(['d.example', 'c.example', 'b.example', 'a.example']);
  await acme.stop();

  const silent = net.createServer((socket) => connections.push(socket)).listen(0, '127.0.0.1');
  listening.add(silent);
  await new Promise((resolve) => silent.once('listening', resolve));
  const address = silent.address();
  const directory = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/directory`;
  const many = new Acme({ ...options, directory, timing: {} }, log.logger, () => clock);
  for (let name = 0; name < 6; name++) many.want(`${name}.example`, name);
  many.start();
  const pending = () =>
    Array.from({ length: 6 }, (_, name) => many.state(`${name}.example`)).filter((state) => state?.nextAt === null && state.lastAt !== null);
  await eventually(pending, (states) => states.length === 4 && connections.length > 0);
  expect(await many.retry('0.example')).toEqual({ kind: 'started' });
  many.unwant('0.example');
  expect(many.state('0.example')).toBeUndefined();
  // It does not wait for the authority, whose responses have 20 s.
  const began = performance.now();
  await many.stop();
  expect(performance.now() - began).toBeLessThan(15_000);
});

test('once a day, certificates that have expired and that nobody needs are deleted', async () => {
  let clock = Date.parse('2121-01-01');
  const options = { directory: `https://127.0.0.1:${await freePortRange(1)}/directory`, email: '', dir: path.join(kept, 'swept'), write: writePrivately };
  const files = new AcmeFiles(options, options.directory, new LogRecorder().logger);
  const put = (name: string) => files.update(`${name}.p.example.com`, 0, () => ({ certificate: `${covering.key}${covering.certificate}` }));
  const exists = (name: string) => existsSync(files.certificateFile(`${name}.p.example.com`));
  await put('a');
  await put('b');
  const acme = new Acme(options, new LogRecorder().logger, () => clock);
  acme.want('b.p.example.com', 1);
  acme.start();
  await eventually(() => exists('a'), (is) => !is);
  await put('c');
  clock += 24 * 60 * MINUTE - 1;
  acme.look();
  await put('d');
  clock += 1;
  acme.look();
  await eventually(() => exists('d') || exists('c'), (is) => !is);
  expect(exists('b')).toBe(true);
  await acme.stop();
});

test('an order begins when it is due, and not when the clock is looked at the next time', async () => {
  const directory = `https://127.0.0.1:${await freePortRange(1)}/directory`; // nobody listens
  const timing = { lookMs: 3_600_000, backoffMs: 20 };
  const acme = new Acme({ directory, email: '', dir: path.join(kept, 'due'), write: writePrivately, timing }, new LogRecorder().logger, Date.now);
  acme.want('a.example', 1);
  acme.start();
  const state = await eventually(() => acme.state('a.example'), (now) => now?.failures === 3);
  expect(state?.problem).toMatch(/cannot be reached/);
  await acme.stop();
});
