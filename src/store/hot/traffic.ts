import type { Dialect } from '../migrations.ts';
import type { Transaction } from '../transaction.ts';

/** What bytes are counted for. A user's bytes are those of the clients that the user owns at that moment, the server's those of all clients. */
export type TrafficResource = 'client' | 'tunnel' | 'host' | 'user' | 'server';

/** The id of the server's series. */
export const serverId = 0;

/** The length of the buckets of a series. They begin at whole multiples of it, in UTC. */
export const trafficSteps = { minute: 1, hour: 60, day: 1440 } as const;

/** The length of a series' buckets. */
export type TrafficStep = keyof typeof trafficSteps;

/** The bucket that a moment lies in. @param at ms since the epoch @returns its beginning, in minutes since 1970 */
export function bucketAt(step: TrafficStep, at: number): number {
  const minute = Math.floor(at / 60_000);
  return minute - minute % trafficSteps[step];
}

/** Bytes to add to a series. */
export interface TrafficGain {
  readonly resource: TrafficResource;
  readonly id: number;
  readonly inletBytes: number;
  readonly exportBytes: number;
}

/** Gains per statement: on SQLite nothing else runs during a statement. */
const batchSize = 2000;

/** Adds bytes to the series. @param gains at most one for each series @param at ms since the epoch */
export async function addTraffic(tx: Transaction, dialect: Dialect, gains: readonly TrafficGain[], at: number): Promise<void> {
  const buckets = [bucketAt('minute', at), bucketAt('hour', at), bucketAt('day', at)];
  for (let start = 0; start < gains.length; start += batchSize) {
    await tx.$executeRawUnsafe(addition[dialect], JSON.stringify(gains.slice(start, start + batchSize)), ...buckets);
  }
}

const given: Record<Dialect, string> = {
  sqlite:
    `WITH n AS (SELECT value ->> 'resource' AS resource, value ->> 'id' AS id, value ->> 'inletBytes' AS inlet, value ->> 'exportBytes' AS export FROM json_each(?)),
    s(step, at) AS (VALUES ('minute', ?), ('hour', ?), ('day', ?))`,
  postgresql: `WITH n AS (SELECT resource, id, "inletBytes" AS inlet, "exportBytes" AS export
      FROM jsonb_to_recordset($1::jsonb) AS r(resource text, id int, "inletBytes" bigint, "exportBytes" bigint)),
    s(step, at) AS (VALUES ('minute', $2::int), ('hour', $3::int), ('day', $4::int))`,
};

const addition: Record<Dialect, string> = { sqlite: additionOn('sqlite'), postgresql: additionOn('postgresql') };

/** The rows are locked in the order of their keys, so that two servers never wait for each other. */
function additionOn(dialect: Dialect): string {
  return `${given[dialect]}
    INSERT INTO "TrafficSample" ("resource", "resourceId", "step", "at", "inletBytes", "exportBytes")
    SELECT n.resource, n.id, s.step, s.at, n.inlet, n.export FROM n CROSS JOIN s WHERE true ORDER BY n.resource, n.id, s.step
    ON CONFLICT ("resource", "resourceId", "step", "at") DO UPDATE SET
      "inletBytes" = ${grown(dialect, 'inletBytes')}, "exportBytes" = ${grown(dialect, 'exportBytes')}`;
}

/** The sum with any stored value; both are limited, so that the sum fits 64 bits. */
function grown(dialect: Dialect, column: string): string {
  return bounded(dialect, `${bounded(dialect, `"TrafficSample"."${column}"`)} + excluded."${column}"`);
}

/** Limits a sum to the range of a counter (rules/byte-count.ts). */
function bounded(dialect: Dialect, sum: string): string {
  const [least, greatest] = dialect === 'sqlite' ? ['min', 'max'] : ['least', 'greatest'];
  return `CAST(${least}(${greatest}(${sum}, 0), ${Number.MAX_SAFE_INTEGER}) AS BIGINT)`;
}

/** How long buckets of each length are kept, in days. */
export type TrafficRetention = Readonly<Record<TrafficStep, number>>;

/** Deletes the buckets that are older than the retention. @param at ms since the epoch */
export async function pruneTraffic(tx: Transaction, retention: TrafficRetention, at: number): Promise<void> {
  for (const step of ['minute', 'hour', 'day'] as const) {
    await tx.trafficSample.deleteMany({ where: { step, at: { lt: bucketAt('minute', at) - retention[step] * 1440 } } });
  }
}
