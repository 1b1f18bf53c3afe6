import { foldCase, searched, pageOf, type Found, type Search, type SearchedTable } from './search.ts';
import { Segment, type SegmentRow } from './segment.ts';

/** Identifies a state of a segment's rows: it changes with each change of them. */
export type Stamp = readonly [segment: number, stamp: number];

/** The matches in memory, and the rows that the database must check. */
export interface FoundInMemory extends Found {
  /** The ids of the list's long rows; if there are any, or the search has conditions, `ids` contains all matches, ascending. */
  readonly long: Int32Array;
}

interface Held {
  readonly stamp: number;
  readonly segment: Segment;
}

/** Maximum memory of all tables together, in bytes. */
const INDEX_BYTES = 64 * 1024 * 1024;
/** How long a too large table is searched in the database before the index tries it again, in ms. */
const TRY_AGAIN_MS = 600_000;

/**
 * The texts of all rows in memory, in segments of neighboring ids. It does not access the database: its owner asks which segments are out of
 * date, and stores their current rows before a search.
 */
export class SearchIndex {
  readonly #most: number;
  readonly #tables = new Map<SearchedTable, Map<number, Held>>();
  /** When too large tables are tried again, by the monotonic clock. */
  readonly #tooLarge = new Map<SearchedTable, number>();
  #bytes = 0;

  /** @param most maximum bytes of all tables together */
  constructor(most = INDEX_BYTES) {
    this.#most = most;
  }

  /** Drops segments that no longer exist. @returns the segments to store again; undefined = the table is too large and is searched in the database */
  stale(table: SearchedTable, stamps: readonly Stamp[]): Stamp[] | undefined {
    if ((this.#tooLarge.get(table) ?? 0) > performance.now()) return undefined;
    this.#tooLarge.delete(table);
    const held = this.#held(table);
    const current = new Set(stamps.map(([segment]) => segment));
    for (const number of held.keys()) if (!current.has(number)) this.#forget(held, number);
    return stamps.filter(([segment, stamp]) => held.get(segment)?.stamp !== stamp);
  }

  /**
   * Stores a segment, with rows that are at least as new as its stamp. If all tables together are too large, the largest is dropped; a table below
   * its even share always stays.
   * @returns false = the table is too large now
   */
  put(table: SearchedTable, [number, stamp]: Stamp, rows: readonly SegmentRow[]): boolean {
    if (this.#tooLarge.has(table)) return false;
    const held = this.#held(table);
    this.#forget(held, number);
    const segment = new Segment(searched[table], rows);
    held.set(number, { stamp, segment });
    this.#bytes += segment.bytes;
    while (this.#bytes > this.#most) this.#dropLargest();
    return !this.#tooLarge.has(table);
  }

  /** Searches the stored segments for the text; it can't check conditions. @returns undefined = the table is too large */
  find(search: Search): FoundInMemory | undefined {
    const { table, text, conditions, range } = search;
    if (this.#tooLarge.has(table)) return undefined;
    const folded = foldCase(text);
    const found: number[] = [];
    const long: number[] = [];
    // Segments were stored in any order.
    for (const [, { segment }] of Array.from(this.#held(table)).toSorted(([a], [b]) => a - b)) {
      segment.find(search, folded, found, long);
    }
    return { ...pageOf(found, long.length > 0 || conditions !== undefined ? undefined : range), long: Int32Array.from(long) };
  }

  #held(table: SearchedTable): Map<number, Held> {
    let held = this.#tables.get(table);
    if (held === undefined) this.#tables.set(table, held = new Map<number, Held>());
    return held;
  }

  #dropLargest(): void {
    const sizes = Array.from(this.#tables, ([table, held]) => ({ table, held, bytes: bytesOf(held) }));
    const { table, held } = sizes.reduce((largest, each) => each.bytes > largest.bytes ? each : largest);
    for (const number of held.keys()) this.#forget(held, number);
    this.#tooLarge.set(table, performance.now() + TRY_AGAIN_MS);
  }

  #forget(held: Map<number, Held>, number: number): void {
    this.#bytes -= held.get(number)?.segment.bytes ?? 0;
    held.delete(number);
  }
}

function bytesOf(held: ReadonlyMap<number, Held>): number {
  let bytes = 0;
  for (const { segment } of held.values()) bytes += segment.bytes;
  return bytes;
}

/** Combines the matches in memory with those among the database's long rows, and returns the requested range. */
export function together(inMemory: Int32Array | readonly number[], among: readonly number[], { range }: Search): Found {
  return pageOf([...inMemory, ...among].toSorted((a, b) => a - b), range);
}
