import type { SqliteValue } from './binding.ts';
import { isBusy } from './codes.ts';
import type { ManyRowsQuery } from '../hot/many-rows.ts';
import { Connection } from './connection.ts';
import { HotConnection } from './hot-connection.ts';
import type { Table, WriterRequest } from './protocol.ts';
import { settle, type Reply } from './reply.ts';
import { Transactions } from './transactions.ts';
import { WriteQueue } from './write-queue.ts';

/**
 * The settings of every writing connection. With FULL, an acknowledged change survives a power failure; in WAL mode, NORMAL may lose the last changes.
 * The rollback data of statements and savepoints stays in memory: a new tunnel touches more than the 64 KB of pages beyond which SQLite would create a
 * temporary file each time, at twice the CPU of the insert.
 */
const pragmas = 'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;';

/** How long opening waits for another process's lock, in ms: nothing else needs this thread yet. */
const OPEN_MS = 5000;

/**
 * The only writing connection of a database file, and a second one for reads outside of transactions, which don't wait for any transaction. Blocks
 * its thread while a statement runs, but never for a lock.
 */
export class Writer {
  readonly #writing: Connection;
  readonly #file: string;
  readonly #reading: Connection;
  /** For whole tables, which are read at the start; undefined while nobody does. */
  #hot: HotConnection | undefined;
  readonly #queue: WriteQueue;
  readonly #transactions: Transactions;

  /**
   * @param guarded runs the work of a timer
   * @throws SQLite's error when the file can't be opened
   */
  constructor(file: string, guarded: (work: () => void) => void) {
    this.#file = file;
    this.#queue = new WriteQueue({ isBusy, guarded });
    this.#writing = new Connection(file, { busyMs: OPEN_MS });
    this.#writing.database.exec(`${pragmas} PRAGMA busy_timeout = 0;`);
    this.#reading = new Connection(file, { readOnly: true });
    this.#transactions = new Transactions(this.#writing, this.#queue);
  }

  serve(request: WriterRequest, reply: Reply): void {
    switch (request[0]) {
      case 'read': {
        const [, sql, args] = request;
        return settle(reply, () => this.#reading.rows(sql, args));
      }
      case 'table': {
        const [, query, values] = request;
        return settle(reply, () => this.#table(query, values));
      }
      case 'query':
      case 'execute': {
        const [what, sql, args, transaction, behindSavepoint] = request;
        const run = () => {
          if (behindSavepoint) this.#writing.execute('SAVEPOINT write', []);
          return what === 'query' ? this.#writing.rows(sql, args) : this.#writing.execute(sql, args);
        };
        return transaction === undefined ? this.#write(reply, run) : this.#transactions.run(transaction, reply, run);
      }
      case 'script': {
        const [, sql] = request;
        return this.#write(reply, () => this.#writing.database.exec(sql));
      }
      case 'undo':
        return this.#transactions.run(request[1], reply, () => {
          this.#writing.execute('ROLLBACK TO SAVEPOINT write', []);
        });
      case 'commit':
        return this.#transactions.commit(request[1], reply);
      case 'rollback':
        return this.#transactions.rollback(request[1], reply);
      case 'close':
        return this.#write(reply, () => {
          this.#hot?.close();
          this.#reading.close();
          this.#writing.close();
        });
    }
  }

  #table(query: Omit<ManyRowsQuery, 'values'>, values: readonly SqliteValue[]): Table {
    this.#hot ??= new HotConnection(this.#file);
    return this.#hot.manyRows(query, values);
  }

  #write(reply: Reply, run: () => unknown): void {
    this.#queue.add({
      start: () => {
        const result = run();
        this.#queue.done();
        reply.resolve(result);
      },
      refuse: (error) => reply.reject(error),
    });
  }
}
