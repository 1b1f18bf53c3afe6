import type { News } from './failure-limit.ts';

/** How wrong keys are slowed down. Times in ms. */
export interface PenaltyRules {
  /** Failures before the first delay: a person mistyping a key is not to wait. */
  readonly free: number;
  readonly firstDelay: number;
  /** Stays below the time limit of a handshake, so that a right key still gets through after a wrong one. */
  readonly longestDelay: number;
  /** An address is forgiven this long after its last failure. */
  readonly expiry: number;
  /** Addresses remembered; beyond it the one that failed longest ago is forgotten. */
  readonly addresses: number;
}

/** The rules in use. */
export const PENALTY_RULES: PenaltyRules = { free: 3, firstDelay: 250, longestDelay: 4000, expiry: 10 * 60_000, addresses: 10_000 };

interface Entry {
  failures: number;
  lastFailure: number;
  /** When the next attempt of this address may be looked at. */
  nextSlot: number;
}

/**
 * Growing delays for addresses that offered wrong keys. Attempts of one address are looked at one after another, so opening many
 * connections at once doesn't help to guess faster.
 */
export class Penalties {
  readonly #rules: PenaltyRules;
  /** In the order of the last failure, oldest first. */
  readonly #entries = new Map<string, Entry>();

  constructor(rules: PenaltyRules = PENALTY_RULES) {
    this.#rules = rules;
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * Takes the next turn of `address`: ms to wait before its key is looked at. Infinity = others of this address wait already
   * for longer than anybody waits; no turn was taken.
   */
  turn(address: string, now: number): number {
    const entry = this.#entries.get(address);
    if (!entry) return 0;
    if (now - entry.lastFailure > this.#rules.expiry) {
      this.#entries.delete(address);
      return 0;
    }
    const excess = entry.failures - this.#rules.free;
    if (excess < 0) return 0;
    const delay = Math.min(this.#rules.firstDelay * 2 ** Math.min(excess, 20), this.#rules.longestDelay);
    const slot = Math.max(now + delay, entry.nextSlot);
    if (slot - now > this.#rules.longestDelay) return Number.POSITIVE_INFINITY;
    entry.nextSlot = slot + delay;
    return slot - now;
  }

  /** `address` offered a wrong key. @returns what is new of it: the first failure, or that it has to wait from now on; each once */
  fail(address: string, now: number): News | undefined {
    const entry = this.#entries.get(address) ?? { failures: 0, lastFailure: now, nextSlot: 0 };
    if (now - entry.lastFailure > this.#rules.expiry) entry.failures = 0;
    entry.failures++;
    entry.lastFailure = now;
    this.#entries.delete(address);
    this.#entries.set(address, entry);
    if (this.#entries.size > this.#rules.addresses) {
      for (const oldest of this.#entries.keys()) {
        this.#entries.delete(oldest);
        break;
      }
    }
    if (entry.failures === this.#rules.free) return 'waits';
    return entry.failures === 1 ? 'first' : undefined;
  }

  /** The addresses that have to wait, and when they are forgiven, in ms since the epoch. */
  waiting(now: number): { readonly source: string; readonly until: number }[] {
    return [...this.#entries]
      .map(([source, { failures, lastFailure }]) => ({ source, failures, until: lastFailure + this.#rules.expiry }))
      .filter(({ failures, until }) => failures >= this.#rules.free && until >= now)
      .map(({ source, until }) => ({ source, until }));
  }

  /** Forgives an address at once. */
  forget(address: string): void {
    this.#entries.delete(address);
  }
}
