import { DriverAdapterError } from '@prisma/driver-adapter-utils';
import type { SqlDriverAdapter, SqlDriverAdapterFactory, SqlQuery, SqlResultSet, Transaction } from '@prisma/driver-adapter-utils';
import type { Savepoints } from '../transaction.ts';
import { argumentsOf } from './arguments.ts';
import type { RowSet } from './connection.ts';
import type { WriterRequest } from './protocol.ts';
import { StatementError, type WorkerLink } from './worker-link.ts';

/** The name in Prisma's messages. */
const adapterName = 'adit-sqlite';

/** The worker that writes, as the adapter uses it. */
export type WriterLink = Pick<WorkerLink<WriterRequest>, 'ask' | 'close'>;

/** Prisma's adapter for a SQLite file whose connections belong to a worker. */
export class SqliteAdapterFactory implements SqlDriverAdapterFactory, Savepoints {
  readonly provider = 'sqlite';
  readonly adapterName = adapterName;
  readonly #link: WriterLink;
  #adapter: SqliteAdapter | undefined;

  constructor(link: WriterLink) {
    this.#link = link;
  }

  async connect(): Promise<SqlDriverAdapter> {
    this.#adapter = new SqliteAdapter(this.#link);
    return this.#adapter;
  }

  /** Sent with the next statement: a separate call and message would cost a tenth of a small write. */
  async set(): Promise<void> {
    this.#adapter?.lastTransaction?.setSavepoint();
  }

  async undo(): Promise<void> {
    await this.#adapter?.lastTransaction?.undo();
  }
}

class SqliteAdapter implements SqlDriverAdapter {
  readonly provider = 'sqlite';
  readonly adapterName = adapterName;
  readonly #link: WriterLink;
  #lastNumber = 0;
  /** The writing transaction: there is only one at a time. */
  lastTransaction: SqliteTransaction | undefined;

  constructor(link: WriterLink) {
    this.#link = link;
  }

  async queryRaw(query: SqlQuery): Promise<SqlResultSet> {
    return resultOf(await asPrisma(this.#link.ask(readsOnly(query.sql) ? 'read' : 'query', query.sql, argumentsOf(query))));
  }

  executeRaw(query: SqlQuery): Promise<number> {
    return asPrisma(this.#link.ask('execute', query.sql, argumentsOf(query)));
  }

  executeScript(script: string): Promise<void> {
    return asPrisma(this.#link.ask('script', script));
  }

  /** SQLite's transactions are always serializable. */
  async startTransaction(): Promise<Transaction> {
    this.lastTransaction = new SqliteTransaction(this.#link, ++this.#lastNumber);
    return this.lastTransaction;
  }

  dispose(): Promise<void> {
    return this.#link.close();
  }
}

/** A transaction. Its first statement begins it, which saves a message. */
class SqliteTransaction implements Transaction {
  readonly provider = 'sqlite';
  readonly adapterName = adapterName;
  /** Prisma leaves COMMIT and ROLLBACK to the methods `commit` and `rollback`. */
  readonly options = { usePhantomQuery: true };
  readonly #link: WriterLink;
  readonly #number: number;
  /** A savepoint is set before the next statement. */
  #savepoint = false;
  #ended = false;

  constructor(link: WriterLink, number: number) {
    this.#link = link;
    this.#number = number;
  }

  async queryRaw(query: SqlQuery): Promise<SqlResultSet> {
    this.#check();
    return resultOf(await asPrisma(this.#link.ask('query', query.sql, argumentsOf(query), this.#number, this.#takeSavepoint())));
  }

  async executeRaw(query: SqlQuery): Promise<number> {
    this.#check();
    return asPrisma(this.#link.ask('execute', query.sql, argumentsOf(query), this.#number, this.#takeSavepoint()));
  }

  /** Sets a savepoint, so that later statements can be rolled back separately. */
  setSavepoint(): void {
    this.#savepoint = true;
  }

  /** Rolls back to the savepoint. */
  async undo(): Promise<void> {
    this.#check();
    if (this.#takeSavepoint() === undefined) await asPrisma(this.#link.ask('undo', this.#number));
  }

  #takeSavepoint(): true | undefined {
    if (!this.#savepoint) return undefined;
    this.#savepoint = false;
    return true;
  }

  commit(): Promise<void> {
    return this.#end('commit');
  }

  rollback(): Promise<void> {
    return this.#end('rollback');
  }

  async #end(how: 'commit' | 'rollback'): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    await asPrisma(this.#link.ask(how, this.#number));
  }

  /** A statement after the end would begin another transaction, which nobody would end. */
  #check(): void {
    if (this.#ended) throw new DriverAdapterError({ kind: 'TransactionAlreadyClosed', cause: 'its statement came after its end' });
  }
}

/** A SELECT can't write: SQLite's functions change nothing. Other statements may also be reads, and just wait for the writer. */
function readsOnly(sql: string): boolean {
  return /^\s*SELECT\b/i.test(sql);
}

function resultOf([columnNames, columnTypes, json]: RowSet): SqlResultSet {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Connection made it of arrays
  return { columnNames, columnTypes, rows: JSON.parse(json) as unknown[][] };
}

async function asPrisma<Result>(asked: Promise<Result>): Promise<Result> {
  try {
    return await asked;
  } catch (error) {
    const cause = error instanceof StatementError ? error.adapterError : undefined;
    throw cause === undefined ? error : new DriverAdapterError(cause);
  }
}
