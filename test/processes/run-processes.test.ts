import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { buildSync } from 'esbuild';
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
  return { port, log, ended, notes, written: () => written, pidOf, stop };
}

/** Which process answers. */
async function answerOf(port: number): Promise<string> {
  const socket = await visit(port);
  const answer = String(await readAll(socket));
  socket.destroy();
  return answer;
}

test('the first process starts alone, then the others; they share a port, have others alone, and one that ends is started again, until all are to end', async () => {
  const { port, log, ended, notes, written, pidOf, stop } = await start({ NOTIFY_SOCKET: '/nowhere/notify', WATCHDOG_USEC: '60000000' });
  await eventually(written, (text) => text.includes('line of 2'));
  expect(written()).toMatch(/^text of 1\nline of 1: \d+\nline of 2: \d+\n$/);
  const seen = notes();
  const starts = (number: number) => expect.stringMatching(new RegExp(`^${number} starts as \\d+ with {"notify":"","watchdog":"60000000"} $`));
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
  process.emit('SIGHUP', 'SIGHUP');
  await eventually(notes, (all) => ['1 is to reload', '2 is to reload'].every((note) => all.includes(note)));

  const restarts: unknown[] = [];
  for (let times = 0; times < 2; times++) {
    const pid = pidOf(2);
    const again = log.next(/^a server process has ended: it is started again$/);
    process.kill(pid, 'SIGKILL');
    const { process: number, how, restartMs } = await again;
    restarts.push([number, how, restartMs]);
    // What it had is the other one's.
    await eventually(owns, ([first]) => first === true);
    expect(await answerOf(port)).toBe('1');
    if (times === 0) await eventually(() => pidOf(2), (now) => now !== pid);
  }
  expect(restarts).toEqual([[2, 'SIGKILL', 1000], [2, 'SIGKILL', 2000]]);
  expect(notes().filter((note) => note === '2 is ready')).toHaveLength(2);
  expect(notes().filter((note) => note.startsWith('2 has udp')).at(-1)).toBe('2 has udp: false');
  stop();
  expect(await ended).toBe(0);
  expect(notes().at(-1)).toBe('1 stops');
  expect(await refusal(port)).toBe('ECONNREFUSED');
  expect(log.entries.filter(({ msg }) => /orderly/.test(msg))).toEqual([]);
});

test.each([[1, []], [2, ['1 stops']]])('if process %p cannot start, all end with its exit code', async (number, others) => {
  const { log, ended, notes, written } = await start({ FAIL: String(number), WATCHDOG_USEC: '3000' });
  expect(await ended).toBe(3);
  expect(log.entries).toEqual([
    expect.objectContaining({ level: 50, process: number, how: 'exit code 3', msg: 'a server process could not start: all of them end' }),
  ]);
  expect(notes().filter((note) => note.includes('stops'))).toEqual(others);
  expect(notes().filter((note) => note.includes('starts'))).toHaveLength(number);
  expect(written()).toBe('');
});

test('a process whose event loop is stuck is killed; one that does not end as it should determines the exit code', async () => {
  const { log, ended, pidOf, stop } = await start({ STUCK: '2', WATCHDOG_USEC: '2000000' });
  expect(await log.line(/^a server process does not respond$/)).toMatchObject({ process: 2 });
  expect(await log.line(/^a server process has ended/)).toMatchObject({ process: 2, how: 'SIGKILL' });
  process.kill(pidOf(1), 'SIGSTOP');
  stop();
  process.kill(pidOf(1), 'SIGKILL');
  expect(await ended).toBe(1);
  expect(log.entries.at(-1)).toMatchObject({ process: 1, how: 'SIGKILL', msg: 'a server process was not stopped in an orderly way' });
});
