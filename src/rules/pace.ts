/** How often something may begin. */
export interface PaceRules {
  readonly atOnce: number;
  readonly perSecond: number;
}

/** Lets things begin at a pace: some at once, then so many a second. */
export class Pace {
  readonly #rules: PaceRules;
  #left: number;
  #at = Number.NEGATIVE_INFINITY;

  constructor(rules: PaceRules) {
    this.#rules = rules;
    this.#left = rules.atOnce;
  }

  /** Another begins. @param now ms @returns false = it is too soon for that */
  begin(now: number): boolean {
    const { atOnce, perSecond } = this.#rules;
    // The clock may be set back.
    this.#left = Math.min(atOnce, this.#left + Math.max(0, now - this.#at) * perSecond / 1000);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left--;
    return true;
  }
}
