import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import process from 'node:process';
import { cpuSeconds, ticksPerSecond } from './usage.ts';

/** Of the machine's processor time, what programs that are not ours may use before they disturb. */
const MOST_FOREIGN = 0.05;
const LOOK_MS = 300;

/** What was measured, and what else went on meanwhile. */
export interface Observed<T> {
  readonly result: T;
  /** The share of the machine's processor time that other programs used, those of the host of a virtual machine included. */
  readonly background: number;
}

/** Keeps other programs on the machine from spoiling figures, as far as waiting and measuring again helps. */
export class Quiet {
  #waitMs: number;
  #disturbed = 0;
  #measured = 0;

  /** @param waitSeconds the total time to wait and to measure again */
  constructor(waitSeconds: number) {
    this.#waitMs = waitSeconds * 1000;
  }

  /** How often that time was not enough. */
  get summary(): string {
    return `${this.#disturbed} of ${this.#measured} measurements were disturbed: other programs used more than ${MOST_FOREIGN * 100}% of the machine`;
  }

  /** Measures when nothing else runs, and again when something else ran meanwhile; when the time is used up, returns the last result. */
  async measure<T>(work: () => Promise<T>): Promise<Observed<T>> {
    this.#measured++;
    for (;;) {
      while (this.#waitMs > 0 && (await observed(look)).background > MOST_FOREIGN) this.#waitMs -= LOOK_MS;
      const start = performance.now();
      const seen = await observed(work);
      if (seen.background <= MOST_FOREIGN) return seen;
      this.#waitMs -= performance.now() - start;
      if (this.#waitMs > 0) continue;
      this.#disturbed++;
      return seen;
    }
  }
}

/** Does the work and measures the CPU time of processes other than this one and its children. */
async function observed<T>(work: () => Promise<T>): Promise<Observed<T>> {
  const start = performance.now();
  const idle = idleSeconds();
  const own = cpuSeconds([process.pid]);
  const result = await work();
  const used = cpuSeconds([process.pid]) - own;
  const all = (performance.now() - start) / 1000 * availableParallelism();
  return { result, background: Math.max(0, 1 - (used + idleSeconds() - idle) / all) };
}

function look(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, LOOK_MS);
  });
}

/** Seconds that all processors had nothing to do. The kernel measures this one, where it samples user and system time. */
function idleSeconds(): number {
  const [, , , , idle = '', waiting = ''] = readFileSync('/proc/stat', 'utf8').split(/ +/, 6);
  return (Number(idle) + Number(waiting)) / ticksPerSecond;
}
