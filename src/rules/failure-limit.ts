/** How many failures are put up with. */
export interface FailureRules {
  /** Failures in a window before the source has to wait for its end. */
  readonly allowed: number;
  /** From the first failure on, in ms. */
  readonly windowMs: number;
  /** Sources remembered; beyond it the one whose window began first is forgotten. */
  readonly sources: number;
}

/** What of a failure is worth telling: it is the source's first for a while, or from now on the source has to wait. */
export type News = 'first' | 'waits';

/** Counts failed attempts by source (an address, say), so that guessing gets only so many tries. */
export class FailureLimit {
  readonly #rules: FailureRules;
  /** In the order in which their windows began. */
  readonly #windows = new Map<string, { failures: number; readonly ends: number; told?: News }>();

  constructor(rules: FailureRules) {
    this.#rules = rules;
  }

  /** ms until the source may try again; 0 = now. @param now ms since the epoch */
  wait(source: string, now: number): number {
    const window = this.#windows.get(source);
    if (window === undefined || window.ends <= now || window.failures < this.#rules.allowed) return 0;
    return window.ends - now;
  }

  /** The failures that count against a source. @param now ms since the epoch */
  failures(source: string, now: number): number {
    const window = this.#windows.get(source);
    return window === undefined || window.ends <= now ? 0 : window.failures;
  }

  /** The source has failed. @param now ms since the epoch */
  add(source: string, now: number): void {
    const window = this.#windows.get(source);
    if (window !== undefined && window.ends > now) {
      window.failures++;
      return;
    }
    this.#windows.delete(source);
    this.#windows.set(source, { failures: 1, ends: now + this.#rules.windowMs });
    if (this.#windows.size <= this.#rules.sources) return;
    for (const oldest of this.#windows.keys()) {
      this.#windows.delete(oldest);
      break;
    }
  }

  /** @returns what is new of a failure that was added: each of it once in a window */
  news(source: string): News | undefined {
    const window = this.#windows.get(source);
    if (window === undefined || window.told === 'waits') return undefined;
    const news = window.failures >= this.#rules.allowed ? 'waits' : 'first';
    if (window.told === news) return undefined;
    window.told = news;
    return news;
  }

  /** One failure of the source was none. */
  takeBack(source: string): void {
    const window = this.#windows.get(source);
    if (window === undefined) return;
    window.failures--;
    if (window.failures <= 0) this.#windows.delete(source);
  }

  /** The sources that may not try now, and until when, in ms since the epoch. */
  waiting(now: number): { readonly source: string; readonly until: number }[] {
    return [...this.#windows]
      .filter(([, { failures, ends }]) => ends > now && failures >= this.#rules.allowed)
      .map(([source, { ends }]) => ({ source, until: ends }));
  }

  /** Lets the source try again at once. */
  forget(source: string): void {
    this.#windows.delete(source);
  }

  /** The same for all sources that `concerns` names. */
  forgetAll(concerns: (source: string) => boolean): void {
    for (const source of this.#windows.keys()) if (concerns(source)) this.#windows.delete(source);
  }
}
