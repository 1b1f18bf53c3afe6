import { loadavg } from 'node:os';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { endChildren } from '../test/support/child.ts';
import { removeScratchDirectories } from '../test/support/scratch.ts';
import type { Plan } from './api/calls.ts';
import { measureList } from './api/list.ts';
import { measurePages, measurePostgresqlPages } from './api/pages.ts';
import { measureSearch } from './api/search.ts';
import { measurePostgresqlWrites, measureWrites } from './api/writes.ts';
import { Quiet } from './quiet.ts';

/**
 * Measures the API. `list`: a signed POST /client/list/ beside an Express route that answers a fixed object; `search`: for
 * part of a text; `pages`: that a page by any order costs the same in lists of any size, on SQLite and on PostgreSQL; `writes`: new tunnels
 * by eight callers, on both, beside those of another checkout if `--baseline` names one that is compiled.
 *
 *     npm run bench:api -- [--rounds 5] [--seconds 5] [--patience 60] [--only list,search,pages,pages-postgresql,writes,writes-postgresql] [--baseline DIR]
 */
const measurements: Readonly<Record<string, (plan: Plan) => Promise<string>>> = {
  list: measureList, search: measureSearch, pages: measurePages, 'pages-postgresql': measurePostgresqlPages,
  writes: measureWrites, 'writes-postgresql': measurePostgresqlWrites,
};

const { values: options } = parseArgs({ options: {
  rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '5' }, patience: { type: 'string', default: '60' },
  only: { type: 'string', default: Object.keys(measurements).join() }, baseline: { type: 'string' },
} });
const quiet = new Quiet(z.coerce.number().min(0).parse(options.patience));
const plan: Plan = {
  rounds: z.coerce.number().int().min(1).parse(options.rounds),
  // A signature is valid for 20 s.
  seconds: z.coerce.number().int().min(1).max(15).parse(options.seconds),
  quiet,
  baseline: options.baseline,
};

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1)); // children end with the process
print(`load of the machine before: ${loadavg().map((load) => load.toFixed(2)).join(' ')}; ${plan.rounds} rounds of ${plan.seconds} s; median (least - most)\n`);
for (const name of options.only.split(',')) {
  const measure = measurements[name];
  if (measure === undefined) throw new Error(`--only: there is no ${name}, only ${Object.keys(measurements).join(', ')}`);
  print(await measure(plan));
  await endChildren();
}
print(quiet.summary);
removeScratchDirectories();
process.exit();

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
