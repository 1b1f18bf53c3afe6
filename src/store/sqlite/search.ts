import * as z from 'zod';
import type { Found, Search } from '../search/search.ts';
import { rowsSql, searchSql, stampsSql } from '../search/search-sql.ts';
import { SearchIndex, together, type Stamp } from '../search/search-index.ts';
import { pageOf } from '../search/search.ts';
import type { SegmentRow } from '../search/segment.ts';
import { TooLongError } from './failure.ts';
import type { HotConnection } from './hot-connection.ts';
import type { Reply } from './reply.ts';

/** Minimum and maximum rows of a part. The first part has the minimum, because the length of the texts is not known yet. */
const LEAST_ROWS = 32;
const MOST_ROWS = 4096;
/** Target time for a part, in ms: other requests wait for its end, and the time limit is checked then. */
const PART_MS = 10;

const looked = z.tuple([z.number(), z.number().nullable(), z.string()]);
const oneText = z.tuple([z.string()]);
const idList = z.array(z.number());

/** Runs searches part by part, each part in its own iteration of the event loop, so that several run concurrently. */
export class Searches {
  readonly #connection: HotConnection;
  readonly #index: SearchIndex;
  readonly #later: (work: () => void) => void;

  /** @param later runs something in another iteration */
  constructor(connection: HotConnection, later: (work: () => void) => void, index = new SearchIndex()) {
    this.#connection = connection;
    this.#index = index;
    this.#later = later;
  }

  /** Answers with {@link Found}. @param mostMs maximum working time, in ms */
  run(search: Search, mostMs: number, reply: Reply): void {
    const steps = this.#steps(search);
    let worked = 0;
    const part = (): void => {
      const began = performance.now();
      let took = 0;
      try {
        while (took < PART_MS) {
          const { done, value } = steps.next();
          took = performance.now() - began;
          if (done === true) return reply.resolve(value);
          if (worked + took > mostMs) throw new TooLongError('the search took too long');
        }
      } catch (error) {
        return reply.reject(error);
      }
      worked += took;
      this.#later(part);
    };
    part();
  }

  *#steps(search: Search): Generator<void, Found> {
    const { table, text, conditions } = search;
    if (text === '') return pageOf(yield* this.#inDatabase(search), search.range);
    const stale = this.#index.stale(table, this.#stamps(search));
    for (const stamp of stale ?? []) {
      if (!this.#index.put(table, stamp, this.#rows(search, stamp))) break;
      yield;
    }
    const found = stale && this.#index.find(search);
    if (found === undefined) return pageOf(yield* this.#inDatabase(search), search.range);
    const { ids, total, long } = found;
    if (long.length === 0 && conditions === undefined) return { ids, total };
    const inMemory = conditions === undefined ? ids : yield* this.#inDatabase({ ...search, text: '' }, ids);
    return together(inMemory, yield* this.#inDatabase(search, long), search);
  }

  #stamps({ table }: Search): Stamp[] {
    const { text, values } = stampsSql('sqlite', table);
    const [json] = oneText.parse(JSON.parse(this.#connection.rows(text, values).rows[0] ?? ''));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the statement makes it so
    return JSON.parse(json) as Stamp[];
  }

  #rows({ table }: Search, [segment]: Stamp): SegmentRow[] {
    const { text, values } = rowsSql('sqlite', table, segment);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the statement makes it so
    return JSON.parse(`[${this.#connection.rows(text, values).rows.join(',')}]`) as SegmentRow[];
  }

  /** The ids of what SQLite finds, ascending. @param among the rows that are looked at; absent = all */
  *#inDatabase(search: Search, among?: Int32Array): Generator<void, number[]> {
    const found: number[] = [];
    let last = 0;
    let start = 0;
    let rows = LEAST_ROWS;
    for (;;) {
      if (among !== undefined && start >= among.length) return found;
      const { text, values } = searchSql('sqlite', search, among?.subarray(start, start + rows));
      const began = performance.now();
      const [count, end, ids] = looked.parse(JSON.parse(this.#connection.rows(text, [...values, last, rows]).rows[0] ?? ''));
      const took = performance.now() - began;
      if (ids !== '[]') { for (const id of idList.parse(JSON.parse(ids))) found.push(id); }
      if (among === undefined && (count < rows || end === null)) return found;
      last = end ?? last;
      start += rows;
      if (took < PART_MS / 2) rows = Math.min(rows * 2, MOST_ROWS);
      else if (took > PART_MS * 2) rows = Math.max(rows >> 1, LEAST_ROWS);
      yield;
    }
  }
}
