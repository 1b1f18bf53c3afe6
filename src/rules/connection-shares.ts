import { networkOf } from './ip-address.ts';

/** Prefix length by which IPv6 addresses count as one owner. */
export const NETWORK_BITS = 64;

/** Maximum number of connections at once, in total and for one address. */
export interface ShareLimits {
  readonly total: number;
  /** For one IPv4 address, or one /64 network of IPv6. */
  readonly perAddress: number;
}

/**
 * Limits each address to a share of the connections of a port, so that one visitor can't exclude all others. Each connection counts from
 * accept to close.
 */
export class ConnectionShares {
  readonly #limits: ShareLimits;
  readonly #byAddress = new Map<string, number>();
  #total = 0;

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  /** Number of open connections. */
  get size(): number {
    return this.#total;
  }

  /** Whether an address may open another connection. @param address as for `enter` */
  hasRoom(address: string | undefined): boolean {
    if (this.#total >= this.#limits.total) return false;
    return address === undefined || (this.#byAddress.get(networkOf(address, NETWORK_BITS)) ?? 0) < this.#limits.perAddress;
  }

  /**
   * Counts a connection; false = there are too many. After true, `leave` must follow with the same address.
   * @param address undefined = a trusted proxy, which only counts for the total until the visitor's address is known
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
