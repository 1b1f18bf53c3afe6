import type { Dialect } from '../migrations.ts';
import type { Reading } from '../reading.ts';
import type { Transaction } from '../transaction.ts';

/*
 * The bytes of a record are in the table Counter, or in its own row if it has no counter. Lists are sorted by the columns of the rows, so that changing these is
 * expensive: they get the bytes of the counters once a minute, and before a list is sorted by them.
 */

/** The records whose bytes are counted. */
export type CounterKind = 'client' | 'tunnel' | 'host';

/** The table of the records themselves. */
export const tableOf = { client: 'Client', tunnel: 'Tunnel', host: 'Host' } as const satisfies Record<CounterKind, string>;

/** The totals of a record, in bytes since it was created. */
export interface CountedRecord {
  readonly id: number;
  readonly inletBytes: number;
  readonly exportBytes: number;
}

/** The greater of two numbers. */
export const greaterOf = { sqlite: 'max', postgresql: 'greatest' } as const satisfies Record<Dialect, string>;

/** A record that has more than the stored totals. */
export interface Growth extends CountedRecord {
  /** The client's owner; null = it has none, or this is no client. */
  readonly userId: number | null;
  /** What the totals have more than the stored ones. */
  readonly gainedInlet: number;
  readonly gainedExport: number;
}

/**
 * The records that have more than the stored totals, each with the greater ones. Totals only grow, but for a reset, which deletes the counter: lower ones are from before those that are
 * stored, and come from a server that was frozen, and is not the home of the client any more. Records that do not exist are left out.
 */
export async function growthOf(tx: Transaction, dialect: Dialect, kind: CounterKind, records: readonly CountedRecord[]): Promise<Growth[]> {
  const found = await tx.$queryRawUnsafe<ReadonlyArray<Record<keyof Growth, number | bigint | null>>>(growthQuery(dialect, kind), jsonOf(records));
  return found.map(({ userId, ...numbers }) => ({
    userId: userId === null ? null : Number(userId),
    id: Number(numbers.id),
    inletBytes: Number(numbers.inletBytes),
    exportBytes: Number(numbers.exportBytes),
    gainedInlet: Number(numbers.gainedInlet),
    gainedExport: Number(numbers.gainedExport),
  }));
}

/** Stores totals; the rows of the records stay as they are. */
export async function storeCounters(tx: Transaction, dialect: Dialect, kind: CounterKind, records: readonly CountedRecord[]): Promise<void> {
  if (records.length === 0) return;
  await tx.$executeRawUnsafe(
    `INSERT INTO "Counter" (kind, id, "inletBytes", "exportBytes") SELECT '${kind}', n.id, n."inletBytes", n."exportBytes" FROM ${
      given[dialect]
    } AS n WHERE true
    ORDER BY n.id ON CONFLICT (kind, id) DO UPDATE SET ${
      ['inletBytes', 'exportBytes'].map((name) => `"${name}" = ${greaterOf[dialect]}("Counter"."${name}", excluded."${name}")`).join(', ')
    }`,
    jsonOf(records),
  );
}

/** The totals of a client, its tunnels and its hosts; undefined = there is no such client. */
export async function storedTotals(db: Reading, clientId: number) {
  const select = { id: true, inletBytes: true, exportBytes: true } as const;
  const client = await db.client.findUnique({ where: { id: clientId }, select: { ...select, tunnels: { select }, hosts: { select } } });
  if (client === null) return undefined;
  const { tunnels, hosts } = client;
  const idsOf = (rows: ReadonlyArray<{ readonly id: number }>) => ({ in: rows.map(({ id }) => id) });
  const counters = await db.counter.findMany({
    where: { OR: [{ kind: 'client', id: clientId }, { kind: 'tunnel', id: idsOf(tunnels) }, { kind: 'host', id: idsOf(hosts) }] },
  });
  const newest = new Map(counters.map((row) => [`${row.kind} ${row.id}`, row]));
  const totals = (kind: CounterKind, row: { readonly id: number; readonly inletBytes: bigint; readonly exportBytes: bigint }): CountedRecord => {
    const { inletBytes, exportBytes } = newest.get(`${kind} ${row.id}`) ?? row;
    return { id: row.id, inletBytes: Number(inletBytes), exportBytes: Number(exportBytes) };
  };
  return {
    client: totals('client', client),
    tunnels: tunnels.map((row) => totals('tunnel', row)),
    hosts: hosts.map((row) => totals('host', row)),
  };
}

/** Brings the bytes in the rows of all records up to date. */
export async function countersToRows(tx: Transaction): Promise<void> {
  for (const [kind, table] of Object.entries(tableOf)) {
    await tx.$executeRawUnsafe(`UPDATE "${table}" AS t SET "inletBytes" = k."inletBytes", "exportBytes" = k."exportBytes" FROM "Counter" k
      WHERE k.kind = '${kind}' AND t.id = k.id AND (t."inletBytes" <> k."inletBytes" OR t."exportBytes" <> k."exportBytes")`);
  }
}

function jsonOf(records: readonly CountedRecord[]): string {
  return JSON.stringify(records.map(({ id, inletBytes, exportBytes }) => ({ id, inletBytes, exportBytes })));
}

const given: Record<Dialect, string> = {
  sqlite: `(SELECT value ->> 'id' AS id, value ->> 'inletBytes' AS "inletBytes", value ->> 'exportBytes' AS "exportBytes" FROM json_each(?))`,
  postgresql: `(SELECT * FROM jsonb_to_recordset($1::jsonb) AS r(id int, "inletBytes" bigint, "exportBytes" bigint))`,
};

function growthQuery(dialect: Dialect, kind: CounterKind): string {
  const greater = greaterOf[dialect];
  const stored = (name: string): string => `coalesce(k."${name}", t."${name}")`;
  return `SELECT n.id, ${greater}(n."inletBytes", ${stored('inletBytes')}) AS "inletBytes", ${greater}(n."exportBytes", ${
    stored('exportBytes')
  }) AS "exportBytes",
      ${kind === 'client' ? 't."userId"' : 'NULL'} AS "userId",
      ${greater}(n."inletBytes" - ${stored('inletBytes')}, 0) AS "gainedInlet", ${greater}(n."exportBytes" - ${stored('exportBytes')}, 0) AS "gainedExport"
    FROM ${given[dialect]} AS n JOIN "${tableOf[kind]}" t ON t.id = n.id LEFT JOIN "Counter" k ON k.kind = '${kind}' AND k.id = n.id
    WHERE n."inletBytes" > ${stored('inletBytes')} OR n."exportBytes" > ${stored('exportBytes')}`;
}
