/**
 * Cleans up a list of addresses from a caller: splits lines, trims, and drops blank lines and duplicates (the last one is kept)
 * (contract 2.2).
 */
export function cleanIpList(items: readonly string[]): string[] {
  const lines = items.flatMap((item) => item.split(/[\r\n]+/)).map((line) => line.trim()).filter((line) => line !== '');
  return [...new Set(lines.toReversed())].toReversed();
}

/** The list in its stored form, one address per line. */
export function joinIpList(list: readonly string[]): string {
  return list.join('\n');
}

/** Characters of a part of a long list, up to the end of an address. */
const PART = 64 * 1024;

/**
 * A list in its stored form, which is split when it is iterated or written as JSON. The rows of a legacy list can have millions of addresses
 * together; as texts of their own, they would take ten times the memory, and garbage collections would hold the event loop.
 */
export class StoredIpList implements Iterable<string> {
  readonly #stored: string;

  constructor(stored: string) {
    this.#stored = stored;
  }

  [Symbol.iterator](): Iterator<string> {
    return splitIpList(this.#stored).values();
  }

  /** For `JSON.stringify`. */
  toJSON(): readonly string[] {
    return splitIpList(this.#stored);
  }

  /** Whether there is more than one of its {@link parts}. */
  get long(): boolean {
    return this.#stored.length > PART;
  }

  /** The addresses, so many at a time that splitting them and writing them as JSON takes about 1 ms. */
  *parts(): Generator<readonly string[], void, undefined> {
    for (let start = 0; start < this.#stored.length;) {
      const cut = this.#stored.indexOf('\n', start + PART);
      const end = cut < 0 ? this.#stored.length : cut;
      yield splitIpList(this.#stored.slice(start, end));
      start = end + 1;
    }
  }
}

/** The inverse of {@link joinIpList}. */
export function splitIpList(stored: string): string[] {
  return stored === '' ? [] : stored.split('\n');
}
