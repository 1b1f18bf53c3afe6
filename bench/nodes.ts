import { loadavg } from 'node:os';
import process from 'node:process';
import { parseArgs } from 'node:util';
import v8 from 'node:v8';
import { removeScratchDirectories } from '../test/support/scratch.ts';
import { homesOf, linkCosts, rowCosts } from './node-costs.ts';

/**
 * Simulates installations of several servers in one process: measures what homes, links, rows, changes and counters cost with the real code, and computes from
 * that what a node of each size needs, and which limit is reached first.
 *
 *     npm run bench:nodes -- [--nodes 100] [--clients 1000000] [--real-nodes 11] [--rows 20000] [--active 0.1] [--changes 1000]
 */
const { values: options } = parseArgs({
  options: {
    nodes: { type: 'string', default: '100' },
    clients: { type: 'string', default: '1000000' },
    /** Nodes that are really started, each with links to all others. */
    'real-nodes': { type: 'string', default: '11' },
    /** Clients in the database: each has 1.5 tunnels and half a host. */
    rows: { type: 'string', default: '20000' },
    /** The share of the clients that have traffic at any time: a client and a tunnel are counted for each. */
    active: { type: 'string', default: '0.1' },
    /** Changes in a minute, of all nodes together. */
    changes: { type: 'string', default: '1000' },
  },
});
/** docs/scaling.md; the default of max_connections, of which three are for superusers. */
const CONNECTIONS = { each: 14, most: 97 } as const;
/** How often counters are stored. */
const COUNTERS_S = 5;
/** A start that takes longer is a nuisance. */
const START_S = 30;

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1)); // children end with the process

const [nodes, clients] = [Number(options.nodes), Number(options.clients)];
const sizes = nodes === 100 && clients === 1_000_000 ? [[3, 10_000], [10, 100_000], [nodes, clients]] as const : [[nodes, clients]] as const;
// First, because it measures resident memory, which the others leave behind.
const links = await linkCosts({ nodes: Number(options['real-nodes']), restSeconds: 5, homes: 5000, alone: 100 });
const simulated = sizes.map(([n, m]) => ({ n, m, ...homesOf(n, m) }));
const rows = await rowCosts({ clients: Number(options.rows), changes: 200 });
const [active, changes] = [Number(options.active), Number(options.changes) / 60];

say(`load of the machine ${loadavg()[0]?.toFixed(1)}; CPU times are those of a core`);
say('\nMeasured now');
for (const { n, m, bytes, passMs } of simulated) {
  say(`  homes of ${m} clients on ${n} nodes: ${mb(bytes)} MB of heap; a pass over them, for each link that comes or goes, ${passMs.toFixed(1)} ms`);
}
say(
  `  a link between two of ${options['real-nodes']} nodes (${links.links} links over TLS), both ends: ${(links.linkBytes / 1024).toFixed(0)} KB, ${
    us(links.restMs)
  } us/s of beats`,
);
say(`  a home that is announced, sent and received, for each link: ${us(links.homeMs)} us among many, ${us(links.aloneMs)} us alone`);
say(
  `  a client with 1.5 tunnels and 0.5 hosts (${options.rows} clients, PostgreSQL): ${rows.heapBytes.toFixed(0)} bytes of heap, read at the start in ${
    us(rows.loadMs)
  } us`,
);
say(`  a change of another node, read and applied: ${us(rows.change.node)} us, PostgreSQL ${us(rows.change.database)} us`);
say(`  a look at the log of changes: ${us(rows.look.node)} us, PostgreSQL ${us(rows.look.database)} us`);
say(`  counters of a client and a tunnel, stored: ${us(rows.counters.node)} us, PostgreSQL ${us(rows.counters.database)} us`);

say(
  `\nComputed from that: ${
    active * 100
  }% of the clients have traffic, ${options.changes} changes a minute; without agents' sessions and traffic; ${CONNECTIONS.each} connections to PostgreSQL for each node (docs/scaling.md)`,
);
say(
  '| nodes, clients | links | memory of a node, MB | CPU of a node at rest | a node dies: CPU of each other | start: CPU, s | PostgreSQL: connections | PostgreSQL: CPU |',
);
say('|---|---|---|---|---|---|---|---|');
for (const { n, m, bytes, passMs } of simulated) {
  const memory = bytes + m * rows.heapBytes + (n - 1) * links.linkBytes;
  const rest = (n - 1) * links.restMs + (1 + changes) * rows.look.node + changes * rows.change.node + m * active / n / COUNTERS_S * rows.counters.node;
  // The agents of the dead node: each other one receives all, and announces its part to all, one by one at worst. Both ends of a link are in the cost.
  const death = m / n * links.aloneMs + 2 * passMs;
  // Each other node sends its homes, and this one passes over all when its link to that node is there.
  const start = m * (rows.loadMs + links.homeMs) + (n - 1) * passMs;
  say(
    `| ${n}, ${m} | ${n * (n - 1)} | ${mb(memory)} | ${percent(rest)} | ${(death / 1000).toFixed(2)} s | ${(start / 1000).toFixed(1)} | ${
      n * CONNECTIONS.each
    } | ${percent(databaseOf(n, m))} |`,
  );
}

// All as a number of nodes, each with as many agents as in the largest size, so that they can be compared.
const each = clients / nodes;
const heapLimit = v8.getHeapStatistics().heap_size_limit;
const ofHomes = (simulated.at(-1)?.bytes ?? 0) / clients;
const limits = [
  ['max_connections of PostgreSQL, 100 by default', CONNECTIONS.most / CONNECTIONS.each],
  ['a core of PostgreSQL', 1000 / databaseOf(1, each)],
  [`the heap that Node allows here (${mb(heapLimit)} MB)`, heapLimit / (rows.heapBytes + ofHomes) / each],
  ["a tenth of a node's core for beats", 100 / links.restMs + 1],
  [`${START_S} s of CPU for a start, for rows and homes`, START_S * 1000 / (rows.loadMs + links.homeMs) / each],
] as const;
say(`\nComputed: with ${each} clients for each node, this is the most that fits, the first limit first`);
for (const [what, most] of limits.toSorted(([, one], [, other]) => one - other)) {
  say(`  ${what}: ${Math.floor(most)} nodes, ${Math.floor(most * each)} clients`);
}
removeScratchDirectories();
process.exit();

/** CPU time of PostgreSQL in a second, in ms. */
function databaseOf(n: number, m: number): number {
  return n * ((1 + changes) * rows.look.database + changes * rows.change.database) + m * active / COUNTERS_S * rows.counters.database;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function mb(bytes: number): string {
  return (bytes / 1024 ** 2).toFixed(0);
}

function us(ms: number): string {
  return (ms * 1000).toFixed(1);
}

/** @param ms of CPU time in a second */
function percent(ms: number): string {
  return `${(ms / 10).toFixed(1)}%`;
}
