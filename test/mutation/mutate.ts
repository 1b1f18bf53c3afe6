import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import readline from 'node:readline';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { explanationOf } from './explained.ts';
import { mutantsOf, type Mutant } from './operators.ts';
import { modules, sample } from './sample.ts';
import { SuiteGraph } from './suites.ts';
import { type Sound, Trial } from './trial.ts';

/**
 * Puts mistakes into the program, one at a time, and runs the suites that reach them: a mistake that no suite notices is code that is not tested. It works
 * on copies of the repository, below `.cache/mutation`.
 *
 *     npm run mutate [-- PATH ...] [--count 400] [--seed 1] [--workers 2] [--suites 24] [--goal 0.9] [--passed]
 *
 * PATH: only files below it. `--suites`: the most that a mutant is tried with, the nearest first. `--passed`: all suites have just passed, so none runs without a
 * mutant first. Ends with 1 when fewer than `goal` of the mutants are noticed or explained (explained.ts).
 */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '400' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '2' },
    suites: { type: 'string', default: '24' },
    goal: { type: 'string', default: '0.9' },
    passed: { type: 'boolean', default: false },
  },
});
const whole = z.coerce.number().int().min(0);
const options = z.object({ count: whole.min(1), seed: whole, workers: whole.min(1), suites: whole.min(1), goal: z.coerce.number().min(0).max(1) })
  .parse(values);

/** What a suite takes without a mutant, if that was not measured. */
const USUAL_MS = 10_000;
/** Suites that a mutant is tried with before the others: mostly they notice it. */
const FIRST_SUITES = 4;

const root = path.resolve(import.meta.dirname, '../..');
const cache = path.join(root, '.cache', 'mutation');
const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root, encoding: 'utf8' }).split('\n').filter((file) =>
  file !== '' && existsSync(path.join(root, file))
);
const chosen = tracked.filter((file) => /^src\/.*\.ts$/.test(file) && modules.some((module) => file.startsWith(module)))
  .filter((file) => positionals.length === 0 || positionals.some((wanted) => file.startsWith(path.normalize(wanted))));
const mutants = sample(chosen.flatMap((file) => mutantsOf(file, readFileSync(path.join(root, file), 'utf8'))), options);
if (mutants.length === 0) throw new Error(`there is nothing to change in ${positionals.join(', ')}`);

const allSuites = tracked.filter((file) => file.endsWith('.test.ts'));
const graph = await SuiteGraph.of(root, allSuites);
const sound = new Map<string, Sound>(values.passed ? allSuites.map((suite) => [suite, { passes: true, ms: USUAL_MS }]) : []);
const copied = [
  ...tracked,
  'dist',
  ...readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((name) => path.basename(name) === 'generated').map((name) =>
    path.join('src', name)
  ),
];
rmSync(cache, { recursive: true, force: true });
// One PostgreSQL server for all runs, where it is installed; it ends with its input, which ends with this program.
const postgresql = spawn(process.execPath, ['--import', 'tsx', 'test/support/shared-postgresql.ts'], { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] });
const [directory] = z.tuple([z.string()]).parse(await once(readline.createInterface(postgresql.stdout), 'line'));
if (directory !== '') process.env['TEST_POSTGRESQL'] = directory;

type Fate = 'noticed' | 'too late' | 'explained' | 'survived';
const fates: Array<{ readonly mutant: Mutant; readonly fate: Fate; readonly suite?: string }> = [];

async function tryOut(trial: Trial, mutant: Mutant): Promise<void> {
  const suites = graph.suitesFor(mutant.file).slice(0, options.suites);
  for (let from = 0, count = FIRST_SUITES; from < suites.length; from += count, count = suites.length) {
    const { failed, late } = await trial.run(mutant, suites.slice(from, from + count));
    if (failed !== undefined) return void fates.push({ mutant, fate: late ? 'too late' : 'noticed', suite: failed });
  }
  fates.push({ mutant, fate: explanationOf(mutant, root) === undefined ? 'survived' : 'explained' });
}

const waiting = mutants.values();
await Promise.all(Array.from({ length: options.workers }, async (_, worker) => {
  const trial = new Trial(root, path.join(cache, String(worker)), copied, graph, sound);
  for (const mutant of waiting) {
    await tryOut(trial, mutant);
    const { fate, suite = '' } = fates.at(-1) ?? {};
    say(`${fates.length} of ${mutants.length}: ${fate} ${mutant.file}:${mutant.line} ${mutant.change} ${suite}`);
  }
}));

say('');
for (const module of modules) {
  const here = fates.filter(({ mutant }) => mutant.file.startsWith(module));
  if (here.length > 0) say(`${module.padEnd(22)} ${countsOf(here)}`);
}
const noticed = fates.filter(({ fate }) => fate !== 'survived').length;
say(`${'all'.padEnd(22)} ${countsOf(fates)}`);
for (const { mutant } of fates.filter(({ fate }) => fate === 'survived')) say(`survived: ${mutant.file}:${mutant.line} ${mutant.change}`);
const unsound = Array.from(sound).filter(([, { passes }]) => !passes).map(([suite]) => suite);
if (unsound.length > 0) say(`left out, since they fail without a mutant: ${unsound.join(', ')}`);
mkdirSync(cache, { recursive: true });
writeFileSync(path.join(cache, 'result.json'), JSON.stringify(fates, null, 1));
process.exit(noticed >= options.goal * fates.length ? 0 : 1);

function countsOf(some: typeof fates): string {
  const counted = (['noticed', 'too late', 'explained', 'survived'] as const).map((fate) => `${some.filter((one) => one.fate === fate).length} ${fate}`);
  return `${some.length} mutants: ${counted.join(', ')}`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
