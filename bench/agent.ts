import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Child } from '../test/support/child.ts';
import { residentBytes } from '../test/support/observe.ts';
import { openTunnel, startServer, write } from '../test/support/processes.ts';
import { removeScratchDirectories, scratchDirectory } from '../test/support/scratch.ts';
import { median } from './report.ts';
import { childSeconds, cpuSeconds } from './usage.ts';

/**
 * Measures an agent's start and what it takes at rest, beside an empty program of Node: from the checkout, as the single file, and as the executable if
 * `npm run release` has made it; with the self-test of the sockets, which the first start after a boot does, and without. The programs start in rotation, so that other programs on the machine disturb all of them alike.
 *
 *     npm run bench:agent -- [--rounds 5] [--seconds 2] [--node NODE] [--against DIR]
 *
 * `--node` runs the agents with another Node, `--against` adds the single file of another prepared checkout.
 */
const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    node: { type: 'string', default: process.execPath },
    against: { type: 'string', multiple: true, default: [] },
  },
});
const root = path.resolve(import.meta.dirname, '..');
const MB = 1024 * 1024;
const KEY = 'the key of the agent';
const EMPTY = 'empty program of Node';

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1)); // children end with the process

const echo = net.createServer((socket) => socket.pipe(socket)).listen(0, '127.0.0.1');
await once(echo, 'listening');
const server = await startServer();
const client = await write(server, '/client/add/', { vkey: KEY });
const address = echo.address();
if (typeof address !== 'object' || address === null) throw new Error('the echo server has no port');
const { port } = await openTunnel(server, client, `127.0.0.1:${address.port}`);

/** Where agents remember their self-tests: here, nothing is kept. */
const fresh = scratchDirectory();
const inAgent = ['agent', '--server', `127.0.0.1:${server.bridgePort}`];
const programs: ReadonlyMap<string, readonly string[]> = new Map([
  [EMPTY, [options.node, '-e', 'process.stderr.write("connected to nothing"); setInterval(() => 0, 1e6)']],
  ['checkout', [options.node, path.join(root, 'dist/main.js'), ...inAgent]],
  ['adit-agent.mjs', [options.node, path.join(root, 'dist/agent/adit-agent.mjs'), ...inAgent]],
  ...options.against.map((
    other,
  ): [string, readonly string[]] => [`adit-agent.mjs of ${other}`, [options.node, path.join(other, 'dist/agent/adit-agent.mjs'), ...inAgent]]),
  ...[`release/adit-agent-linux-${process.arch}`].filter((name) => existsSync(path.join(root, name)))
    .map((name): [string, readonly string[]] => [path.basename(name), [path.join(root, name), ...inAgent]]),
]);
/** Here it is kept, for each program, since they may contain different versions of Node. */
const kept = new Map(Array.from(programs.keys(), (name) => [name, scratchDirectory()]));
const figures = new Map<string, Figures[]>();
for (let round = 0; round <= Number(options.rounds); round++) {
  for (const [name, command] of programs) {
    for (const directory of [kept.get(name) ?? '', ...name === EMPTY ? [] : [fresh]]) {
      const figure = await measure(command, { ADIT_RUNTIME_DIR: directory });
      rmSync(path.join(fresh, 'sockets-captured'), { force: true });
      if (round === 0) continue; // the first start of a program reads it from the disk, and does the self-test
      const row = directory === fresh ? `${name}, with its self-test` : name;
      figures.set(row, [...figures.get(row) ?? [], figure]);
    }
  }
}
process.stdout.write(
  `${'median (min - max)'.padEnd(46)}${['ready, ms', 'CPU, ms', 'self-test, ms', 'RSS, MB', 'not of files, MB'].map((word) => word.padStart(22)).join('')}\n`,
);
for (const [name, all] of figures) {
  const column = (key: keyof Figures): string => {
    const values = all.map((figure) => figure[key]);
    return `${median(values).toFixed(0)} (${Math.min(...values).toFixed(0)} - ${Math.max(...values).toFixed(0)})`.padStart(22);
  };
  process.stdout.write(`${name.padEnd(46)}${(['ready', 'cpu', 'children', 'resident', 'anonymous'] as const).map(column).join('')}\n`);
}
echo.close();
await server.child.end();
removeScratchDirectories();
process.exit();

interface Figures {
  /** From the start of the process until a visitor's byte comes back through its tunnel, in ms. */
  readonly ready: number;
  /** CPU time until then, in ms, and that of its child processes. */
  readonly cpu: number;
  readonly children: number;
  /** At rest, in MB. */
  readonly resident: number;
  /** The part of it that is not pages of a file. */
  readonly anonymous: number;
}

/** Starts a program twice: the second one has no visitors and is at rest. */
async function measure([program = '', ...args]: readonly string[], environment: Readonly<Record<string, string>>): Promise<Figures> {
  const start = (): Child => new Child(program, args, { ...environment, ADIT_VKEY: KEY, MALLOC_ARENA_MAX: '2' });
  const began = performance.now();
  const first = start();
  await first.says(/connected to/);
  if (args.includes('agent')) await echoed();
  const ready = performance.now() - began;
  const all = cpuSeconds([first.pid]) * 1000;
  const children = childSeconds(first.pid) * 1000;
  await first.end();
  const second = start();
  await second.says(/connected to/);
  await wait(Number(options.seconds) * 1000);
  const resident = residentBytes(second) / MB;
  const anonymous = Number(/^RssAnon:\s+(\d+) kB/m.exec(readFileSync(`/proc/${second.pid}/status`, 'utf8'))?.[1]) / 1024;
  await second.end();
  return { ready, cpu: all - children, children, resident, anonymous };
}

/** Resolves when a visitor of the tunnel has its byte back. */
async function echoed(): Promise<void> {
  for (;;) {
    const socket = net.connect(port, '127.0.0.1', () => socket.write('x'));
    const came = await Promise.race([once(socket, 'data').then(() => true, () => false), once(socket, 'close').then(() => false, () => false)]);
    socket.destroy();
    if (came) return;
  }
}
