/** The most bytes of any body. An administrator's list of 1 MB fits, also with its line ends and colons escaped. */
export const bodyLimit = 3 * 1024 * 1024;
/** The most bytes of a body that needs no room here: all but the longest lists. */
export const usualBody = 256 * 1024;
/** What may be held of larger bodies at a time, before it is known who sends them, in bytes. */
const room = { perAddress: 6 * 1024 * 1024, inAll: 48 * 1024 * 1024 };

/** The room for bodies that are larger than usual: strangers fill neither the memory nor the room of others. */
export class LargeBodies {
  readonly #byAddress = new Map<string, number>();
  #inAll = 0;

  /** Takes room for a body of an address. @returns false = there is none at the moment */
  take(address: string, bytes: number): boolean {
    const own = (this.#byAddress.get(address) ?? 0) + bytes;
    if (own > room.perAddress || this.#inAll + bytes > room.inAll) return false;
    this.#byAddress.set(address, own);
    this.#inAll += bytes;
    return true;
  }

  /** Gives back what was taken. */
  giveBack(address: string, bytes: number): void {
    const left = (this.#byAddress.get(address) ?? 0) - bytes;
    if (left > 0) this.#byAddress.set(address, left);
    else this.#byAddress.delete(address);
    this.#inAll -= bytes;
  }
}
