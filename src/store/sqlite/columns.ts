import type { ColumnType, ColumnTypeEnum } from '@prisma/driver-adapter-utils';
import type { SqliteColumn } from './binding.ts';

/** Prisma's numbers for types, without its package: a database worker loads nothing of Prisma. */
const types = {
  Int32: 0,
  Int64: 1,
  Float: 2,
  Double: 3,
  Numeric: 4,
  Boolean: 5,
  Text: 7,
  Date: 8,
  Time: 9,
  DateTime: 10,
  Json: 11,
  Bytes: 13,
  UnknownNumber: 128,
} as const satisfies Partial<typeof ColumnTypeEnum>;

const declaredTypes = new Map<string, ColumnType>([
  ['DECIMAL', types.Numeric],
  ['FLOAT', types.Float],
  ...['DOUBLE', 'DOUBLE PRECISION', 'NUMERIC', 'REAL'].map((name): [string, ColumnType] => [name, types.Double]),
  ...['TINYINT', 'SMALLINT', 'MEDIUMINT', 'INT', 'INTEGER', 'SERIAL', 'INT2'].map((name): [string, ColumnType] => [name, types.Int32]),
  ...['BIGINT', 'UNSIGNED BIG INT', 'INT8'].map((name): [string, ColumnType] => [name, types.Int64]),
  ...['DATETIME', 'TIMESTAMP'].map((name): [string, ColumnType] => [name, types.DateTime]),
  ['TIME', types.Time],
  ['DATE', types.Date],
  ...['TEXT', 'CLOB', 'CHARACTER', 'VARCHAR', 'VARYING CHARACTER', 'NCHAR', 'NATIVE CHARACTER', 'NVARCHAR'].map((
    name,
  ): [string, ColumnType] => [name, types.Text]),
  ['BLOB', types.Bytes],
  ['BOOLEAN', types.Boolean],
  ['JSONB', types.Json],
]);

/** The types of columns as declared by the tables; undefined = an expression. */
export function typesOf(columns: readonly SqliteColumn[]): readonly (ColumnType | undefined)[] {
  return columns.map(({ type }) => type === null ? undefined : declaredTypes.get(type.toUpperCase()));
}

/** Adds the types of columns that no table declares, from their first values. */
export function completeTypes(declared: readonly (ColumnType | undefined)[], rows: readonly (readonly unknown[])[]): ColumnType[] {
  return declared.map((type, index) => type ?? typeOfValue(rows.find((row) => row[index] !== null)?.[index]));
}

function typeOfValue(value: unknown): ColumnType {
  if (typeof value === 'string') return types.Text;
  if (typeof value === 'bigint') return types.Int64;
  if (typeof value === 'number') return types.UnknownNumber;
  return types.Int32;
}

/** A column's value in JSON, in the form that Prisma expects from an adapter. @throws for a BLOB: no table has one */
export function toJson(value: unknown, type: ColumnType | undefined): string | number | null {
  if (value === null || typeof value === 'string') return value;
  if (typeof value !== 'number' && typeof value !== 'bigint') throw new TypeError('a BLOB was read, which no column of the program holds');
  if (type === types.DateTime) return new Date(Number(value)).toISOString();
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  return (type === types.Int32 || type === types.Int64) && !Number.isInteger(value) ? Math.trunc(value) : value;
}
