/** A visitor who let himself in stays so for this long, in ms. */
const LET_IN_MS = 2 * 3_600_000;
/** Addresses of one client; beyond it the one that came first has to come again. */
const MOST = 1000;

/** The addresses that visitors let in by a client's password. Forgotten when the server stops. */
export class LetIn {
  /** Until when, in ms since the epoch; in the order in which they came. */
  readonly #addresses = new Map<string, number>();

  /** @param address in its canonical spelling */
  add(address: string, now: number): void {
    this.#addresses.delete(address);
    this.#addresses.set(address, now + LET_IN_MS);
    for (const [oldest, until] of this.#addresses) {
      if (until > now && this.#addresses.size <= MOST) return;
      this.#addresses.delete(oldest);
    }
  }

  has(address: string, now: number): boolean {
    return (this.#addresses.get(address) ?? 0) > now;
  }
}
