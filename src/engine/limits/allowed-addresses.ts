/** How long an address stays allowed, in ms. */
const ALLOWED_MS = 2 * 3_600_000;
/** Maximum number of addresses of one client; beyond that, the oldest is removed. */
const MOST = 1000;

/** The addresses whose visitors gave a client's password. Kept in memory only. */
export class AllowedAddresses {
  /** Expiry by address, in ms since the epoch; the oldest first. */
  readonly #addresses = new Map<string, number>();

  /** @param address in its canonical spelling */
  add(address: string, now: number): void {
    this.#addresses.delete(address);
    this.#addresses.set(address, now + ALLOWED_MS);
    for (const [oldest, until] of this.#addresses) {
      if (until > now && this.#addresses.size <= MOST) return;
      this.#addresses.delete(oldest);
    }
  }

  has(address: string, now: number): boolean {
    const left = (this.#addresses.get(address) ?? 0) - now;
    return left > 0 && left <= ALLOWED_MS; // more: the clock was set back
  }
}
