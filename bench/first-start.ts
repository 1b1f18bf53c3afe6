import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { Child } from '../test/support/child.ts';
import { removeScratchDirectories, scratchDirectory } from '../test/support/scratch.ts';
import { median } from './report.ts';
import { cpuSeconds } from './usage.ts';

/**
 * Measures the first and the second `npm start` in a fresh clone, with a home directory of its own and an empty npm cache, and what the first one installs.
 * Measures the commits alternately; without names, the current one.
 *
 *     npm run bench:first-start -- [--rounds 3] [COMMIT ...]
 */
const { values: { rounds }, positionals } = parseArgs({ allowPositionals: true, options: { rounds: { type: 'string', default: '3' } } });
const root = path.resolve(import.meta.dirname, '..');
const anyPorts = ['http', 'bridge', 'bridge-tls', 'vhost-http', 'vhost-https'].flatMap((name) => [`--${name}-port`, '0']);

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1)); // children end with the process

interface Start {
  /** Until the server is ready. */
  readonly seconds: number;
  /** CPU time of npm, the generators, the compiler and the server, in seconds. */
  readonly cpu: number;
}

async function start(checkout: string, environment: Readonly<Record<string, string>>): Promise<Start> {
  const began = performance.now();
  const server = new Child('npm', ['--prefix', checkout, 'start', '--', ...anyPorts], environment);
  await server.says(/ is ready\./);
  const figures = { seconds: (performance.now() - began) / 1000, cpu: cpuSeconds([server.pid]) };
  server.kill('SIGTERM');
  await server.exited;
  return figures;
}

async function measure(commit: string): Promise<{ first: Start; second: Start; megabytes: number }> {
  const directory = scratchDirectory();
  const checkout = path.join(directory, 'checkout');
  const environment = { HOME: path.join(directory, 'home'), npm_config_cache: path.join(directory, 'cache') };
  mkdirSync(environment.HOME);
  const began = performance.now();
  execFileSync('git', ['clone', '--quiet', '--no-local', root, checkout]);
  execFileSync('git', ['-C', checkout, 'checkout', '--quiet', commit]);
  const cloned = (performance.now() - began) / 1000;
  const first = await start(checkout, environment);
  const megabytes = parseInt(execFileSync('du', ['-sm', path.join(checkout, 'node_modules')], { encoding: 'utf8' }), 10);
  const second = await start(checkout, environment);
  removeScratchDirectories();
  return { first: { ...first, seconds: first.seconds + cloned }, second, megabytes };
}

const commits = positionals.length > 0 ? positionals : ['HEAD'];
const hashes = commits.map((commit) => execFileSync('git', ['-C', root, 'rev-parse', '--short', commit], { encoding: 'utf8' }).trim());
const samples = new Map(hashes.map((hash) => [hash, Array.of<Awaited<ReturnType<typeof measure>>>()]));
for (let round = 0; round < Number(rounds); round++) {
  for (const hash of hashes) samples.get(hash)?.push(await measure(hash));
}
process.stdout.write(`Medians of ${rounds} rounds:\n`);
for (const [hash, all] of samples) {
  const of = (figure: (sample: (typeof all)[number]) => number): string => median(all.map(figure)).toFixed(1);
  process.stdout.write(
    `${hash}: clone to ready ${of(({ first }) => first.seconds)} s (CPU ${of(({ first }) => first.cpu)} s), ${
      of(({ megabytes }) => megabytes)
    } MB installed; second start ${of(({ second }) => second.seconds)} s (CPU ${of(({ second }) => second.cpu)} s)\n`,
  );
}
