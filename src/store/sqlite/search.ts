import { z } from 'zod';
import type { SqliteValue } from './binding.ts';
import { TooLongError } from './failure.ts';
import type { HotConnection } from './hot-connection.ts';
import type { Reply } from './reply.ts';

/** Rows of the first part, and the fewest and the most of any. The first ones are few: how long their texts are shows only then. */
const LEAST_ROWS = 32;
const MOST_ROWS = 4096;
/** How long a part should take, in ms: others wait for its end, and the limit is looked at then. */
const PART_MS = 10;

/** A search as the reader is asked for it; the statement ends with two placeholders (`HotReader.search`). */
export interface Search {
  readonly sql: string;
  readonly values: readonly SqliteValue[];
  /** The most that it may work, in ms. */
  readonly mostMs: number;
}

const part = z.tuple([z.number(), z.number().nullable(), z.string()]);

/**
 * Runs a search part by part, each in a turn of the event loop of its own, so that several go on side by side.
 * @param later runs something in another turn
 */
export function runSearch(connection: HotConnection, { sql, values, mostMs }: Search, reply: Reply, later: (work: () => void) => void): void {
  const found: string[] = [];
  let last = 0;
  let rows = LEAST_ROWS;
  let worked = 0;
  const next = (): void => {
    const began = performance.now();
    const [looked, end, ids] = part.parse(JSON.parse(connection.rows(sql, [...values, last, rows]).rows[0] ?? ''));
    const took = performance.now() - began;
    worked += took;
    if (ids !== '[]') found.push(ids.slice(1, -1));
    if (looked < rows || end === null) return reply.resolve(`[${found.join(',')}]`);
    if (worked > mostMs) throw new TooLongError('the search took too long');
    last = end;
    if (took < PART_MS / 2) rows = Math.min(rows * 2, MOST_ROWS);
    else if (took > PART_MS * 2) rows = Math.max(rows >> 1, LEAST_ROWS);
    later(attempt);
  };
  const attempt = (): void => {
    try {
      next();
    } catch (error) {
      reply.reject(error);
    }
  };
  attempt();
}
