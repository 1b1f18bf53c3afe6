import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import process from 'node:process';
import { cpuSeconds, ticksPerSecond } from './usage.ts';

/** Of the machine's processor time, what programs that are not ours may use before they disturb. */
const MOST_FOREIGN = 0.05;
const LOOK_MS = 300;

/** Keeps other programs on the machine from spoiling figures, as far as waiting and measuring again helps. */
export class Quiet {
  #patienceMs: number;
  #disturbed = 0;
  #measured = 0;

  /** @param patience seconds, all in all, to wait and to measure again */
  constructor(patience: number) {
    this.#patienceMs = patience * 1000;
  }

  /** How often patience was not enough. */
  get summary(): string {
    return `${this.#disturbed} of ${this.#measured} measurements were disturbed by other programs on this machine`;
  }

  /** Measures when nothing else runs, and again when something else ran meanwhile; when patience is at an end, takes what there is. */
  async measure<T>(work: () => Promise<T>): Promise<T> {
    this.#measured++;
    for (;;) {
      while (this.#patienceMs > 0 && (await foreignShare(look)).share > MOST_FOREIGN) this.#patienceMs -= LOOK_MS;
      const start = performance.now();
      const { result, share } = await foreignShare(work);
      if (share <= MOST_FOREIGN) return result;
      this.#patienceMs -= performance.now() - start;
      if (this.#patienceMs > 0) continue;
      this.#disturbed++;
      return result;
    }
  }
}

/** Does the work and tells which share of the machine's processor time went to others than us and our children meanwhile. */
async function foreignShare<T>(work: () => Promise<T>): Promise<{ readonly result: T; readonly share: number }> {
  const start = performance.now();
  const all = machineSeconds();
  const own = cpuSeconds([process.pid]);
  const result = await work();
  const foreign = machineSeconds() - all - (cpuSeconds([process.pid]) - own);
  return { result, share: foreign * 1000 / (performance.now() - start) / availableParallelism() };
}

function look(): Promise<void> {
  return new Promise((resolve) => { setTimeout(resolve, LOOK_MS); });
}

/** Seconds of processor time, user and system, that the whole machine has used. */
function machineSeconds(): number {
  const [, user = '', nice = '', system = ''] = readFileSync('/proc/stat', 'utf8').split(/ +/, 4);
  return (Number(user) + Number(nice) + Number(system)) / ticksPerSecond;
}
