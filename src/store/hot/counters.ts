import { Prisma } from '../generated/sqlite/client.ts';
import type { Dialect } from '../migrations.ts';
import type { RunTransaction } from '../transaction.ts';
import { storedTime } from './stored-time.ts';
import { addTraffic } from './traffic.ts';

/**
 * Counters and last-seen data of the engine as absolute values, so that writing a batch twice counts it once. Bytes are totals since
 * the record was created. Values that the engine doesn't know ('' and null) leave the stored ones unchanged.
 */
export interface CounterBatch {
  readonly clients: readonly {
    readonly id: number;
    readonly connected: boolean;
    /** bytes in the last second */
    readonly rate: number;
    readonly address: string;
    readonly localAddress: string;
    readonly version: string;
    readonly inletBytes: number;
    readonly exportBytes: number;
    /** ms since the epoch */
    readonly lastOnlineAt: number | null;
  }[];
  readonly tunnels: readonly ({ readonly running: boolean } & Counted)[];
  /** Only the bytes are stored. */
  readonly hosts: readonly Counted[];
}

/** Whether a record in a batch is still current when the batch is written. */
export type IsCurrent = (resource: 'client' | 'tunnel' | 'host', id: number) => boolean;

interface Counted {
  readonly id: number;
  readonly inletBytes: number;
  readonly exportBytes: number;
}

/** Rows per statement: on SQLite nothing else runs during a statement. */
const batchSize = 2000;

/**
 * Writes a batch atomically, and adds its difference to the stored rows to the traffic series. Rows that were deleted in the
 * meantime are skipped. The cost is proportional to the rows in the batch.
 * @param at ms since the epoch @param isCurrent called in the transaction; rows that are not current are skipped
 */
export async function saveCounters(
  transaction: RunTransaction,
  dialect: Dialect,
  { clients, tunnels, hosts }: CounterBatch,
  at: number,
  isCurrent: IsCurrent = () => true,
): Promise<void> {
  if (clients.length === 0 && tunnels.length === 0 && hosts.length === 0) return;
  const clientRows = clients.map(({ lastOnlineAt, ...client }) => ({
    ...client,
    lastOnlineAt: lastOnlineAt === null ? null : storedTime(new Date(lastOnlineAt)),
  }));
  await transaction(async (tx) => {
    for (const rows of inBatches(clientRows.filter(({ id }) => isCurrent('client', id)))) {
      await addTraffic(tx, dialect, ['client', 'user', 'server'], rows, at);
      await tx.$executeRawUnsafe(clientUpdate[dialect], JSON.stringify(rows));
    }
    for (const rows of inBatches(tunnels.filter(({ id }) => isCurrent('tunnel', id)))) {
      await addTraffic(tx, dialect, ['tunnel'], rows, at);
      await tx.$executeRawUnsafe(routeUpdate(dialect, 'Tunnel'), JSON.stringify(rows));
    }
    for (const rows of inBatches(hosts.filter(({ id }) => isCurrent('host', id)))) {
      await addTraffic(tx, dialect, ['host'], rows, at);
      await tx.$executeRawUnsafe(routeUpdate(dialect, 'Host'), JSON.stringify(rows));
    }
  });
}

/** On PostgreSQL another session may have locked a single table: checks every table, without waiting. */
const lockAllTables = `LOCK TABLE ${Object.values(Prisma.ModelName).map((name) => `"${name}"`).join(', ')} IN ROW EXCLUSIVE MODE NOWAIT`;

/**
 * Sorts a megabyte with 64 KB of memory, for which PostgreSQL needs room on its disk. A small change alone may fit in pages that it already has.
 */
const useDisk = [
  "SET LOCAL work_mem = '64kB'",
  'SELECT count(*) FROM (SELECT repeat(md5(n::text), 4) AS text FROM generate_series(1, 8192) AS n ORDER BY text OFFSET 1) AS sorted',
];

/**
 * Makes a write without effect. It changes a value and restores it: SQLite skips a row that stays the same, so a full disk would go unnoticed.
 * @throws the database's error when it can't write at the moment, to any table
 */
export async function tryWrite(transaction: RunTransaction, dialect: Dialect): Promise<void> {
  await transaction(async (tx) => {
    if (dialect === 'postgresql') { for (const statement of [lockAllTables, ...useDisk]) await tx.$executeRawUnsafe(statement); }
    for (const change of ['+ 1', '- 1']) await tx.$executeRawUnsafe(`UPDATE "Total" SET value = value ${change} WHERE name = 'users'`);
  });
}

function* inBatches<Row>(rows: readonly Row[]): Generator<Row[]> {
  for (let start = 0; start < rows.length; start += batchSize) yield rows.slice(start, start + batchSize);
}

/** Clears the running state that the previous process left, in the rows that have any. */
export async function forgetRunningState(transaction: RunTransaction): Promise<void> {
  await transaction(async (tx) => {
    await tx.client.updateMany({ where: { connected: true }, data: { connected: false } });
    await tx.client.updateMany({ where: { rate: { gt: 0 } }, data: { rate: 0 } });
    await tx.tunnel.updateMany({ where: { running: true }, data: { running: false } });
  });
}

const clientSet = `"connected" = n."connected", "rate" = n."rate", "inletBytes" = n."inletBytes", "exportBytes" = n."exportBytes",
  "lastOnlineAt" = coalesce(n."lastOnlineAt", c."lastOnlineAt"),
  "lastAddress" = coalesce(nullif(n.address, ''), c."lastAddress"),
  "localAddress" = coalesce(nullif(n."localAddress", ''), c."localAddress"),
  "agentVersion" = coalesce(nullif(n.version, ''), c."agentVersion")`;

const clientUpdate: Record<Dialect, string> = {
  sqlite:
    `UPDATE "Client" AS c SET ${clientSet} FROM (SELECT value ->> 'id' AS id, value ->> 'connected' AS connected, value ->> 'rate' AS rate, value ->> 'address' AS address,
    value ->> 'localAddress' AS "localAddress", value ->> 'version' AS version, value ->> 'inletBytes' AS "inletBytes",
    value ->> 'exportBytes' AS "exportBytes", value ->> 'lastOnlineAt' AS "lastOnlineAt" FROM json_each(?)) AS n WHERE c.id = n.id`,
  postgresql: `UPDATE "Client" AS c SET ${clientSet} FROM jsonb_to_recordset($1::jsonb) AS n(id int, connected boolean, rate bigint, address text,
    "localAddress" text, version text, "inletBytes" bigint, "exportBytes" bigint, "lastOnlineAt" timestamp) WHERE c.id = n.id`,
};

function routeUpdate(dialect: Dialect, table: 'Tunnel' | 'Host'): string {
  const set = `"inletBytes" = n."inletBytes", "exportBytes" = n."exportBytes"${table === 'Tunnel' ? ', "running" = n."running"' : ''}`;
  return dialect === 'sqlite'
    ? `UPDATE "${table}" AS t SET ${set} FROM (SELECT value ->> 'id' AS id, value ->> 'running' AS running, value ->> 'inletBytes' AS "inletBytes",
      value ->> 'exportBytes' AS "exportBytes" FROM json_each(?)) AS n WHERE t.id = n.id`
    : `UPDATE "${table}" AS t SET ${set} FROM jsonb_to_recordset($1::jsonb)
      AS n(id int, running boolean, "inletBytes" bigint, "exportBytes" bigint) WHERE t.id = n.id`;
}
