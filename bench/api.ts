import path from 'node:path';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { endChildren } from '../test/support/child.ts';
import { removeScratchDirectories } from '../test/support/scratch.ts';
import type { Plan } from './api/calls.ts';
import { measureList } from './api/list.ts';
import { measurePages, measurePostgresqlPages } from './api/pages.ts';
import { measureSearch } from './api/search.ts';
import { measurePostgresqlWrites, measureWrites, measureWritesOfNodes } from './api/writes.ts';
import { Quiet } from './quiet.ts';
import { Results } from './results.ts';
import { nameOf } from './sides/adit.ts';

/**
 * Measures the API. `list`: a signed POST /client/list/ compared with an Express route that answers the same bytes; `search`: for
 * part of a text; `pages`: that a page by any order costs the same in lists of any size, on SQLite and on PostgreSQL; `writes`: new tunnels
 * by eight callers, on both; `writes-nodes`: through one, two and three servers on one database, each with a share of a core.
 *
 *     npm run bench:api -- [--rounds 5] [--seconds 5] [--wait 60] [--only list,search,pages,pages-postgresql,writes,writes-postgresql,writes-nodes] [--against DIR] [--out FILE]
 *
 * --against: another compiled checkout of Adit, compared with this one except for `pages`; may be given more than once, and the first has goals.
 */
const measurements: Readonly<Record<string, (plan: Plan) => Promise<void>>> = {
  list: measureList,
  search: measureSearch,
  pages: measurePages,
  'pages-postgresql': measurePostgresqlPages,
  writes: measureWrites,
  'writes-postgresql': measurePostgresqlWrites,
  'writes-nodes': measureWritesOfNodes,
};

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '5' },
    wait: { type: 'string' },
    patience: { type: 'string', default: '60' },
    only: { type: 'string', default: Object.keys(measurements).join() },
    against: { type: 'string', multiple: true, default: [] },
    out: { type: 'string' },
  },
});
const rounds = z.coerce.number().int().min(1).parse(options.rounds);
// A signature is valid for 20 s.
const seconds = z.coerce.number().int().min(1).max(15).parse(options.seconds);
const quiet = new Quiet(z.coerce.number().min(0).parse(options.wait ?? options.patience));
const formers = options.against.map((root) => ({ name: nameOf(root), root: path.resolve(root) }));
const results = new Results({ kind: 'api', rounds, seconds, out: options.out, former: formers[0]?.name });
const plan: Plan = { rounds, seconds, quiet, results, formers };

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1)); // children end with the process
for (const name of options.only.split(',')) {
  const measure = measurements[name];
  if (measure === undefined) throw new Error(`--only: there is no ${name}, only ${Object.keys(measurements).join(', ')}`);
  await measure(plan);
  await endChildren();
}
results.finish(quiet.summary);
removeScratchDirectories();
process.exit();
