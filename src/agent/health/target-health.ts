import type { TargetHealthReport } from '../../wire/health.ts';
import { HEALTH_ERROR } from '../../wire/health.ts';

/** What a check has changed: nothing, a count, or whether the target is in rotation. */
export type Checked = 'same' | 'counted' | 'rotation';

/**
 * Whether a target is in rotation: until `maxFailed` checks in a row have failed, and again from the first one that succeeds.
 * So a short failure does not remove a target, and a recovered target is used again immediately.
 */
export class TargetHealth {
  readonly target: string;
  readonly #maxFailed: number;
  #healthy = true;
  #failures = 0;
  /** Since when it is healthy, or not, in ms. */
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

  /** Of the last check that failed; "" = none has. */
  get error(): string {
    return this.#error;
  }

  /** Processes the result of a check, "" = it succeeded. */
  checked(problem: string, now: number): Checked {
    if (problem === '' && this.#failures === 0) return 'same';
    this.#failures = problem === '' ? 0 : this.#failures + 1;
    if (problem !== '') this.#error = oneLine(problem);
    const healthy = this.#healthy ? this.#failures < this.#maxFailed : problem === '';
    if (healthy === this.#healthy) return 'counted';
    this.#healthy = healthy;
    this.#since = now;
    return 'rotation';
  }

  /** The report for the server. */
  report(now: number): TargetHealthReport {
    return { target: this.target, healthy: this.#healthy, failures: this.#failures, ageMs: Math.max(0, Math.round(now - this.#since)), error: this.#error };
  }
}

/** An error as it is sent and listed, cleaned, since targets can influence the text of some. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, ' ').slice(0, HEALTH_ERROR);
}
