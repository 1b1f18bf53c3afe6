import process from 'node:process';
import { parseArgs } from 'node:util';
import { endChildren } from '../test/support/child.ts';
import { findProgram } from '../test/support/find-program.ts';
import { Quiet } from './quiet.ts';
import type { Measured } from './report.ts';
import { Results } from './results.ts';
import { adit, aditOf, aditVariants } from './sides/adit.ts';
import { direct } from './sides/direct.ts';
import { frp } from './sides/frp.ts';
import { haproxy } from './sides/haproxy.ts';
import { nginx } from './sides/nginx.ts';
import { nodes, plainNodes } from './sides/nodes.ts';
import { nps } from './sides/nps.ts';
import { openssh } from './sides/openssh.ts';
import { processes } from './sides/processes.ts';
import type { RunningSide, Side } from './sides/side.ts';
import { startTargets } from './targets.ts';
import { bulk, bulkEight, hostBulk, tlsBulk } from './works/bulk.ts';
import { fairness } from './works/fairness.ts';
import { hostConnections, hostKeepAlive, http2HostRequests, keepAlive, newConnections, secureHostKeepAlive } from './works/http.ts';
import { idle } from './works/idle.ts';
import { throughNodes } from './works/nodes.ts';
import { twoProcesses } from './works/processes.ts';
import { udp, udpLarger, udpRoundTrip } from './works/udp.ts';
import { besideTcp } from './works/ways.ts';
import type { Sample, Work } from './works/work.ts';

/**
 * Compares Adit with other programs on this machine: every work on every side one after another, round after round; prints medians and ratios with
 * the goals of docs/performance.md, and writes all figures to a file.
 *
 *     npm run bench -- [--rounds 3] [--seconds 5] [--wait 60] [--only http,connections] [--sides Adit,haproxy] [--against DIR] [--out FILE]
 *
 * --only: works; left out = all. --sides: left out = all of `sides`.
 * --against: another compiled checkout of Adit, as a further side; may be given more than once, and the first has goals.
 * --wait: the total time, in seconds, to wait while other programs are busy, and to measure again when they were. `--patience` is its former name.
 */

const works: readonly Work[] = [
  keepAlive,
  newConnections,
  bulk,
  bulkEight,
  hostKeepAlive,
  secureHostKeepAlive,
  hostConnections,
  http2HostRequests,
  hostBulk,
  fairness,
  udp,
  udpLarger,
  udpRoundTrip,
  ...besideTcp,
  tlsBulk,
  ...throughNodes,
  twoProcesses,
  idle,
];
/** The first one that is asked for is compared with the others. */
const sides: readonly Side[] = [adit, nginx, haproxy, frp, nps, direct, nodes, plainNodes, processes];
/** Measured only when they are asked for. */
const moreSides: readonly Side[] = [...aditVariants, openssh];

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    wait: { type: 'string' },
    patience: { type: 'string', default: '60' },
    only: { type: 'string', default: works.map(({ name }) => name).join() },
    sides: { type: 'string', default: sides.map(({ name }) => name).join() },
    against: { type: 'string', multiple: true, default: [] },
    out: { type: 'string' },
  },
});
const rounds = positive('rounds', options.rounds);
const seconds = positive('seconds', options.seconds);
const formers = options.against.map(aditOf);
const results = new Results({ kind: 'tunnel', rounds, seconds, out: options.out, former: formers[0]?.name });
const quiet = new Quiet(positive('wait', options.wait ?? options.patience));

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1)); // children end with the process
await main();
await endChildren();
process.exit();

async function main(): Promise<void> {
  if (findProgram('nginx') === undefined) throw new Error('nginx is missing: every side leads to it');
  const chosenWorks = usable('work', chosen('only', works, options.only));
  const chosenSides = usable('side', [...chosen('sides', [...sides, ...moreSides], options.sides), ...formers]);
  const targets = await startTargets();
  const running = new Map<Side, RunningSide>();
  for (const side of chosenSides) running.set(side, await side.start(targets));
  for (const work of chosenWorks) {
    const capable = chosenSides.filter((side) => running.get(side)?.ports[work.way] !== undefined);
    const samples = new Map(capable.map(({ name }): [string, Measured[]] => [name, []]));
    // Round 0 warms up and is thrown away.
    for (let round = work.fresh ? 1 : 0; round <= rounds; round++) {
      for (const side of rotated(capable, round)) {
        process.stderr.write(`${work.name}, round ${round} of ${rounds}: ${side.name}\n`);
        const { result, background } = await quiet.measure(() => measure(work, side));
        if (round > 0) samples.get(side.name)?.push({ ...result, background });
      }
    }
    results.add(work, samples);
  }
  results.finish(quiet.summary);

  async function measure(work: Work, side: Side): Promise<Sample> {
    const started = running.get(side);
    if (started && !work.fresh) return work.measure(started, seconds, targets);
    const fresh = await side.start(targets);
    try {
      return await work.measure(fresh, seconds, targets);
    } finally {
      await fresh.stop();
    }
  }
}

/** Each round starts with another side, so that none always runs after the same other one. */
function rotated<T>(list: readonly T[], by: number): T[] {
  const at = by % list.length;
  return [...list.slice(at), ...list.slice(0, at)];
}

/** Leaves out, by name and with the reason, what lacks its programs. */
function usable<T extends Pick<Side, 'name' | 'programs' | 'missing'>>(kind: string, list: readonly T[]): T[] {
  return list.filter(({ name, programs, missing }) => {
    const absent = programs.filter((program) => findProgram(program) === undefined);
    const reason = missing ?? (absent.length > 0 ? `${absent.join(', ')} missing on this machine` : undefined);
    if (reason !== undefined) results.say(`left out ${kind} ${name}: ${reason}`);
    return reason === undefined;
  });
}

function chosen<T extends { readonly name: string }>(option: string, all: readonly T[], text: string): T[] {
  const names = text.split(',');
  const unknown = names.filter((name) => !all.some((each) => each.name === name));
  if (unknown.length > 0) throw new Error(`--${option}: there is no ${unknown.join()}, only ${all.map(({ name }) => name).join()}`);
  return names.flatMap((wanted) => all.filter(({ name }) => name === wanted));
}

function positive(option: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${option}: must be a whole number from 1 on, not ${text}`);
  return value;
}
