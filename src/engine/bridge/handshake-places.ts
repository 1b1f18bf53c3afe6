import { networkOf } from '../../rules/ip-address.ts';

/** The most unfinished handshakes. Each costs a socket and a few KB, before any authentication. */
export interface PlaceLimits {
  readonly total: number;
  /** Many agents may be behind one NAT and reconnect at the same time. */
  readonly perAddress: number;
  /** A handshake that keeps the server waiting for this many ms may be evicted for another one of its address, or of any address if all places are taken. */
  readonly minAgeMs: number;
}

/** The default limits. */
export const PLACE_LIMITS: PlaceLimits = { total: 4096, perAddress: 1024, minAgeMs: 500 };

/** A place for an unfinished handshake. */
export interface Place {
  /** The peer's address; for IPv6, its network; '' = a trusted proxy's. */
  readonly address: string;
  /** When it was taken, by the given clock. */
  readonly since: number;
  /** Evicts the handshake in favor of another one. */
  readonly evict: () => void;
}

/**
 * Counts unfinished handshakes, and refuses those beyond the limit. Agents answer immediately, so when all places are taken, the handshake that has
 * kept the server waiting longest is evicted: to keep agents out, an attacker would have to reopen all places continuously.
 */
export class HandshakePlaces {
  readonly #limits: PlaceLimits;
  readonly #now: () => number;
  readonly #places = new Set<Place>();
  /** Handshakes that the server waits for, the oldest first: all of them, and by address. */
  readonly #waiting = new Set<Place>();
  readonly #waitingOf = new Map<string, Set<Place>>();
  readonly #byAddress = new Map<string, number>();

  /** @param now ms of a monotonic clock */
  constructor(limits: PlaceLimits = PLACE_LIMITS, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Unfinished handshakes. */
  get size(): number {
    return this.#places.size;
  }

  /** Takes a place. @param from undefined = a trusted proxy, which carries many agents and only counts for the total @param evict ends the handshake, after which `leave` follows @returns undefined = there is none; otherwise `leave` must follow */
  enter(from: string | undefined, evict: () => void): Place | undefined {
    const address = from === undefined ? '' : networkOf(from, 64);
    const { total, perAddress } = this.#limits;
    const isFull = from !== undefined && (this.#byAddress.get(address) ?? 0) >= perAddress;
    const others = isFull ? this.#waitingOf.get(address) ?? [] : this.#places.size >= total ? this.#waiting : undefined;
    if (others && !this.#evictOldest(others)) return undefined;
    const place: Place = { address, since: this.#now(), evict };
    this.#places.add(place);
    this.#byAddress.set(address, (this.#byAddress.get(address) ?? 0) + 1);
    this.#waiting.add(place);
    const ofAddress = this.#waitingOf.get(address);
    if (ofAddress) ofAddress.add(place);
    else this.#waitingOf.set(address, new Set([place]));
    return place;
  }

  #evictOldest(places: Iterable<Place>): boolean {
    for (const place of places) {
      if (this.#now() - place.since < this.#limits.minAgeMs) return false;
      this.leave(place);
      place.evict();
      return true;
    }
    return false;
  }

  /** The peer has sent its whole handshake, and now waits for the server. */
  said(place: Place): void {
    this.#waiting.delete(place);
    const ofAddress = this.#waitingOf.get(place.address);
    ofAddress?.delete(place);
    if (ofAddress?.size === 0) this.#waitingOf.delete(place.address);
  }

  /** Gives a place back; a second time does nothing. */
  leave(place: Place): void {
    if (!this.#places.delete(place)) return;
    this.said(place);
    const ofAddress = this.#byAddress.get(place.address) ?? 0;
    if (ofAddress > 1) this.#byAddress.set(place.address, ofAddress - 1);
    else this.#byAddress.delete(place.address);
  }
}
