import type { Dialect } from '../migrations.ts';
import type { Transaction } from '../transaction.ts';
import { bucketAt, type TrafficRetention } from './traffic.ts';

/** Refused connections to add to the series of a client. */
export interface RefusalGain {
  readonly clientId: number;
  readonly cause: string;
  readonly count: number;
}

/** Refused connections that are stored together. */
export interface RefusalBatch {
  /** Random: a batch whose first attempt was stored after all is recognized by it. */
  readonly id: string;
  readonly gains: readonly RefusalGain[];
}

/** Gains per statement: on SQLite nothing else runs during a statement. */
const batchSize = 2000;

/** Adds refused connections to the series of their clients; those of deleted clients are skipped. @param gains at most one for each client and cause @param at ms since the epoch */
export async function addRefusals(tx: Transaction, dialect: Dialect, gains: readonly RefusalGain[], at: number): Promise<void> {
  const buckets = [bucketAt('minute', at), bucketAt('hour', at), bucketAt('day', at)];
  const inOrder = gains.toSorted((one, other) => one.clientId - other.clientId);
  for (let start = 0; start < inOrder.length; start += batchSize) {
    await tx.$executeRawUnsafe(addition[dialect], JSON.stringify(inOrder.slice(start, start + batchSize)), ...buckets);
  }
}

/** On PostgreSQL clients that are being deleted are skipped, too: otherwise this and the deletion could wait for each other. */
const given: Record<Dialect, string> = {
  sqlite: `WITH n AS (SELECT value ->> 'clientId' AS id, value ->> 'cause' AS cause, value ->> 'count' AS count FROM json_each(?)),
    s(step, at) AS (VALUES ('minute', ?), ('hour', ?), ('day', ?)),
    c AS (SELECT id FROM "Client" WHERE id IN (SELECT id FROM n))`,
  postgresql: `WITH n AS (SELECT "clientId" AS id, cause, count FROM jsonb_to_recordset($1::jsonb) AS r("clientId" int, cause text, count bigint)),
    s(step, at) AS (VALUES ('minute', $2::int), ('hour', $3::int), ('day', $4::int)),
    c AS (SELECT id FROM "Client" WHERE id IN (SELECT id FROM n) FOR KEY SHARE SKIP LOCKED)`,
};

const addition: Record<Dialect, string> = { sqlite: additionOn('sqlite'), postgresql: additionOn('postgresql') };

/** The rows are locked in the order of their keys, so that two servers never wait for each other. */
function additionOn(dialect: Dialect): string {
  const least = dialect === 'sqlite' ? 'min' : 'least';
  return `${given[dialect]}
    INSERT INTO "RefusalSample" ("clientId", "cause", "step", "at", "count")
    SELECT n.id, n.cause, s.step, s.at, n.count FROM n JOIN c ON c.id = n.id CROSS JOIN s WHERE true ORDER BY n.id, n.cause, s.step
    ON CONFLICT ("clientId", "step", "at", "cause") DO UPDATE SET
      "count" = CAST(${least}("RefusalSample"."count" + excluded."count", ${Number.MAX_SAFE_INTEGER}) AS BIGINT)`;
}

/** Deletes the buckets that are older than the retention. @param at ms since the epoch */
export async function pruneRefusals(tx: Transaction, retention: TrafficRetention, at: number): Promise<void> {
  for (const step of ['minute', 'hour', 'day'] as const) {
    await tx.refusalSample.deleteMany({ where: { step, at: { lt: bucketAt('minute', at) - retention[step] * 1440 } } });
  }
}
