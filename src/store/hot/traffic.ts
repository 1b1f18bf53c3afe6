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

/** A record's counters as they are now, in bytes since it was made. */
interface Counted {
  readonly id: number;
  readonly inletBytes: number;
  readonly exportBytes: number;
}

/**
 * Adds the difference between new counters and the stored rows to the series. Call it in the transaction that writes the rows, before they are written,
 * so that writing a batch twice counts it once.
 * @param at ms since the epoch
 */
export async function addTraffic(
  tx: Transaction,
  dialect: Dialect,
  resources: readonly TrafficResource[],
  counted: readonly Counted[],
  at: number,
): Promise<void> {
  const rows = JSON.stringify(counted.map(({ id, inletBytes, exportBytes }) => ({ id, inletBytes, exportBytes })));
  const buckets = [bucketAt('minute', at), bucketAt('hour', at), bucketAt('day', at)];
  for (const resource of resources) await tx.$executeRawUnsafe(addition(dialect, resource), rows, ...buckets);
}

const tables = { client: 'Client', user: 'Client', server: 'Client', tunnel: 'Tunnel', host: 'Host' } as const;

function addition(dialect: Dialect, resource: TrafficResource): string {
  const sqlite = dialect === 'sqlite';
  const given = sqlite
    ? `SELECT value ->> 'id' AS id, value ->> 'inletBytes' AS inlet, value ->> 'exportBytes' AS export FROM json_each(?)`
    : `SELECT id, "inletBytes" AS inlet, "exportBytes" AS export FROM jsonb_to_recordset($1::jsonb) AS r(id int, "inletBytes" bigint, "exportBytes" bigint)`;
  const buckets = sqlite ? `('minute', ?), ('hour', ?), ('day', ?)` : `('minute', $2::int), ('hour', $3::int), ('day', $4::int)`;
  // SQLite's sum() fails beyond 64 bits, but its total() doesn't; PostgreSQL's sum() is exact at any size.
  const sumOf = (bytes: string): string => `${sqlite ? 'total' : 'sum'}(${bytes})`;
  const key = resource === 'user' ? 'c."userId"' : resource === 'server' ? String(serverId) : 'c.id';
  const owned = resource === 'user' ? 'c."userId" IS NOT NULL AND ' : '';
  return `WITH n AS (${given}), s(step, at) AS (VALUES ${buckets})
    INSERT INTO "TrafficSample" ("resource", "resourceId", "step", "at", "inletBytes", "exportBytes")
    SELECT '${resource}', ${key}, s.step, s.at, ${bounded(dialect, sumOf('n.inlet - c."inletBytes"'))}, ${bounded(dialect, sumOf('n.export - c."exportBytes"'))}
    FROM n JOIN "${tables[resource]}" c ON c.id = n.id CROSS JOIN s
    WHERE ${owned}(n.inlet > c."inletBytes" OR n.export > c."exportBytes")
    GROUP BY ${resource === 'server' ? '' : `${key}, `}s.step, s.at
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
