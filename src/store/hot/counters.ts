import { Prisma } from '../generated/sqlite/client.ts';
import type { Dialect } from '../migrations.ts';
import type { RunTransaction, Transaction } from '../transaction.ts';
import { type CountedRecord, type CounterKind, countersToRows, type Growth, greaterOf, growthOf, storeCounters, tableOf } from './counter-table.ts';
import { storedTime } from './stored-time.ts';
import { addTraffic, serverId, type TrafficGain, type TrafficResource } from './traffic.ts';

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
    /** that are open */
    readonly connections: number;
    readonly address: string;
    readonly localAddress: string;
    readonly version: string;
    readonly inletBytes: number;
    readonly exportBytes: number;
    /** ms since the epoch */
    readonly lastOnlineAt: number | null;
  }[];
  readonly tunnels: readonly ({ readonly running: boolean } & MovingRecord)[];
  readonly hosts: readonly MovingRecord[];
}

/** A tunnel or host; `rate` and `connections` as in clients. */
type MovingRecord = CountedRecord & Pick<CounterBatch['clients'][number], 'rate' | 'connections'>;

/** Whether a record in a batch is still current when the batch is written. */
type IsCurrent = (resource: CounterKind, id: number) => boolean;

/** How a batch is written. */
export interface SaveOptions {
  /** Called first in the transaction. @throws if the counters can't be stored at the moment */
  readonly mayCount?: (tx: Transaction) => Promise<void>;
  /** The name of this server, which becomes that of the rows of clients; "" = SQLite. */
  readonly node?: string;
  /** Called in the transaction; rows that are not current are skipped. Absent = all are. */
  readonly isCurrent?: IsCurrent;
  /**
   * Whether the rows that lists are sorted by get everything, which changes several indexes. False = bytes only go to the table of counters, and only rows whose
   * other values have changed are written.
   */
  readonly rows?: boolean;
}

/** Rows per statement: on SQLite nothing else runs during a statement. */
const batchSize = 2000;

/**
 * Writes a batch atomically, and adds its difference to the stored counters to the traffic series. Rows that were deleted in the
 * meantime are skipped. The cost is proportional to the rows in the batch.
 * @param at ms since the epoch
 */
export async function saveCounters(
  transaction: RunTransaction,
  dialect: Dialect,
  { clients, tunnels, hosts }: CounterBatch,
  at: number,
  { isCurrent = () => true, rows = true, node = '', mayCount }: SaveOptions = {},
): Promise<void> {
  if (clients.length === 0 && tunnels.length === 0 && hosts.length === 0) return;
  await transaction(async (tx) => {
    await mayCount?.(tx);
    const current: Readonly<Record<CounterKind, readonly CountedRecord[]>> = {
      client: clients.filter(({ id }) => isCurrent('client', id)).map((client) => clientRow(client, node)),
      tunnel: tunnels.filter(({ id }) => isCurrent('tunnel', id)),
      host: hosts.filter(({ id }) => isCurrent('host', id)),
    };
    for (const kind of ['client', 'tunnel', 'host'] as const) {
      for (const batch of inBatches(current[kind])) {
        const growth = await growthOf(tx, dialect, kind, batch);
        await addTraffic(tx, dialect, gainsOf(kind, growth), at);
        await storeCounters(tx, dialect, kind, growth);
        if (kind !== 'host' || rows) await tx.$executeRawUnsafe(rowUpdate(dialect, kind, rows), JSON.stringify(batch));
      }
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

/**
 * The running state that ended servers left is cleared, in the rows that have any, and the bytes in rows become those that were counted last.
 * @param alive the names of the servers that are running, which maintain their rows themselves
 */
export async function forgetRunningState(transaction: RunTransaction, alive: readonly string[]): Promise<void> {
  await transaction(async (tx) => {
    const left = { node: { notIn: [...alive] } };
    await tx.client.updateMany({ where: { connected: true, ...left }, data: { connected: false } });
    const moving = { OR: [{ rate: { gt: 0 } }, { connections: { gt: 0 } }] };
    const still = { rate: 0, connections: 0 };
    await tx.client.updateMany({ where: { ...moving, ...left }, data: still });
    await tx.tunnel.updateMany({ where: { running: true, client: left }, data: { running: false } });
    await tx.tunnel.updateMany({ where: { ...moving, client: left }, data: still });
    await tx.host.updateMany({ where: { ...moving, client: left }, data: still });
    if (alive.length === 0) await countersToRows(tx);
  });
}

/** A client as the statement takes it. */
function clientRow(
  { lastOnlineAt, ...client }: CounterBatch['clients'][number],
  node: string,
): CountedRecord & { readonly node: string; readonly lastOnlineAt: string | null } {
  return { ...client, node, lastOnlineAt: lastOnlineAt === null ? null : storedTime(new Date(lastOnlineAt)) };
}

/** What a batch adds to the series of its records; clients also add to those of their owners and of the server. */
function gainsOf(kind: CounterKind, growth: readonly Growth[]): TrafficGain[] {
  const gains = new Map<string, TrafficGain>();
  const add = (resource: TrafficResource, id: number, { gainedInlet, gainedExport }: Growth): void => {
    const { inletBytes, exportBytes } = gains.get(`${resource} ${id}`) ?? { inletBytes: 0, exportBytes: 0 };
    gains.set(`${resource} ${id}`, { resource, id, inletBytes: sumOf(inletBytes, gainedInlet), exportBytes: sumOf(exportBytes, gainedExport) });
  };
  for (const one of growth) {
    if (one.gainedInlet + one.gainedExport === 0) continue;
    add(kind, one.id, one);
    if (kind !== 'client') continue;
    if (one.userId !== null) add('user', one.userId, one);
    add('server', serverId, one);
  }
  return [...gains.values()];
}

/** A sum within the range of a counter (rules/byte-count.ts). */
function sumOf(one: number, other: number): number {
  return Math.min(one + other, Number.MAX_SAFE_INTEGER);
}

/** Adds the bytes that a record's counters have beyond the stored ones to the traffic series. */
export async function countTraffic(tx: Transaction, dialect: Dialect, kind: CounterKind, counters: CountedRecord, at: number): Promise<void> {
  await addTraffic(tx, dialect, gainsOf(kind, await growthOf(tx, dialect, kind, [counters])), at);
}

/** Bytes only grow, as in the counters. */
const clientSet = (dialect: Dialect): string =>
  `"connected" = n."connected", "node" = n.node, "rate" = n."rate", "connections" = n."connections",
  "inletBytes" = ${greaterOf[dialect]}(c."inletBytes", n."inletBytes"), "exportBytes" = ${greaterOf[dialect]}(c."exportBytes", n."exportBytes"),
  "lastOnlineAt" = coalesce(n."lastOnlineAt", c."lastOnlineAt"),
  "lastAddress" = coalesce(nullif(n.address, ''), c."lastAddress"),
  "localAddress" = coalesce(nullif(n."localAddress", ''), c."localAddress"),
  "agentVersion" = coalesce(nullif(n.version, ''), c."agentVersion")`;

/** Something of a client that is rarely different is. */
const clientChanged =
  `(c."connected" <> n."connected" OR c."node" <> n.node OR n.address NOT IN ('', c."lastAddress") OR n."localAddress" NOT IN ('', c."localAddress")
  OR n.version NOT IN ('', c."agentVersion"))`;

const clientUpdate: Record<Dialect, string> = {
  sqlite: `UPDATE "Client" AS c SET ${
    clientSet('sqlite')
  } FROM (SELECT value ->> 'id' AS id, value ->> 'connected' AS connected, value ->> 'rate' AS rate, value ->> 'connections' AS connections, value ->> 'address' AS address,
    value ->> 'localAddress' AS "localAddress", value ->> 'version' AS version, value ->> 'node' AS node, value ->> 'inletBytes' AS "inletBytes",
    value ->> 'exportBytes' AS "exportBytes", value ->> 'lastOnlineAt' AS "lastOnlineAt" FROM json_each(?)) AS n WHERE c.id = n.id`,
  postgresql: `UPDATE "Client" AS c SET ${
    clientSet('postgresql')
  } FROM jsonb_to_recordset($1::jsonb) AS n(id int, connected boolean, rate bigint, connections int, address text,
    "localAddress" text, version text, node text, "inletBytes" bigint, "exportBytes" bigint, "lastOnlineAt" timestamp) WHERE c.id = n.id`,
};

/** @param all false = only rows in which something other than the bytes has changed */
function rowUpdate(dialect: Dialect, kind: CounterKind, all: boolean): string {
  if (kind === 'client') return all ? clientUpdate[dialect] : `${clientUpdate[dialect]} AND ${clientChanged}`;
  const table = tableOf[kind];
  const running = kind === 'tunnel' ? ['running'] : [];
  const bytes = ['inletBytes', 'exportBytes'];
  const others = [...running, 'rate', 'connections'];
  const columns = [...others, ...bytes];
  const set = [
    ...others.map((name) => `"${name}" = n."${name}"`),
    ...bytes.map((name) => `"${name}" = ${greaterOf[dialect]}(t."${name}", n."${name}")`),
  ].join(', ');
  const changed = [
    ...(all ? others : running).map((name) => `t."${name}" <> n."${name}"`),
    ...(all ? bytes : []).map((name) => `t."${name}" < n."${name}"`),
  ].join(' OR ');
  const rows = dialect === 'sqlite'
    ? `(SELECT ${['id', ...columns].map((name) => `value ->> '${name}' AS "${name}"`).join(', ')} FROM json_each(?)) AS n`
    : `jsonb_to_recordset($1::jsonb) AS n(id int, running boolean, rate bigint, connections int, "inletBytes" bigint, "exportBytes" bigint)`;
  return `UPDATE "${table}" AS t SET ${set} FROM ${rows} WHERE t.id = n.id AND (${changed})`;
}
