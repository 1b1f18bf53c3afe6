import { loadavg } from 'node:os';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { type Child, endChildren } from '../test/support/child.ts';
import { memoryGrowth } from '../test/support/memory-growth.ts';
import { NatRig, type NatType } from '../test/support/nat-rig.ts';
import { hashOf } from '../test/support/payload.ts';
import { cpuSeconds } from './usage.ts';

/**
 * Measures what a p2p tunnel carries on a direct path and through the server, and what that costs: visitor and agent behind a NAT each, made
 * of network namespaces (test/support/nat-rig), so it needs root on Linux, iproute2, nftables, conntrack and curl. The hashes are checked.
 *
 *     npm run bench:p2p -- [--megabytes 256] [--rounds 3]
 */

const { values: options } = parseArgs({ options: { megabytes: { type: 'string', default: '256' }, rounds: { type: 'string', default: '3' } } });
const MB = 1024 * 1024;
/** Of the payload that peer.ts sends. */
const SEED = 7;
const bytes = Number(options.megabytes) * MB;

/** The NATs of visitor and agent that lead to each path, and whether UDX is there. */
const ways: Readonly<Record<string, readonly [NatType, NatType, boolean]>> = {
  'direct, UDP': ['port', 'port', true],
  'direct, TCP': ['port', 'port', false],
  'through the server': ['sym', 'sym', true],
};

/** What one transfer cost. */
interface Figures {
  readonly rate: number;
  /** CPU s/GB of visitor, agent and server. */
  readonly cpu: readonly number[];
  /** MB that visitor, agent and server grew by. */
  readonly grown: readonly number[];
}

/** What every transfer has to bring: all send the same. */
const expected = `${bytes} ${hashOf(bytes, SEED)}`;

const rig = await NatRig.up();
try {
  print(`${options.megabytes} MB each way, ${options.rounds} rounds; Node ${process.versions.node}; load of the machine before: ${load()}`);
  for (const [name, [visitorNat, agentNat, udx]] of Object.entries(ways)) {
    await rig.nats(visitorNat, agentNat);
    const agent = await rig.agent();
    const { child, port } = await rig.visitor(udx);
    await child.says(visitorNat === 'sym' ? /no direct path/ : /direct path to/);
    const rounds: Figures[] = [];
    for (let round = 0; round < Number(options.rounds); round++) {
      for (const what of ['download', 'upload'] as const) rounds.push(await measured(port, what, [child, agent, rig.server]));
    }
    if (/direct path lost/.test(child.output)) throw new Error(`the path was lost:\n${child.output}`);
    report(name, rounds);
    await Promise.all([child.end(), agent.end()]);
  }
  print(`load of the machine after: ${load()}`);
} finally {
  await endChildren();
  await rig.down();
}

async function measured(port: number, what: 'download' | 'upload', programs: readonly Child[]): Promise<Figures> {
  const before = programs.map(({ pid }) => cpuSeconds([pid]));
  const start = performance.now();
  const grown = await memoryGrowth(programs, async () => {
    const outcome = await (await rig.use(port, what, bytes)).outcome();
    if (outcome !== expected) throw new Error(`something else arrived: ${outcome}`);
  });
  const seconds = (performance.now() - start) / 1000;
  const cpu = programs.map(({ pid }, index) => (cpuSeconds([pid]) - (before[index] ?? 0)) / (bytes / 1e9));
  return { rate: bytes / MB / seconds, cpu, grown: grown.map((each) => each / MB) };
}

function report(name: string, rounds: readonly Figures[]): void {
  const rates = rounds.map(({ rate }) => rate);
  const each = (pick: (figures: Figures) => readonly number[], digits: number) =>
    ['visitor', 'agent', 'server']
      .map((program, index) => `${program} ${median(rounds.map((figures) => pick(figures)[index] ?? Number.NaN)).toFixed(digits)}`).join(', ');
  print(
    `  ${name.padEnd(20)} ${median(rates).toFixed(0)} MB/s (${Math.min(...rates).toFixed(0)} - ${Math.max(...rates).toFixed(0)}); CPU s/GB: ${
      each(({ cpu }) => cpu, 1)
    }; MB grown: ${each(({ grown }) => grown, 0)}`,
  );
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  return ((sorted[Math.floor((sorted.length - 1) / 2)] ?? Number.NaN) + (sorted[Math.ceil((sorted.length - 1) / 2)] ?? Number.NaN)) / 2;
}

function load(): string {
  return loadavg().map((average) => average.toFixed(2)).join(' ');
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
