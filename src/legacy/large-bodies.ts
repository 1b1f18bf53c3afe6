/** Maximum size of a body in bytes. Fits an administrator's list of 1 MB, even with escaped line breaks and colons. */
export const bodyLimit = 3 * 1024 * 1024;
/** Maximum size in bytes of a body that needs no budget: enough for everything except the longest lists. */
export const usualBody = 256 * 1024;
/** Budget in bytes for larger bodies whose sender is not authenticated yet. */
const room = { perAddress: 6 * 1024 * 1024, inAll: 48 * 1024 * 1024 };

/** The memory budget for large bodies: unauthenticated callers can exhaust neither the memory nor the budget of other addresses. */
export class LargeBodies {
  readonly #byAddress = new Map<string, number>();
  #inAll = 0;

  /** Reserves memory for a body from an address. @returns false = the budget is exhausted */
  take(address: string, bytes: number): boolean {
    const own = (this.#byAddress.get(address) ?? 0) + bytes;
    if (own > room.perAddress || this.#inAll + bytes > room.inAll) return false;
    this.#byAddress.set(address, own);
    this.#inAll += bytes;
    return true;
  }

  /** Releases reserved memory. */
  giveBack(address: string, bytes: number): void {
    const left = (this.#byAddress.get(address) ?? 0) - bytes;
    if (left > 0) this.#byAddress.set(address, left);
    else this.#byAddress.delete(address);
    this.#inAll -= bytes;
  }
}
