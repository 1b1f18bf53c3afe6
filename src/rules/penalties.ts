import type { News } from './failure-limit.ts';

/** How wrong keys are throttled. Times in ms. */
export interface PenaltyRules {
  /** Failures without a delay, for people who mistype a key. */
  readonly free: number;
  readonly firstDelay: number;
  /** Shorter than the timeout of a handshake, so that a right key is still accepted after a wrong one. */
  readonly longestDelay: number;
  /** An address is forgotten this long after its last failure. */
  readonly expiry: number;
  /** Number of wrong keys from an address after which right keys of clients that were last seen there have to wait, too. */
  readonly freeForKnown: number;
  /** Keys remembered for one address, by id: the same wrong key again does not count as another guess. */
  readonly keys: number;
  /** Addresses remembered; beyond that, the one that failed longest ago is forgotten. */
  readonly addresses: number;
}

/** The rules in use. */
export const PENALTY_RULES: PenaltyRules = {
  free: 3,
  firstDelay: 250,
  longestDelay: 4000,
  expiry: 10 * 60_000,
  freeForKnown: 100,
  keys: 64,
  addresses: 10_000,
};

interface Entry {
  failures: number;
  lastFailure: number;
  /** When the next attempt of this address may be checked. */
  nextSlot: number;
  /** The most recently tried keys, by id, with the number of attempts. */
  readonly keys: Map<string, number>;
}

/** The result of an attempt: a wrong key with its id, or a right key of a client that was or was not last seen at this address. */
export type Tried = { readonly wrong: string } | { readonly known: boolean };

/**
 * Increasing delays for addresses that offered wrong keys. Attempts of one address are checked one after another, so opening many
 * connections at once doesn't speed up guessing.
 */
export class Penalties {
  readonly #rules: PenaltyRules;
  /** In order of the last failure, oldest first. */
  readonly #entries = new Map<string, Entry>();

  constructor(rules: PenaltyRules = PENALTY_RULES) {
    this.#rules = rules;
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * Queues an attempt of `address`. A key that was wrong here before only delays attempts with the same key.
   * @returns ms to wait before its key is checked; Infinity = the queue of this address is full, and the attempt was not added
   */
  queue(address: string, now: number, tried: Tried): number {
    const entry = this.#entries.get(address);
    if (!entry) return 0;
    if (this.#isOver(entry, now)) {
      this.#entries.delete(address);
      return 0;
    }
    const before = 'wrong' in tried ? entry.keys.get(tried.wrong) : undefined;
    if (before !== undefined) return this.#delay(before);
    if ('known' in tried && tried.known && entry.failures <= this.#rules.freeForKnown) return 0;
    const delay = this.#delay(entry.failures);
    if (delay === 0) return 0;
    const slot = Math.max(now + delay, entry.nextSlot);
    if (slot - now > this.#rules.longestDelay) return Number.POSITIVE_INFINITY;
    entry.nextSlot = slot + delay;
    return slot - now;
  }

  /** Its last failure was long ago, or lies in the future, since the clock was set back. */
  #isOver({ lastFailure }: Entry, now: number): boolean {
    return now - lastFailure > this.#rules.expiry || now < lastFailure;
  }

  #delay(failures: number): number {
    const excess = failures - this.#rules.free;
    return excess < 0 ? 0 : Math.min(this.#rules.firstDelay * 2 ** Math.min(excess, 20), this.#rules.longestDelay);
  }

  /**
   * Reports a wrong key. The same key again does not count as another guess: an agent whose client was deleted offers it all the time.
   * @param keyId identifies the key
   * @returns what to report about the address, each once: the first failure, or that it has to wait from now on; `false` = not another guess
   */
  fail(address: string, now: number, keyId: string): News | false | undefined {
    const entry = this.#entries.get(address) ?? { failures: 0, lastFailure: now, nextSlot: 0, keys: new Map<string, number>() };
    const before = entry.keys.get(keyId) ?? 0;
    entry.keys.set(keyId, before + 1);
    if (before > 0) return false;
    if (entry.keys.size > this.#rules.keys) {
      for (const oldest of entry.keys.keys()) {
        entry.keys.delete(oldest);
        break;
      }
    }
    if (this.#isOver(entry, now)) Object.assign(entry, { failures: 0, nextSlot: 0 });
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

  /** The addresses that have to wait, each with the end of the wait in ms since the epoch. */
  waiting(now: number): { readonly source: string; readonly until: number }[] {
    return [...this.#entries]
      .filter(([, entry]) => entry.failures >= this.#rules.free && !this.#isOver(entry, now))
      .map(([source, { lastFailure }]) => ({ source, until: lastFailure + this.#rules.expiry }));
  }

  /** Forgets an address at once. */
  forget(address: string): void {
    this.#entries.delete(address);
  }
}
