import type { TargetHealthReport } from '../../wire/health.ts';
import { HEALTH_ERROR } from '../../wire/health.ts';

/** What a check has changed: nothing, a count, or whether the target takes its turn. */
export type Checked = 'same' | 'counted' | 'turned';

/**
 * Whether a target takes its turn. It does until `maxFailed` checks in a row have failed, and again from the first one that succeeds:
 * whoever is down for a moment is not out, and whoever is back is not kept waiting.
 */
export class TargetHealth {
  readonly target: string;
  readonly #maxFailed: number;
  #healthy = true;
  #failures = 0;
  #since: number;
  #error = '';

  /** @param now ms */
  constructor(target: string, maxFailed: number, now: number) {
    this.target = target;
    this.#maxFailed = maxFailed;
    this.#since = now;
  }

  get healthy(): boolean {
    return this.#healthy;
  }

  /** Failures in a row. */
  get failures(): number {
    return this.#failures;
  }

  /** Since when it is healthy, or not, in ms. */
  get since(): number {
    return this.#since;
  }

  /** Of the last check that failed; "" = none has. */
  get error(): string {
    return this.#error;
  }

  /** Takes the outcome of a check, "" = it succeeded. */
  checked(problem: string, now: number): Checked {
    if (problem === '' && this.#failures === 0) return 'same';
    this.#failures = problem === '' ? 0 : this.#failures + 1;
    if (problem !== '') this.#error = oneLine(problem);
    const healthy = this.#healthy ? this.#failures < this.#maxFailed : problem === '';
    if (healthy === this.#healthy) return 'counted';
    this.#healthy = healthy;
    this.#since = now;
    return 'turned';
  }

  /** What the server is told. */
  report(now: number): TargetHealthReport {
    return { target: this.target, healthy: this.#healthy, failures: this.#failures, ageMs: Math.max(0, Math.round(now - this.#since)), error: this.#error };
  }
}

/** An error as it goes over the wire and into lists: targets have a say in some of them. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, ' ').slice(0, HEALTH_ERROR);
}
