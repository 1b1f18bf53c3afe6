import type { HealthSettings } from '../../wire/health.ts';
import type { Slots } from './slots.ts';
import { type Checked, TargetHealth } from './target-health.ts';

/** The first check comes within this many ms, or within the interval when that is shorter. */
const FIRST_MS = 5000;

/** What the checks of targets share. */
export interface CheckContext {
  /** Checks a target once; resolves to the problem, "" = none. Rejects when the check can't be made, which proves nothing about the target. */
  readonly check: (how: HealthSettings, target: string, stopped: AbortSignal) => Promise<string>;
  readonly slots: Slots;
  /** Yields 0 <= x < 1: spreads the checks of many targets. */
  readonly random: () => number;
  /** ms of a monotonic clock */
  readonly now: () => number;
  /** A check couldn't be made. */
  readonly onFault: (target: string, error: unknown) => void;
}

/** Checks one target repeatedly, one check at a time, until it is stopped. */
export class TargetCheck {
  readonly health: TargetHealth;
  readonly #context: CheckContext;
  readonly #how: HealthSettings;
  readonly #onChanged: (health: TargetHealth, changed: Exclude<Checked, 'same'>) => void;
  readonly #stop = new AbortController();
  #timer: NodeJS.Timeout;

  /** @param onChanged called after every check that changed something */
  constructor(context: CheckContext, how: HealthSettings, target: string, onChanged: (health: TargetHealth, changed: Exclude<Checked, 'same'>) => void) {
    this.#context = context;
    this.#how = how;
    this.#onChanged = onChanged;
    this.health = new TargetHealth(target, how.maxFailed, context.now());
    this.#timer = this.#after(context.random() * Math.min(how.intervalMs, FIRST_MS));
  }

  /** Stops the checks; a running check is aborted. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#stop.abort();
  }

  #after(ms: number): NodeJS.Timeout {
    return setTimeout(() => void this.#check(), ms).unref();
  }

  async #check(): Promise<void> {
    const { random, now } = this.#context;
    const { signal } = this.#stop;
    const due = now();
    const problem = await this.#problem(signal);
    if (signal.aborted) return;
    const changed = problem === undefined ? 'same' : this.health.checked(problem, now());
    if (changed !== 'same') this.#onChanged(this.health, changed);
    // Jitter of a tenth: checks that started together drift apart.
    const next = due + this.#how.intervalMs * (0.9 + 0.2 * random());
    this.#timer = this.#after(Math.max(0, next - now()));
  }

  /** undefined = the check couldn't be made. */
  async #problem(signal: AbortSignal): Promise<string | undefined> {
    const { check, slots, onFault } = this.#context;
    const { target } = this.health;
    try {
      return await slots.run(async () => signal.aborted ? '' : check(this.#how, target, signal));
    } catch (error) {
      onFault(target, error);
      return undefined;
    }
  }
}
