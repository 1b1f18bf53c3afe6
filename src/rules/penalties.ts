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
  /** Wrong keys from one address at which right ones wait, too, of clients that were last seen there. */
  readonly freeForKnown: number;
  /** Keys that are remembered of one address, by their ids: the same wrong key again is no further guess. */
  readonly keys: number;
  /** Addresses remembered; beyond it the one that failed longest ago is forgotten. */
  readonly addresses: number;
}

/** The rules in use. */
export const PENALTY_RULES: PenaltyRules = { free: 3, firstDelay: 250, longestDelay: 4000, expiry: 10 * 60_000, freeForKnown: 100, keys: 64, addresses: 10_000 };

interface Entry {
  failures: number;
  lastFailure: number;
  /** When the next attempt of this address may be looked at. */
  nextSlot: number;
  /** The keys that were tried last, by their ids, and how often each. */
  readonly keys: Map<string, number>;
}

/** What an attempt turned out to be: a wrong key, by its id, or a right one, perhaps of a client that was last seen at this address. */
export type Tried = { readonly wrong: string } | { readonly known: boolean };

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
   * A key that was wrong here before makes only those wait that offer it again.
   */
  turn(address: string, now: number, tried: Tried): number {
    const entry = this.#entries.get(address);
    if (!entry) return 0;
    if (now - entry.lastFailure > this.#rules.expiry) {
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

  #delay(failures: number): number {
    const excess = failures - this.#rules.free;
    return excess < 0 ? 0 : Math.min(this.#rules.firstDelay * 2 ** Math.min(excess, 20), this.#rules.longestDelay);
  }

  /**
   * `address` offered a wrong key. The same one again is no further guess: an agent whose client was deleted offers it all the time.
   * @param keyId names the key
   * @returns what is new of the address: the first failure, or that it has to wait from now on, each once; `false` = it was no further guess
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
