import { randomUUID } from 'node:crypto';
import type { Dialect } from '../migrations.ts';
import type { Transaction } from '../transaction.ts';
import { storedTime } from './stored-time.ts';

/** Rows per statement: on SQLite nothing else runs during a statement. */
const batchSize = 500;

/** A table that is written in bulk. */
type BulkTable = 'User' | 'Client' | 'Tunnel' | 'Host' | 'PlatformDomain' | 'ApiToken' | 'ImportedRecord';

/**
 * Adds many rows, in a twentieth of the time of Prisma's createMany.
 * @param rows all with the same columns
 */
export async function insertRows(tx: Transaction, dialect: Dialect, table: BulkTable, rows: readonly object[]): Promise<void> {
  const names = Object.keys(rows[0] ?? {});
  const columns = quoted(names);
  await inBatches(tx, rows, `INSERT INTO "${table}" (${columns}) ${selectRows(dialect, table, names)}`);
}

/** Replaces columns of many rows. @param key the columns that identify a row; the others are replaced */
export async function updateRows(tx: Transaction, dialect: Dialect, table: BulkTable, rows: readonly object[], key: readonly string[] = ['id']): Promise<void> {
  const names = Object.keys(rows[0] ?? {});
  const set = names.filter((name) => !key.includes(name)).map((name) => `"${name}" = n."${name}"`).join(', ');
  const same = key.map((name) => `t."${name}" = n."${name}"`).join(' AND ');
  await inBatches(tx, rows, `UPDATE "${table}" AS t SET ${set} FROM (${selectRows(dialect, table, names, true)}) AS n WHERE ${same}`);
}

/** The column of each table in which no two rows may have the same value. */
const uniqueColumns = { User: 'username', Client: 'vkey', Tunnel: 'password', Host: 'platformPrefix', PlatformDomain: 'wildcard' } as const;

/** Gives rows another unique value until they are updated: otherwise two rows could not exchange theirs. */
export async function releaseUnique(tx: Transaction, dialect: Dialect, table: keyof typeof uniqueColumns, ids: ReadonlyArray<number | string>): Promise<void> {
  if (ids.length === 0) return;
  const id = table === 'PlatformDomain' ? 'value' : dialect === 'sqlite' ? 'CAST(value AS INTEGER)' : 'value::int';
  const listed = dialect === 'sqlite' ? 'json_each(?)' : 'jsonb_array_elements_text($1::jsonb)';
  // The name of a random number that nobody has chosen.
  const set = `"${uniqueColumns[table]}" = '${randomUUID()} ' || id`;
  await tx.$executeRawUnsafe(`UPDATE "${table}" SET ${set} WHERE id IN (SELECT ${id} FROM ${listed})`, JSON.stringify(ids.map(String)));
}

/** Adds bytes to the totals of many records, which are in their rows afterwards. A sum is never negative, and never beyond what a number holds exactly. */
export async function addBytes(
  tx: Transaction,
  dialect: Dialect,
  table: 'Client' | 'Tunnel' | 'Host',
  rows: ReadonlyArray<{ readonly id: number; readonly inletBytes: number; readonly exportBytes: number }>,
): Promise<void> {
  const [most, least] = dialect === 'sqlite' ? ['max', 'min'] : ['greatest', 'least'];
  const kind = table.toLowerCase();
  const sumOf = (name: string): string => `coalesce(n."counted_${name}", t."${name}") + n."${name}"`;
  const set = ['inletBytes', 'exportBytes'].map((name) => `"${name}" = ${least}(${Number.MAX_SAFE_INTEGER}, ${most}(0, ${sumOf(name)}))`).join(', ');
  const counted = ['inletBytes', 'exportBytes'].map((name) => `k."${name}" AS "counted_${name}"`).join(', ');
  const given = selectRows(dialect, table, ['id', 'inletBytes', 'exportBytes'], true);
  await inBatches(
    tx,
    rows,
    `UPDATE "${table}" AS t SET ${set} FROM (SELECT r.*, ${counted} FROM (${given}) AS r LEFT JOIN "Counter" k ON k.kind = '${kind}' AND k.id = r.id) AS n WHERE t.id = n.id`,
  );
  await inBatches(tx, rows, `DELETE FROM "Counter" WHERE kind = '${kind}' AND id IN (SELECT r.id FROM (${given}) AS r)`);
}

/** Makes sure that new rows get ids above this one. */
export async function reserveIds(tx: Transaction, dialect: Dialect, table: 'User' | 'Client' | 'Tunnel' | 'Host', highest: number): Promise<void> {
  if (highest < 1) return;
  if (dialect === 'sqlite') {
    await tx.$executeRawUnsafe(
      'INSERT INTO sqlite_sequence (name, seq) SELECT ?, 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?)',
      table,
      table,
    );
    await tx.$executeRawUnsafe('UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?', highest, table);
    return;
  }
  const sequence = `pg_get_serial_sequence('"${table}"', 'id')`;
  await tx.$queryRawUnsafe(`SELECT setval(${sequence}, greatest($1::int, (SELECT last_value FROM "${table}_id_seq"), 1))`, highest);
}

function selectRows(dialect: Dialect, table: BulkTable, names: readonly string[], named = false): string {
  if (dialect === 'postgresql') return `SELECT ${quoted(names)} FROM jsonb_populate_recordset(NULL::"${table}", $1::jsonb)`;
  return `SELECT ${names.map((name) => `value ->> '${name}'${named ? ` AS "${name}"` : ''}`).join(', ')} FROM json_each(?)`;
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ');
}

async function inBatches(tx: Transaction, rows: readonly object[], sql: string): Promise<void> {
  for (let start = 0; start < rows.length; start += batchSize) {
    await tx.$executeRawUnsafe(sql, JSON.stringify(rows.slice(start, start + batchSize).map(plain)));
  }
}

/** A row as JSON: times as the adapters store them, and counters as numbers. */
function plain(row: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map((
      [name, value]: [string, unknown],
    ) => [name, value instanceof Date ? storedTime(value) : typeof value === 'bigint' ? Number(value) : value]),
  );
}
