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

/** Adds bytes to the counters of many rows; a sum is never negative. */
export async function addBytes(
  tx: Transaction,
  dialect: Dialect,
  table: 'Client' | 'Tunnel' | 'Host',
  rows: ReadonlyArray<{ readonly id: number; readonly inletBytes: number; readonly exportBytes: number }>,
): Promise<void> {
  const most = dialect === 'sqlite' ? 'max' : 'greatest';
  const set = ['inletBytes', 'exportBytes'].map((name) => `"${name}" = ${most}(0, t."${name}" + n."${name}")`).join(', ');
  const names = ['id', 'inletBytes', 'exportBytes'];
  await inBatches(tx, rows, `UPDATE "${table}" AS t SET ${set} FROM (${selectRows(dialect, table, names, true)}) AS n WHERE t.id = n.id`);
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
