import { randomUUID } from 'node:crypto';
import { addAuditEntries, MOST_ENTRIES, type NewAuditEntry, newEntries } from './audit.ts';
import type { AuditEntry, Prisma, PrismaClient } from './generated/sqlite/client.ts';

type Transaction = Prisma.TransactionClient;

/** The advisory lock that every transaction of changes holds from its first statement to its commit. */
const changesLock = 72707373;
/** The advisory lock of transactions that reset traffic; those that store counters share it. */
const resetsLock = 72707375;
/** How long a transaction that holds the lock may send nothing, in ms: less than others wait for a lock. Then the database ends it. */
const IDLE_MS = 3000;
/** The same for a long write, which computes while it holds the lock, on a machine that may be busy. */
const LONG_IDLE_MS = 60_000;
/** How long commits stay in the log, in ms. A server that was away for longer loads everything. */
const KEEP_MS = 3_600_000;

/** The server has not applied a reset of traffic yet. */
export class NotFollowedError extends Error {
  override readonly name = 'NotFollowedError';

  constructor() {
    super('a reset of traffic is not applied yet');
  }
}

/** A place in the log. */
export interface LogPosition {
  readonly seq: number;
  readonly token: string;
}

/** A transaction in the log. */
export interface LoggedCommit extends LogPosition {
  /** As JSON. */
  readonly changes: string;
  /** The ids of its entries in the audit log, 0 = it has none. */
  readonly firstEntry: number;
  readonly lastEntry: number;
}

/** What the last statement of a transaction stored. */
export interface Recorded {
  readonly entries: AuditEntry[];
  /** Absent on SQLite, which has no log. */
  readonly position?: LogPosition;
}

/**
 * The log of committed changes in a PostgreSQL database: one row for each transaction, with contiguous numbers. A transaction takes the
 * next number while it holds a lock that all writers share. So the order of the numbers is that of the commits, and a reader that sees a number has seen all
 * before it.
 */
export class ChangeLog {
  readonly #db: PrismaClient;

  constructor(db: PrismaClient) {
    this.#db = db;
  }

  /** Waits for the lock of all writers, and holds it until the transaction ends. What is read afterwards is current until the commit. @param long of a long write */
  async lock(tx: Transaction, long = false): Promise<void> {
    const idleMs = String(long ? LONG_IDLE_MS : IDLE_MS);
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(${changesLock}), set_config('idle_in_transaction_session_timeout', ${idleMs}, true)`;
  }

  /** Before traffic is reset: waits for servers that are storing counters, and keeps them waiting until the transaction ends. */
  async lockResets(tx: Transaction): Promise<void> {
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(${resetsLock})`;
  }

  /**
   * Before counters are stored: keeps traffic from being reset until the transaction ends.
   * @param seq the last commit that this server has applied @throws {NotFollowedError} if a later one has reset traffic: the counters are from before it; or if the log no longer has that commit
   */
  async mayCount(tx: Transaction, seq: number): Promise<void> {
    await tx.$executeRaw`SELECT pg_advisory_xact_lock_shared(${resetsLock})`;
    const found = await tx.$queryRaw<readonly unknown[]>`SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM "LoggedCommit" WHERE seq = ${seq})
      OR EXISTS (SELECT 1 FROM "LoggedCommit" WHERE seq > ${seq} AND (changes LIKE '%"reset":{%' OR changes LIKE '%"resource":"import"%'))`;
    if (found.length > 0) throw new NotFollowedError();
  }

  /** Stores the audit entries of a transaction and its row in the log: by one statement, unless there are many entries. @param changes JSON */
  async add(tx: Transaction, entries: readonly NewAuditEntry[], changes: string): Promise<Recorded> {
    const token = randomUUID();
    if (entries.length === 0) return { entries: [], position: { seq: await this.#addUnaudited(tx, token, changes), token } };
    const before = await addAuditEntries(tx, entries.slice(0, -MOST_ENTRIES));
    const last = entries.slice(-MOST_ENTRIES);
    const added = await tx.$queryRaw<ReadonlyArray<{ readonly id: number; readonly seq: bigint }>>`
      WITH entry AS (${newEntries(last)}), logged AS (
        INSERT INTO "LoggedCommit" (seq, at, token, changes, "firstEntry", "lastEntry")
        SELECT (SELECT max(seq) FROM "LoggedCommit") + 1, ${new Date()}, ${token}, ${changes}, LEAST(${
      before[0]?.id
    }::int, min(id)), max(id) FROM entry RETURNING seq)
      SELECT entry.id, logged.seq FROM entry, logged ORDER BY entry.id`;
    const [first] = added;
    if (first === undefined) throw new Error('the log of changes is never empty');
    return { entries: before.concat(last.map((entry, index) => ({ id: added[index]?.id ?? 0, ...entry }))), position: { seq: Number(first.seq), token } };
  }

  /** Adds a row without entries, for changes that the program itself makes. @returns its number */
  async #addUnaudited(tx: Transaction, token: string, changes: string): Promise<number> {
    const [added] = await tx.$queryRaw<ReadonlyArray<{ readonly seq: bigint }>>`
      INSERT INTO "LoggedCommit" (seq, at, token, changes, "firstEntry", "lastEntry")
      SELECT max(seq) + 1, ${new Date()}, ${token}, ${changes}, 0, 0 FROM "LoggedCommit" RETURNING seq`;
    if (added === undefined) throw new Error('the log of changes is never empty');
    return Number(added.seq);
  }

  /** Whether a transaction whose COMMIT got no response was committed. Waits for its end: it holds the lock until then. */
  isCommitted({ seq, token }: LogPosition): Promise<boolean> {
    return this.#db.$transaction(async (tx) => {
      await this.lock(tx);
      return (await tx.loggedCommit.findUnique({ where: { seq }, select: { token: true } }))?.token === token;
    });
  }

  /** The last commit. */
  async last(): Promise<LogPosition> {
    const { seq, token } = await this.#db.loggedCommit.findFirstOrThrow({ orderBy: { seq: 'desc' }, select: { seq: true, token: true } });
    return { seq: Number(seq), token };
  }
}

/** Deletes old commits, but never the last one. */
export async function pruneLog(tx: Transaction): Promise<void> {
  const last = await tx.loggedCommit.findFirst({ orderBy: { seq: 'desc' }, select: { seq: true } });
  if (last !== null) await tx.loggedCommit.deleteMany({ where: { at: { lt: new Date(Date.now() - KEEP_MS) }, seq: { lt: last.seq } } });
}
