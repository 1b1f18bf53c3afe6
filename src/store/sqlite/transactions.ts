import type { Connection } from './connection.ts';
import type { Reply } from './reply.ts';
import type { WriteQueue } from './write-queue.ts';

interface Transaction {
  /** 'failed': it could not begin, or SQLite rolled it back. */
  state: 'waiting' | 'open' | 'failed' | 'ended';
  /** It owns the connection. */
  holds: boolean;
  /** Steps that were requested before it could begin. */
  readonly steps: Array<() => void>;
  /** Why it failed. */
  error?: unknown;
}

/**
 * Transactions by number. A transaction begins with its first statement, with BEGIN IMMEDIATE, so that it never fails halfway because of a lock.
 * Statements that arrive while it waits for the connection run when it gets the connection.
 */
export class Transactions {
  readonly #connection: Connection;
  readonly #queue: WriteQueue;
  readonly #all = new Map<number, Transaction>();

  constructor(connection: Connection, queue: WriteQueue) {
    this.#connection = connection;
    this.#queue = queue;
  }

  /** Runs a statement inside a transaction. */
  run(number: number, reply: Reply, statement: () => unknown): void {
    const transaction = this.#all.get(number) ?? this.#begin(number);
    this.#step(transaction, () => {
      if (transaction.state === 'failed') return reply.reject(transaction.error);
      let result: unknown;
      try {
        result = statement();
      } catch (error) {
        // After some failures, such as a full disk, SQLite has rolled back: the next statement would run outside the transaction.
        if (!this.#connection.database.isTransaction) this.#fail(transaction, error);
        return reply.reject(error);
      }
      reply.resolve(result);
    });
  }

  /** Commits; a transaction without statements has nothing to commit. If the commit fails, the transaction is rolled back. */
  commit(number: number, reply: Reply): void {
    const transaction = this.#all.get(number);
    if (transaction === undefined) return reply.resolve();
    this.#step(transaction, () => {
      const { state, error } = transaction;
      if (state === 'failed') {
        this.#end(number, transaction);
        return reply.reject(error);
      }
      try {
        this.#connection.execute('COMMIT', []);
        reply.resolve();
      } catch (failure) {
        reply.reject(failure);
      } finally {
        this.#end(number, transaction);
      }
    });
  }

  rollback(number: number, reply: Reply): void {
    const transaction = this.#all.get(number);
    if (transaction !== undefined) this.#end(number, transaction);
    reply.resolve();
  }

  #begin(number: number): Transaction {
    const transaction: Transaction = { state: 'waiting', holds: false, steps: [] };
    this.#all.set(number, transaction);
    this.#queue.add({
      start: () => {
        if (transaction.state === 'ended') return this.#queue.done();
        this.#connection.execute('BEGIN IMMEDIATE', []);
        transaction.holds = true;
        transaction.state = 'open';
        this.#runSteps(transaction);
      },
      refuse: (error) => {
        this.#fail(transaction, error);
        this.#runSteps(transaction);
      },
    });
    return transaction;
  }

  #step(transaction: Transaction, step: () => void): void {
    if (transaction.state === 'waiting') transaction.steps.push(step);
    else step();
  }

  #runSteps(transaction: Transaction): void {
    for (const step of transaction.steps.splice(0)) step();
  }

  #fail(transaction: Transaction, error: unknown): void {
    transaction.error = error;
    transaction.state = 'failed';
  }

  #end(number: number, transaction: Transaction): void {
    this.#all.delete(number);
    transaction.state = 'ended';
    if (!transaction.holds) return;
    if (this.#connection.database.isTransaction) this.#connection.execute('ROLLBACK', []);
    this.#queue.done();
  }
}
