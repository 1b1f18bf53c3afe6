import { lookup } from 'node:dns/promises';

/** How long a name's address is used without asking again, in ms. */
const KEEP_MS = 30_000;
/** Names that are remembered, the oldest forgotten first. */
const MAX_NAMES = 256;

/** Names that were resolved lately, and those that are being resolved. */
export class NameCache {
  readonly #names = new Map<string, { readonly address: Promise<string | undefined>; readonly until: number }>();

  /** The address of a name; undefined = it has none. Asks once for all who want to know meanwhile. */
  resolve(name: string): Promise<string | undefined> {
    const known = this.#names.get(name);
    const now = performance.now();
    if (known && known.until > now) return known.address;
    // What is wrong with the name does not matter to anybody: a datagram is lost without a word.
    const address = lookup(name).then((found) => found.address, () => undefined);
    this.#names.delete(name);
    this.#names.set(name, { address, until: now + KEEP_MS });
    const [oldest] = this.#names.keys();
    if (this.#names.size > MAX_NAMES && oldest !== undefined) this.#names.delete(oldest);
    return address;
  }
}
