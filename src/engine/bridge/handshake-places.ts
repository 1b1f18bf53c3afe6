import { networkOf } from '../../rules/ip-address.ts';

/** How many unfinished handshakes there may be. A stranger's costs a socket and a few KB. */
export interface PlaceLimits {
  readonly total: number;
  /** Many agents may stand behind one NAT, and come back at the same time. */
  readonly perAddress: number;
  /** One that lets the server wait for so long, in ms, makes room for another of its address, or of any where all places are taken. */
  readonly patienceMs: number;
}

/** The limits in use. */
export const PLACE_LIMITS: PlaceLimits = { total: 4096, perAddress: 1024, patienceMs: 500 };

/** A place for an unfinished handshake. */
export interface Place {
  /** The peer's, of IPv6 its network. */
  readonly address: string;
  /** When it was taken, by the clock of the gate. */
  readonly since: number;
  /** Ends the handshake: another takes its place. */
  readonly evict: () => void;
}

/**
 * Counts unfinished handshakes, and turns away what is too much. Agents answer at once, so when there is no place the one that the server has
 * waited for longest goes: whoever wants to keep others out would have to open all places anew all the time.
 */
export class HandshakePlaces {
  readonly #limits: PlaceLimits;
  readonly #now: () => number;
  readonly #places = new Set<Place>();
  /** Those that the server waits for, the oldest first: all of them, and by address. */
  readonly #waiting = new Set<Place>();
  readonly #waitingOf = new Map<string, Set<Place>>();
  readonly #byAddress = new Map<string, number>();

  /** @param now ms by a clock that never goes back */
  constructor(limits: PlaceLimits = PLACE_LIMITS, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Unfinished handshakes. */
  get size(): number {
    return this.#places.size;
  }

  /** Takes a place. @param evict ends the handshake, after which `leave` follows @returns undefined = there is none; otherwise `leave` must follow */
  enter(from: string, evict: () => void): Place | undefined {
    const address = networkOf(from, 64);
    const { total, perAddress } = this.#limits;
    const full = (this.#byAddress.get(address) ?? 0) >= perAddress ? this.#waitingOf.get(address) : this.#places.size >= total ? this.#waiting : undefined;
    if (full === undefined ? this.#isFull(address) : !this.#evictOldest(full)) return undefined;
    const place: Place = { address, since: this.#now(), evict };
    this.#places.add(place);
    this.#byAddress.set(address, (this.#byAddress.get(address) ?? 0) + 1);
    this.#waiting.add(place);
    const ofAddress = this.#waitingOf.get(address);
    if (ofAddress) ofAddress.add(place);
    else this.#waitingOf.set(address, new Set([place]));
    return place;
  }

  #isFull(address: string): boolean {
    return this.#places.size >= this.#limits.total || (this.#byAddress.get(address) ?? 0) >= this.#limits.perAddress;
  }

  #evictOldest(places: ReadonlySet<Place>): boolean {
    for (const place of places) {
      if (this.#now() - place.since < this.#limits.patienceMs) return false;
      this.leave(place);
      place.evict();
      return true;
    }
    return false;
  }

  /** It has said everything: from now on it waits for the server. */
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
