import type { Error as AdapterError } from '@prisma/driver-adapter-utils';
import { messageOf } from '../errors.ts';
import { primaryCode, sqliteCode, sqliteCodes } from './codes.ts';

/** A text with a NUL, which the driver would cut there and PostgreSQL refuses. */
export class NulError extends Error {
  override readonly name = 'NulError';

  constructor() {
    super('a text for the database holds a NUL character');
  }
}

/** An error as a message between threads. */
export interface Failure {
  readonly message: string;
  /** SQLite's extended code; absent = not an error of SQLite. */
  readonly errcode?: number;
  readonly nul?: true;
  /** A search reached its time limit, or rows have too much text. */
  readonly tooLong?: true;
}

/** A search reached its time limit, or rows have too much text. */
export class TooLongError extends Error {
  override readonly name = 'TooLongError';
}

/** Converts an error to a message. */
export function failureOf(error: unknown): Failure {
  const message = messageOf(error);
  if (error instanceof NulError) return { message, nul: true };
  if (error instanceof TooLongError) return { message, tooLong: true };
  return { message, errcode: sqliteCode(error) };
}

/** An error in the form that Prisma needs for its codes (P2002, P2003, P2011 and so on); undefined = not a database's. */
export function adapterError({ message, errcode, nul }: Failure): AdapterError | undefined {
  if (nul) return { kind: 'InvalidInputValue', message };
  if (errcode === undefined) return undefined;
  return { originalCode: String(errcode), originalMessage: message, ...kindOf(errcode, message) };
}

function kindOf(errcode: number, message: string): AdapterError {
  switch (errcode) {
    case sqliteCodes.constraintUnique:
    case sqliteCodes.constraintPrimaryKey: {
      const columns = columnsOf(message);
      const table = columns?.[0]?.split('.').slice(0, -1).join('.');
      return { kind: 'UniqueConstraintViolation', constraint: fieldsOf(columns), table: table === '' ? undefined : table };
    }
    case sqliteCodes.constraintNotNull:
      return { kind: 'NullConstraintViolation', constraint: fieldsOf(columnsOf(message)) };
    case sqliteCodes.constraintForeignKey:
    case sqliteCodes.constraintTrigger:
      return { kind: 'ForeignKeyConstraintViolation', constraint: { foreignKey: {} } };
    default:
      break;
  }
  const missing = /^no such (table|column): (.*)|has no column named (.*)/.exec(message);
  if (missing) return missing[1] === 'table' ? { kind: 'TableDoesNotExist', table: missing[2] } : { kind: 'ColumnNotFound', column: missing[2] ?? missing[3] };
  if (primaryCode(errcode) === sqliteCodes.busy) return { kind: 'SocketTimeout' };
  return { kind: 'sqlite', extendedCode: errcode, message };
}

/** The columns in a constraint error's message: `Client.vkey, Client.id`. */
function columnsOf(message: string): string[] | undefined {
  return message.split('constraint failed: ')[1]?.split(', ');
}

function fieldsOf(columns: string[] | undefined): { fields: string[] } | undefined {
  return columns && { fields: columns.map((column) => column.slice(column.lastIndexOf('.') + 1)) };
}
