import type { Measurements } from './measurements.ts';
import type { Mutant } from './operators.ts';
import type { SuiteProcess } from './suite-process.ts';
import type { SuiteGraph } from './suites.ts';

/** How it went with a mutant. */
export interface Trial {
  readonly fate: 'detected' | 'too late' | 'survived';
  /** The suite that detected it. */
  readonly suite?: string;
  /** What failed there. */
  readonly failure?: string | undefined;
}

/** After the closest suite, the others are tried in groups of so many: in each those that were measured before come first. */
const AT_ONCE = 6;
/** Of suites that start the program. */
const MOST_PROGRAM_SUITES = 2;
/** Given to each suite beyond three times what it takes without a mutant: longer than the timeout of one test, since only endless loops need more. */
const MARGIN_MS = 30_000;

/** What mutants are tried with. */
export interface Means {
  readonly graph: SuiteGraph;
  readonly measurements: Measurements;
  readonly suites: SuiteProcess;
  /** CPU time that all suites of a mutant may take together, counted without the mutant; half of it again for those of a new process. */
  readonly mostMs: number;
  /** The closest suites that a mutant is tried with. */
  readonly nearest: number;
}

/**
 * Tries a mutant with the suites that reach it, until one fails:
 *
 * 1. those that run its code in their own process, in a process that has loaded the program before: the closest, then those that were measured for other mutants;
 * 2. if none did so with the mutant, the closest and the measured ones in a new process: some code is only run when the program is loaded;
 * 3. if none runs its code at all, the closest ones that start the compiled program.
 *
 * A suite that fails must pass without the mutant in the same process; or else fail again in a new one, and pass there without it. A suite that does neither is
 * left out from then on.
 */
export async function tryOut(number: number, { file }: Mutant, { graph, measurements, suites, mostMs, nearest }: Means): Promise<Trial> {
  const importing = graph.suitesFor(file);
  const own = importing.filter((suite) => !graph.startsProgram(suite));
  const near = own.slice(0, nearest);
  let left = mostMs;
  /** Whether a suite runs its code, and whether one did so while it was on. */
  let [covered, effective] = [false, false];
  const others = near.slice(1);
  const groups = Array.from({ length: Math.ceil(others.length / AT_ONCE) }, (_, index) => others.slice(index * AT_ONCE, (index + 1) * AT_ONCE));
  for (const some of [near.slice(0, 1), ...groups, own.slice(nearest).filter((suite) => measurements.has(suite))]) {
    if (left <= 0) break;
    for (const suite of measurements.knownFirst(some)) {
      const measured = await measurements.of(suite, suites);
      if (!measured.passes || !measurements.reaches(measured, number)) continue;
      covered = true;
      const trial = await run(suite);
      if (trial) return trial;
    }
  }
  if (effective) return { fate: 'survived' };
  suites.end();
  left = mostMs / 2;
  const last = covered ? [] : importing.filter((suite) => graph.startsProgram(suite)).slice(0, MOST_PROGRAM_SUITES);
  const loading = own.filter((suite, index) => index < AT_ONCE || measurements.has(suite));
  for (const suite of [...measurements.knownFirst(loading), ...last]) {
    const trial = await run(suite);
    if (trial) {
      suites.end(); // what was loaded with the mutant
      return trial;
    }
  }
  suites.end();
  return { fate: 'survived' };

  async function run(suite: string): Promise<Trial | undefined> {
    const { passes, ms, cpuMs } = await measurements.of(suite, suites);
    if (!passes || left <= 0) return undefined;
    left -= cpuMs;
    const limit = 3 * ms + MARGIN_MS;
    const first = await suites.run(suite, number, limit);
    if (first === 'late') return { fate: 'too late', suite };
    if (first !== 'crashed' && first.passed) {
      effective ||= first.reached[number] === 1;
      return undefined;
    }
    if (first !== 'crashed') {
      const without = await suites.run(suite, -1, limit);
      if (typeof without !== 'string' && without.passed) return { fate: 'detected', suite, failure: first.failure };
    }
    suites.end();
    const again = await suites.run(suite, number, limit);
    suites.end();
    if (again === 'late') return { fate: 'too late', suite };
    if (again !== 'crashed' && again.passed) return undefined;
    const without = await suites.run(suite, -1, limit);
    if (typeof without === 'string' || !without.passed) {
      measurements.distrust(suite);
      return undefined;
    }
    return { fate: 'detected', suite, failure: again === 'crashed' ? 'the process ended' : again.failure };
  }
}
