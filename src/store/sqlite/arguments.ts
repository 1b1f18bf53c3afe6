import type { SqlQuery } from '@prisma/driver-adapter-utils';
import * as z from 'zod';
import type { SqliteValue } from './binding.ts';

const storable = z.union([z.string(), z.number(), z.bigint(), z.null(), z.instanceof(Uint8Array)]);

/** The values of a Prisma statement as SQLite stores them. Times are text in ISO 8601, which sorts chronologically. */
export function argumentsOf({ args, argTypes }: Pick<SqlQuery, 'args' | 'argTypes'>): SqliteValue[] {
  return args.map((value, index) => argument(value, argTypes[index]?.scalarType));
}

function argument(value: unknown, type: string | undefined): SqliteValue {
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value instanceof Date) return time(value);
  if (typeof value !== 'string') return storable.parse(value);
  switch (type) {
    case 'int':
      return Number.parseInt(value, 10);
    case 'float':
    case 'decimal':
      return Number.parseFloat(value);
    case 'bigint':
      return BigInt(value);
    case 'datetime':
      return time(new Date(value));
    case 'bytes':
      return Buffer.from(value, 'base64');
    default:
      return value;
  }
}

function time(value: Date): string {
  return value.toISOString().replace('Z', '+00:00');
}
