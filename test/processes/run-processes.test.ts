import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { buildSync } from 'esbuild';
import { ownProcess } from '../../src/processes/own-process.ts';
import { runProcesses } from '../../src/processes/run-processes.ts';
import { eventually } from '../support/eventually.ts';
import { freePortRange } from '../support/free-port.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { childrenOf } from '../support/process-group.ts';
import { readAll, refusal, visit } from '../support/target.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory();
const program = path.join(directory, 'own-server.mjs');
const signals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;
const undo: Array<() => void> = [];
let files = 0;

beforeAll(() => {
  const source = new URL('./own-server.ts', import.meta.url);
  buildSync({ entryPoints: [fileURLToPath(source)], outfile: program, bundle: true, platform: 'node', format: 'esm', target: 'node20' });
});
afterEach(() => {
  for (const each of undo.splice(0).toReversed()) each();
});

/** Runs two processes of {@link program}. @param environment what they do */
async function start(environment: Readonly<Record<string, string>> = {}) {
  const file = path.join(directory, String(++files));
  // A port of both, two that the processes have by themselves, and one more.
  const port = await freePortRange(4);
  const before = { argv: process.argv, listeners: signals.map((signal) => process.listeners(signal)) };
  process.argv = [process.execPath, program, file, String(port), String(port + 2)];
  Object.assign(process.env, environment);
  undo.push(() => {
    process.argv = before.argv;
    for (const name of Object.keys(environment)) delete process.env[name];
    // They stay in a program, which ends.
    for (const [index, signal] of signals.entries()) {
      for (const listener of process.listeners(signal)) if (!before.listeners[index]?.includes(listener)) process.off(signal, listener);
    }
  });
  let written = '';
  const output = jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
    written += String(text);
    return true;
  });
  undo.push(() => output.mockRestore());
  const log = new LogRecorder();
  const ended = runProcesses(
    { processes: 2, databaseUrl: 'postgresql://127.0.0.1/adit', nodeLinks: 'tls', linkPort: port + 1, processHttpPort: '' },
    log.logger,
  );
  const notes = () => existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  let stopped = false;
  const stop = () => {
    if (!stopped) process.emit('SIGTERM', 'SIGTERM');
    stopped = true;
  };
  // If a test fails.
  undo.push(() => {
    const own = new Set(notes().map((note) => Number(/ starts as (\d+)/.exec(note)?.[1])));
    const left = childrenOf(process.pid).filter((pid) => own.has(pid));
    if (left.length > 0) stop();
    for (const pid of left) process.kill(pid, 'SIGKILL');
  });
  const pidOf = (number: number) => Number([...written.matchAll(/^line of (\d): (\d+)$/gm)].findLast(([, of]) => of === String(number))?.[2]);
  return { file, port, log, ended, notes, written: () => written, pidOf, stop };
}

/** Which process answers. */
async function answerOf(port: number): Promise<string> {
  const socket = await visit(port);
  const answer = String(await readAll(socket));
  socket.destroy();
  return answer;
}

test('the first process starts alone, then the others; they share a port, have others alone, and one that is stuck, or ends, is started again, until all are to end', async () => {
  const timers = jest.spyOn(globalThis, 'setInterval');
  undo.push(() => timers.mockRestore());
  const { PATH } = process.env;
  undo.push(() => void Object.assign(process.env, { PATH }));
  const systemd = { NOTIFY_SOCKET: '/nowhere/notify', WATCHDOG_USEC: '6000000', PATH: `${directory}:${PATH}` };
  const { file, port, log, ended, notes, written, pidOf, stop } = await start({ ...systemd, STUCK: '2' });
  const calls = path.join(directory, 'calls');
  writeFileSync(path.join(directory, 'systemd-notify'), `#!/bin/sh\necho "$1 when $(grep -c 'is ready' ${file}) are" >>${calls}\n`, { mode: 0o755 });
  await eventually(written, (text) => text.includes('line of 2'));
  expect((await eventually(() => existsSync(calls) ? readFileSync(calls, 'utf8') : '', Boolean)).split('\n')[0]).toBe('--ready when 2 are');
  expect(written()).toMatch(/^text of 1\nline of 1: \d+\nline of 2: \d+\n$/);
  const seen = notes();
  const starts = (number: number) => expect.stringMatching(new RegExp(`^${number} starts as \\d+ with {"notify":"","watchdog":"6000000"} $`));
  expect(seen.slice(0, 4)).toEqual([
    starts(1),
    `1 listen EADDRINUSE: 127.0.0.1:${port + 2}`,
    expect.stringMatching(/^1 has udp: /),
    '1 is ready',
  ]);
  expect(seen).toEqual(expect.arrayContaining([starts(2), '2 is ready']));
  expect(await answerOf(port)).toMatch(/^[12]$/);
  const owns = () => [1, 2].map((number) => notes().some((note) => note === `${number} gets udp` || note === `${number} has udp: true`));
  expect(await eventually(owns, ([first, second]) => first !== second)).toHaveLength(2);

  const pid = pidOf(2);
  expect(await log.line(/^a server process does not respond$/)).toMatchObject({ process: 2 });
  const restarts = [await log.line(/^a server process has ended: it is started again$/)];
  // What it had is the other one's.
  await eventually(owns, ([first]) => first === true);
  expect(await answerOf(port)).toBe('1');
  await eventually(notes, (all) => all.filter((note) => note.startsWith('2 starts')).length === 2);
  // That it was silent before its end is not held against it.
  for (const [look, ms] of timers.mock.calls) if (ms === 2000) look();
  expect(log.entries.filter(({ msg }) => msg === 'a server process does not respond')).toHaveLength(1);
  await eventually(() => pidOf(2), (now) => now !== pid);
  process.emit('SIGHUP', 'SIGHUP');
  await eventually(notes, (all) => ['1 is to reload', '2 is to reload'].every((note) => all.includes(note)));
  const again = log.next(/^a server process has ended: it is started again$/);
  process.kill(pidOf(2), 'SIGKILL');
  restarts.push(await again);
  expect(restarts.map(({ process: number, how, restartMs }) => [number, how, restartMs])).toEqual([[2, 'SIGKILL', 1000], [2, 'SIGKILL', 2000]]);
  expect(notes().filter((note) => note === '2 is ready')).toHaveLength(2);
  expect(notes().filter((note) => note.startsWith('2 has udp')).at(-1)).toBe('2 has udp: false');
  stop();
  expect(await ended).toBe(0);
  expect(notes().at(-1)).toBe('1 stops');
  expect(await refusal(port)).toBe('ECONNREFUSED');
  expect(log.entries.filter(({ msg }) => /orderly/.test(msg))).toEqual([]);
});

test('at a stop, a process that has ended is not started again, and one that is killed makes the exit code that of a failure', async () => {
  const [begun, cleared] = [jest.spyOn(globalThis, 'setTimeout'), jest.spyOn(globalThis, 'clearTimeout')];
  undo.push(() => begun.mockRestore(), () => cleared.mockRestore());
  const { log, ended, written, pidOf, stop } = await start({ DIE: '1' });
  await eventually(written, (text) => text.includes('line of 2'));
  process.kill(pidOf(2), 'SIGKILL');
  await log.line(/^a server process has ended: it is started again$/);
  const restarts = begun.mock.results.filter((_, at) => begun.mock.calls[at]?.[1] === 1000).map(({ value }) => value);
  expect(restarts).toHaveLength(1);
  stop();
  expect(await ended).toBe(1);
  expect(cleared.mock.calls.map(([timer]) => timer)).toEqual(expect.arrayContaining(restarts));
  expect(log.entries.at(-1)).toMatchObject({ level: 50, process: 1, how: 'SIGKILL', msg: 'a server process was not stopped in an orderly way' });
});

test('a process that keeps ending is started again after up to 30 s, and after 1 s if it has run for a minute', async () => {
  const { log, ended, written, pidOf, stop } = await start({ END: '2' });
  await eventually(written, (text) => text.includes('line of 2'));
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'setInterval', 'clearInterval', 'performance'] });
  undo.push(() => void jest.useRealTimers());
  const now = performance.now.bind(performance);
  let minutes = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + 60_000 * minutes);
  undo.push(() => clock.mockRestore());
  process.kill(pidOf(2), 'SIGKILL');
  const waits: unknown[] = [];
  for (let seen = 0; waits.length < 9; seen = log.entries.length) {
    waits.push((await log.line(/^a server process has ended: it is started again$/, seen))['restartMs']);
    jest.advanceTimersByTime(3_600_000);
    if (waits.length === 7) minutes++;
  }
  expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 1000, 2000]);
  jest.useRealTimers();
  stop();
  await ended;
});

test('if a process cannot start, all end with its exit code', async () => {
  const { log, ended, notes, written } = await start({ FAIL: '2', WATCHDOG_USEC: '3000' });
  expect(await ended).toBe(3);
  expect(log.entries).toEqual([
    expect.objectContaining({ level: 50, process: 2, how: 'exit code 3', msg: 'a server process could not start: all of them end' }),
  ]);
  expect(notes().filter((note) => note.includes('stops'))).toEqual(['1 stops']);
  expect(written()).toBe('');
});

test('several processes need a database that they can share, and links over TLS', async () => {
  const settings = { processes: 2, databaseUrl: 'postgresql://127.0.0.1/adit', nodeLinks: 'tls', linkPort: 0, processHttpPort: '' } as const;
  const refused = async (changed: Partial<Parameters<typeof runProcesses>[0]>) => runProcesses({ ...settings, ...changed }, new LogRecorder().logger);
  await expect(refused({ databaseUrl: '' })).rejects.toThrow(/^processes: 2 processes need a PostgreSQL database/);
  await expect(refused({ nodeLinks: 'plain' })).rejects.toThrow(/^node_links: .* set node_links to tls, or processes to 1$/);
});

test.each([{}, { NUMBER_OF_ADIT_PROCESS: '0' }])('a server that another program has started with a channel is none of several: %j', (environment) => {
  const { send } = process;
  undo.push(() => void Object.assign(process, { send }));
  process.send = () => true;
  expect(ownProcess(environment)).toBeUndefined();
});

test('a server process heeds no signals, and ends at once with the one that has started it', async () => {
  const file = path.join(directory, 'alone');
  const child = fork(program, [file, '0', '0'], {
    env: { ...process.env, NUMBER_OF_ADIT_PROCESS: '1' },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  if (!child.stderr) throw new Error('it is read');
  let errors = '';
  child.stderr.on('data', (text) => (errors += String(text)));
  const over = Promise.all([once(child, 'exit'), once(child.stderr, 'end')]);
  // It asks for its first port.
  await once(child, 'message');
  for (const signal of ['SIGINT', 'SIGTERM'] as const) child.kill(signal);
  child.disconnect();
  const [exited] = await over;
  expect([exited, errors]).toEqual([[1, null], '']);
});
