import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3';
import type { IsolationLevel, SqlDriverAdapter, SqlDriverAdapterFactory, SqlQuery, Transaction } from '@prisma/driver-adapter-utils';
import { messageOf } from './errors.ts';

/**
 * What every connection has to be told. FULL makes an acknowledged change outlive a power cut: the adapter would leave it
 * at NORMAL, which in WAL mode may lose the last ones.
 */
export const connectionPragmas = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  PRAGMA busy_timeout = 5000;
  PRAGMA foreign_keys = ON;
`;

/**
 * Prisma's SQLite adapter with two gaps closed.
 *
 * Its transactions share the one connection with everything else: a write from elsewhere that arrives while one is open would
 * be part of it, and be lost with its rollback after it was acknowledged. Here it waits for the transaction's end.
 *
 * And a COMMIT that fails (disk full) would leave the connection inside its transaction, so that none could begin again. Here
 * the rest is rolled back.
 */
export class SqliteAdapterFactory implements SqlDriverAdapterFactory {
  readonly provider = 'sqlite';
  readonly adapterName: string;
  readonly #factory: PrismaBetterSqlite3;

  /** @param file path of the database file, or ':memory:' */
  constructor(file: string) {
    this.#factory = new PrismaBetterSqlite3({ url: file });
    this.adapterName = this.#factory.adapterName;
  }

  async connect(): Promise<SqlDriverAdapter> {
    const adapter = await this.#factory.connect();
    await adapter.executeScript(connectionPragmas);
    return new ExclusiveAdapter(adapter);
  }
}

class ExclusiveAdapter implements SqlDriverAdapter {
  readonly provider = 'sqlite';
  readonly adapterName: string;
  readonly #adapter: SqlDriverAdapter;
  /** Settles when the open transaction ends; undefined = none is open. Checked in each method: an `await` in between would open a gap. */
  #open: Promise<void> | undefined;

  constructor(adapter: SqlDriverAdapter) {
    this.#adapter = adapter;
    this.adapterName = adapter.adapterName;
  }

  async queryRaw(query: SqlQuery) {
    while (this.#open !== undefined) await this.#open;
    return this.#adapter.queryRaw(query);
  }

  async executeRaw(query: SqlQuery) {
    while (this.#open !== undefined) await this.#open;
    return this.#adapter.executeRaw(query);
  }

  async executeScript(script: string) {
    while (this.#open !== undefined) await this.#open;
    return this.#adapter.executeScript(script);
  }

  async dispose() {
    while (this.#open !== undefined) await this.#open;
    return this.#adapter.dispose();
  }

  async startTransaction(isolationLevel?: IsolationLevel): Promise<Transaction> {
    while (this.#open !== undefined) await this.#open;
    let end = () => {};
    this.#open = new Promise((resolve) => {
      end = () => {
        this.#open = undefined;
        resolve();
      };
    });
    try {
      return new ExclusiveTransaction(await this.#adapter.startTransaction(isolationLevel), end);
    } catch (error) {
      end();
      throw error;
    }
  }
}

class ExclusiveTransaction implements Transaction {
  readonly provider = 'sqlite';
  readonly adapterName: string;
  readonly options: Transaction['options'];
  readonly #transaction: Transaction;
  readonly #end: () => void;
  #ended = false;

  constructor(transaction: Transaction, end: () => void) {
    this.#transaction = transaction;
    this.#end = end;
    this.options = transaction.options;
    this.adapterName = transaction.adapterName;
  }

  queryRaw(query: SqlQuery) {
    return this.#transaction.queryRaw(query);
  }

  /** Prisma sends COMMIT and ROLLBACK as queries, then calls the method of that name. */
  async executeRaw(query: SqlQuery) {
    const changed = await this.#transaction.executeRaw(query);
    if (query.sql === 'COMMIT' || query.sql === 'ROLLBACK') this.#ended = true;
    return changed;
  }

  async commit() {
    await this.#transaction.commit();
    this.#end();
  }

  async rollback() {
    try {
      if (!this.#ended) await this.#transaction.executeRaw({ sql: 'ROLLBACK', args: [], argTypes: [] });
    } catch (error) {
      // SQLite rolls back by itself after some failures.
      if (!messageOf(error).includes('no transaction is active')) throw error;
    } finally {
      await this.#transaction.rollback();
      this.#end();
    }
  }
}
