import { networkOf } from './ip-address.ts';

/** Whoever has one IPv6 address has all those that begin with so many of its bits. */
export const NETWORK_BITS = 64;

/** Most connections at once: of all addresses, and of one. */
export interface ShareLimits {
  readonly total: number;
  /** The share of one address, and of one /64 of IPv6. */
  readonly perAddress: number;
}

/**
 * Holds every address to its share of the connections that a port takes, so that one visitor can't shut the others out. Each connection is counted from
 * its accept until it is closed.
 */
export class ConnectionShares {
  readonly #limits: ShareLimits;
  readonly #byAddress = new Map<string, number>();
  #total = 0;

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  /** Connections at the moment. */
  get size(): number {
    return this.#total;
  }

  /** Whether one more connection of an address may be taken. @param address as for `enter` */
  hasRoom(address: string | undefined): boolean {
    if (this.#total >= this.#limits.total) return false;
    return address === undefined || (this.#byAddress.get(networkOf(address, NETWORK_BITS)) ?? 0) < this.#limits.perAddress;
  }

  /**
   * Takes a connection; false = there are too many. Otherwise `leave` must follow, with the same address.
   * @param address undefined = a trusted proxy's, which counts for the total alone until it is known whose the connection is
   */
  enter(address: string | undefined): boolean {
    if (!this.hasRoom(address)) return false;
    this.#total++;
    if (address !== undefined) {
      const network = networkOf(address, NETWORK_BITS);
      this.#byAddress.set(network, (this.#byAddress.get(network) ?? 0) + 1);
    }
    return true;
  }

  leave(address: string | undefined): void {
    this.#total--;
    if (address === undefined) return;
    const network = networkOf(address, NETWORK_BITS);
    const left = (this.#byAddress.get(network) ?? 0) - 1;
    if (left > 0) this.#byAddress.set(network, left);
    else this.#byAddress.delete(network);
  }
}
