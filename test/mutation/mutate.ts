import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import readline from 'node:readline';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { explanationOf } from './explained.ts';
import { Measurements } from './measurements.ts';
import type { Mutant } from './operators.ts';
import { allMutants, copyRepository, copyWithMutants, repositoryFiles } from './program.ts';
import { moduleOf, modules, sample } from './sample.ts';
import { SuiteProcess } from './suite-process.ts';
import { isSuite, SuiteGraph } from './suites.ts';
import { tryOut, type Trial } from './trial.ts';
import { refusedByTypes } from './type-check.ts';

/**
 * Puts mistakes into the program, one at a time, and runs the suites that reach them: a mistake that no suite detects is code that is not tested. Works on a
 * copy of the repository, in `.cache/mutation`.
 *
 *     npm run mutate [-- PATH ...] [--count 400] [--seed 1] [--workers 2] [--goal 0.9] [--seconds 12] [--minutes 600] [--nearest 24] [--kind operators] [--again]
 *
 * PATH: only files below it. `--seconds`: CPU time that the suites of a mutant may take together. `--minutes`: no mutant is begun later. `--nearest`: only so
 * many of the closest suites, and others that were measured for them. `--kind`: `operators` (operators.ts) or `mixups` (mixups.ts). `--again`: only mutants that survived the last run. Exits with 1 when fewer than `goal` of the mutants are detected or explained (explained.ts). `.cache/mutation/result.json` has
 * each mutant with the suite that detected it.
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '400' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '2' },
    goal: { type: 'string', default: '0.9' },
    seconds: { type: 'string', default: '12' },
    minutes: { type: 'string', default: '600' },
    nearest: { type: 'string', default: '24' },
    kind: { type: 'string', default: 'operators' },
    again: { type: 'boolean', default: false },
  },
});
const whole = z.coerce.number().int().min(0);
const options = z.object({
  count: whole.min(1),
  seed: whole,
  workers: whole.min(1),
  goal: z.coerce.number().min(0).max(1),
  seconds: whole.min(1),
  nearest: whole.min(1),
  minutes: z.coerce.number().positive(),
  kind: z.enum(['operators', 'mixups']),
}).parse(values);

/** A process may keep what mutants left behind. */
const MOST_MUTANTS_OF_A_PROCESS = 25;

const root = path.resolve(import.meta.dirname, '../..');
const cache = path.join(root, '.cache', 'mutation');
const files = repositoryFiles(root);
const mutants = allMutants(root, files, options.kind);
const numbers = new Map(mutants.map((mutant, number) => [mutant, number]));
const resultFile = path.join(cache, 'result.json');
const before = values.again ? survivorsOf(JSON.parse(readFileSync(resultFile, 'utf8'))) : undefined;
const chosen = sample(
  mutants.filter((mutant) => positionals.length === 0 || positionals.some((wanted) => mutant.file.startsWith(path.normalize(wanted))))
    .filter(({ file, change }) => before?.some((survivor) => survivor.file === file && survivor.change === change) ?? true),
  options,
);
if (chosen.length === 0) throw new Error(`there is nothing to change in ${positionals.join(', ')}`);
const copy = path.join(cache, 'copy');
copyRepository(root, copy, files);
const refused = await refusedByTypes(root, copy, chosen);
say(`the type checker refuses ${refused.size} of ${chosen.length}`);
await copyWithMutants(root, copy, files, mutants);
const graph = await SuiteGraph.of(root, files.filter(isSuite));
const measurements = new Measurements(path.join(cache, `measurements-${options.kind}.json`), root, graph, mutants);

// One PostgreSQL server for all suites, where it is installed; it ends with its input, which ends with this program.
const postgresql = spawn(process.execPath, ['--import', 'tsx', 'test/support/shared-postgresql.ts'], { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] });
const [directory] = z.tuple([z.string()]).parse(await once(readline.createInterface(postgresql.stdout), 'line'));
if (directory !== '') process.env['TEST_POSTGRESQL'] = directory;

interface Tried extends Omit<Trial, 'fate'> {
  readonly mutant: Mutant;
  readonly fate: Trial['fate'] | 'explained' | 'refused';
}

const tried: Tried[] = [];
const from = Date.now();
let cpuMs = 0;
const waiting = chosen.values();
await Promise.all(Array.from({ length: options.workers }, async () => {
  const suites = new SuiteProcess(copy);
  let count = 0;
  for (const mutant of waiting) {
    if (Date.now() > from + options.minutes * 60_000) break;
    if (++count % MOST_MUTANTS_OF_A_PROCESS === 0) suites.end();
    const means = { graph, measurements, suites, mostMs: options.seconds * 1000, nearest: options.nearest };
    const trial: Omit<Tried, 'mutant'> = refused.has(mutant) ? { fate: 'refused' } : await tryOut(numbers.get(mutant) ?? -1, mutant, means);
    const fate = trial.fate === 'survived' && explanationOf(mutant, root) !== undefined ? 'explained' : trial.fate;
    tried.push({ mutant, ...trial, fate });
    writeFileSync(resultFile, JSON.stringify(tried, null, 1));
    say(`${tried.length} of ${chosen.length}: ${fate} ${mutant.file}:${mutant.line} ${mutant.change} ${trial.suite ?? ''}`);
  }
  suites.end();
  cpuMs += suites.usedMs;
}));

say('');
for (const module of modules) {
  const here = tried.filter(({ mutant }) => moduleOf(mutant.file) === module);
  if (here.length > 0) say(`${module.padEnd(22)} ${countsOf(here)}`);
}
say(`${'all'.padEnd(22)} ${countsOf(tried)}`);
say(`took ${Math.round((Date.now() - from) / 1000)} s, and ${(cpuMs / 1000 / tried.length).toFixed(1)} s of CPU for each, without processes that suites start`);
const survivors = tried.filter(({ fate }) => fate === 'survived');
for (const { mutant } of survivors) say(`survived: ${mutant.file}:${mutant.line} ${mutant.change}`);
if (measurements.failing().length > 0) say(`left out, since they fail without a mutant: ${measurements.failing().join(', ')}`);
if (tried.length < chosen.length) say(`stopped after ${options.minutes} minutes, before the other ${chosen.length - tried.length} mutants`);
const enough = tried.length > 0 && tried.length - survivors.length >= options.goal * tried.length;
if (!enough) {
  say(`Too many mistakes would not be noticed: the goal is ${options.goal * 100}%. Write a test that fails with such a mutant (docs/testing.md, "Mutants").`);
}
process.exit(enough ? 0 : 1);

/** Those of an earlier result. */
function survivorsOf(result: unknown): Array<Pick<Mutant, 'file' | 'change'>> {
  return z.array(z.object({ mutant: z.object({ file: z.string(), change: z.string() }), fate: z.string() })).parse(result)
    .filter(({ fate }) => fate === 'survived').map(({ mutant }) => mutant);
}

function countsOf(some: readonly Tried[]): string {
  const counted = (['detected', 'refused', 'too late', 'explained', 'survived'] as const).map((fate) =>
    `${some.filter((one) => one.fate === fate).length} ${fate}`
  );
  return `${some.length} mutants: ${counted.join(', ')}`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
