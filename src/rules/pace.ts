/** A rate limit. */
export interface PaceRules {
  readonly atOnce: number;
  readonly perSecond: number;
}

/** Limits how often something may begin: a burst at once, then a number per second. */
export class Pace {
  readonly #rules: PaceRules;
  #left: number;
  #at = Number.NEGATIVE_INFINITY;

  constructor(rules: PaceRules) {
    this.#rules = rules;
    this.#left = rules.atOnce;
  }

  /** Tries to begin. @param now ms @returns false = too soon */
  begin(now: number): boolean {
    const { atOnce, perSecond } = this.#rules;
    // The clock may have been set back.
    this.#left = Math.min(atOnce, this.#left + Math.max(0, now - this.#at) * perSecond / 1000);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}
