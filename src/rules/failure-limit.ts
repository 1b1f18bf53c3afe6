/** Limits for failures. */
export interface FailureRules {
  /** Failures in a window before the source has to wait for the end of the window. */
  readonly allowed: number;
  /** Length of the window in ms, beginning with the first failure. */
  readonly windowMs: number;
  /** Sources remembered; beyond that, the one with the oldest window is forgotten. */
  readonly sources: number;
}

/** What to report about a failure: it is the first in its window, or the source has to wait from now on. */
export type News = 'first' | 'waits';

/** Counts failed attempts by source (for example an address), to limit guessing. */
export class FailureLimit {
  readonly #rules: FailureRules;
  /** In order of the beginning of the window. */
  readonly #windows = new Map<string, { failures: number; readonly ends: number; reported?: News }>();

  constructor(rules: FailureRules) {
    this.#rules = rules;
  }

  /** ms until the source may try again; 0 = now. @param now ms since the epoch */
  wait(source: string, now: number): number {
    const window = this.#windowAt(source, now);
    return window === undefined || window.failures < this.#rules.allowed ? 0 : window.ends - now;
  }

  /** The number of failures that count against a source. @param now ms since the epoch */
  failures(source: string, now: number): number {
    return this.#windowAt(source, now)?.failures ?? 0;
  }

  /** Counts a failure of the source. @param now ms since the epoch */
  add(source: string, now: number): void {
    const window = this.#windowAt(source, now);
    if (window !== undefined) {
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

  /** @returns what to report about the failure that was just added; each kind once per window */
  news(source: string): News | undefined {
    const window = this.#windows.get(source);
    if (window === undefined || window.reported === 'waits') return undefined;
    const news = window.failures >= this.#rules.allowed ? 'waits' : 'first';
    if (window.reported === news) return undefined;
    window.reported = news;
    return news;
  }

  /** Takes back one failure of the source. */
  takeBack(source: string): void {
    const window = this.#windows.get(source);
    if (window === undefined) return;
    window.failures--;
    if (window.failures <= 0) this.#windows.delete(source);
  }

  /** The sources that have to wait, each with the end of the wait in ms since the epoch. */
  waiting(now: number): { readonly source: string; readonly until: number }[] {
    return Array.from(this.#windows.keys(), (source) => ({ source, wait: this.wait(source, now) }))
      .filter(({ wait }) => wait > 0)
      .map(({ source, wait }) => ({ source, until: now + wait }));
  }

  /** The window of a source that counts at a time. One that ends later than a new one would is from before the clock was set back. */
  #windowAt(source: string, now: number) {
    const window = this.#windows.get(source);
    return window !== undefined && window.ends > now && window.ends <= now + this.#rules.windowMs ? window : undefined;
  }

  /** Forgets a source, so that it can try again at once. */
  forget(source: string): void {
    this.#windows.delete(source);
  }

  /** Forgets all sources for which `concerns` returns true. */
  forgetAll(concerns: (source: string) => boolean): void {
    for (const source of this.#windows.keys()) if (concerns(source)) this.#windows.delete(source);
  }
}
