import type { Logger } from 'pino';
import { auditPage, pruneAudit } from './audit.ts';
import type { AuditPage, AuditQuery } from './audit.ts';
import { ChangeLog, pruneLog } from './change-log.ts';
import { CommitFollower } from './commit-follower.ts';
import { DatabaseHealth } from './database-health.ts';
import { untilNoDeadlock } from './deadlock.ts';
import { StoreError } from './errors.ts';
import { Prisma, type PrismaClient } from './generated/sqlite/client.ts';
import { type AuditConditions, auditPages } from './hot/audit.ts';
import { clientPage, clientPages } from './hot/client-page.ts';
import type { ClientPageQuery } from './hot/client-page.ts';
import { type CountedRecord, type CounterKind, storedTotals } from './hot/counter-table.ts';
import { countTraffic, forgetRunningState, saveCounters, tryWrite } from './hot/counters.ts';
import type { CounterBatch, SaveOptions } from './hot/counters.ts';
import { hostPage, hostPages } from './hot/host-page.ts';
import type { HostPageQuery } from './hot/host-page.ts';
import { loadEngineState } from './hot/engine-state.ts';
import type { EngineState } from './hot/engine-state.ts';
import { countsOf, type Counts, type CountScope } from './hot/counts.ts';
import { childrenOf } from './hot/children.ts';
import { problemCount, type ProblemListName, type ProblemQuery, type ProblemRow, problemRows } from './hot/problem-lists.ts';
import type { ChildrenQuery, ChildRows } from './hot/children.ts';
import { pageBytes, rowsOf, type Page, type TableRows } from './hot/page.ts';
import { tunnelPage, tunnelPages } from './hot/tunnel-page.ts';
import type { TunnelPageQuery } from './hot/tunnel-page.ts';
import { userPage, userPages } from './hot/user-page.ts';
import type { UserPageQuery } from './hot/user-page.ts';
import { addRefusals, pruneRefusals, type RefusalBatch } from './hot/refusals.ts';
import { pruneTraffic, type TrafficRetention } from './hot/traffic.ts';
import type { AuditEntry, Client, Host, Tunnel, User } from './generated/sqlite/client.ts';
import type { Dialect } from './migrations.ts';
import { Nodes, type NodeState, pruneNodes } from './nodes.ts';
import type { Reading } from './reading.ts';
import { transactions } from './transaction.ts';
import type { RunTransaction, Transaction } from './transaction.ts';

/** Everything that outlives the process. */
export interface Store {
  /** For reads. The types are the SQLite client's; the PostgreSQL client has the same models. */
  readonly db: Reading;
  readonly dialect: Dialect;
  /** The only way to write. Changes by callers go through `Writes` of the schema, which calls this; the program's own maintenance calls it directly. */
  readonly transaction: RunTransaction;
  /** Publishes committed changes in order, and on PostgreSQL follows the log of changes. */
  readonly follower: CommitFollower;
  /** This process among the servers on the database. */
  readonly node: Nodes;
  /** Whether this server does what only one on the database may do. It may be wrong for a moment, so that such work must be harmless when it is done twice. */
  leads(): boolean;
  /** The servers that have used the database in the last week, by name. On SQLite, only this one. @param tx as a write finds them */
  nodes(tx?: Transaction): Promise<NodeState[]>;
  /** A page of clients, whole rows. */
  readonly clientPage: (query: ClientPageQuery) => Promise<Page<Client>>;
  /** The same list page by page, of any length. */
  readonly clientPages: (query: ClientPageQuery) => AsyncGenerator<Page<Client>, void, undefined>;
  /** A page of tunnels, whole rows. */
  readonly tunnelPage: (query: TunnelPageQuery) => Promise<Page<Tunnel>>;
  /** The same list page by page, of any length. */
  readonly tunnelPages: (query: TunnelPageQuery) => AsyncGenerator<Page<Tunnel>, void, undefined>;
  /** A page of hosts, whole rows. */
  readonly hostPage: (query: HostPageQuery) => Promise<Page<Host>>;
  /** The same list page by page, of any length. */
  readonly hostPages: (query: HostPageQuery) => AsyncGenerator<Page<Host>, void, undefined>;
  /** A page of users, whole rows. */
  readonly userPage: (query: UserPageQuery) => Promise<Page<User>>;
  /** The same list page by page, of any length. */
  readonly userPages: (query: UserPageQuery) => AsyncGenerator<Page<User>, void, undefined>;
  /** Rows by their ids, in the same order; deleted rows are skipped. @throws {RowsTooLongError} if they have more text than a page may have */
  byIds<Table extends keyof TableRows>(table: Table, ids: readonly number[]): Promise<Array<TableRows[Table]>>;
  /** The same, whatever text the rows have: for changes, which are followed one batch at a time. */
  changed<Table extends keyof TableRows>(table: Table, ids: readonly number[]): Promise<Array<TableRows[Table]>>;
  /** The same range of the tunnels or hosts of many clients, or of the clients of many users, with one statement. */
  childrenOf<Table extends keyof ChildRows>(table: Table, query: ChildrenQuery): Promise<Array<ChildRows[Table]>>;
  /** A range of the records with a kind of problem, whole rows. */
  problemRows<Name extends ProblemListName>(name: Name, query: ProblemQuery): Promise<Array<ProblemRow<Name>>>;
  /** The number of records with a kind of problem. */
  problemCount(name: ProblemListName, query: Pick<ProblemQuery, 'scope' | 'moment'>): Promise<number>;
  /** The number of records, by state. */
  counts(scope: CountScope): Promise<Counts>;
  /** Everything that the engine needs at start. */
  loadEngineState(): Promise<EngineState>;
  /**
   * Clears the running state that ended servers left, which lists can be sorted by, and brings the bytes in the rows up to date if no server is running.
   * @param alive the names of the servers that are running; absent = none
   */
  forgetRunningState(alive?: readonly string[]): Promise<void>;
  /** Deletes the records that agents declared, while no server is running that serves them. Called at start. */
  forgetDeclared(): Promise<void>;
  /** Writes counters and last-seen data and the resulting traffic series, all or nothing. */
  saveCounters(batch: CounterBatch, options?: SaveOptions): Promise<void>;
  /** Adds refused connections to the series of their clients, all or nothing, and a batch only once. */
  saveRefusals(batch: RefusalBatch): Promise<void>;
  /** Adds the bytes that a record's counters have beyond the stored ones to the traffic series: call it before its row gets other values, which count from then on. */
  resetTraffic(tx: Transaction, kind: CounterKind, counters: CountedRecord): Promise<void>;
  /** What is stored of the totals of a client, its tunnels and its hosts; undefined = there is no such client. */
  storedTotals(clientId: number): ReturnType<typeof storedTotals>;
  /** Makes a write without effect. @throws the database's error when it can't write at the moment */
  tryWrite(): Promise<void>;
  /** A page of the audit log, the newest entry first. */
  auditPage(query: AuditQuery): Promise<AuditPage>;
  /** The wanted entries of the audit log page by page, newest first, for a log of any length. */
  auditPages(conditions: AuditConditions): AsyncGenerator<readonly AuditEntry[], void, undefined>;
  /** Deletes what is older than the retention. */
  prune(retention: Retention): Promise<void>;
  /** Resolves when the database answers and, as far as known, accepts writes. @throws its error */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** What resolvers use of the store. They change something only through `context.write`. */
export type StoreToRead = Omit<
  Store,
  'transaction' | 'follower' | 'node' | 'leads' | 'tryWrite' | 'saveCounters' | 'saveRefusals' | 'forgetRunningState' | 'forgetDeclared' | 'prune' | 'close'
>;

/** How long history is kept, in days. */
export interface Retention {
  readonly traffic: TrafficRetention;
  readonly audit: number;
}

/** How to open a store. */
export interface StoreOptions {
  /** `postgresql://...`, or '' for the SQLite file in `dataDir`. */
  readonly url: string;
  readonly dataDir: string;
  readonly log: Logger;
  /**
   * Called when the store can no longer write and can't recover. Either the worker with SQLite's writing connection has died, and it is unknown whether its
   * last write was stored. Or a server that tolerates no other one has taken the PostgreSQL database while the connection was lost.
   */
  readonly onLost?: (error: Error) => void;
  /** No other server may use the PostgreSQL database meanwhile. */
  readonly alone?: boolean;
}

/**
 * Whether a generated client has the models that this program was compiled with: the two databases' clients have two types,
 * although everything used here is the same.
 */
function hasAllModels(db: object): db is PrismaClient {
  return Object.values(Prisma.ModelName).every((name) => `${name.charAt(0).toLowerCase()}${name.slice(1)}` in db);
}

/**
 * Opens the database, creates it if necessary, and applies the missing migrations.
 * @throws {StoreError} with one line for the operator
 */
export async function openStore({ url, dataDir, log, onLost = () => {}, alone = false }: StoreOptions): Promise<Store> {
  if (url !== '' && !/^postgres(ql)?:\/\//.test(url)) {
    throw new StoreError('the database address must be empty (a SQLite file in the data directory) or begin with postgresql://');
  }
  const dialect = url === '' ? 'sqlite' : 'postgresql';
  // Imported here, so that the other database's driver costs no time at start.
  const opened = url === ''
    ? await (await import('./sqlite.ts')).openSqlite(dataDir, onLost)
    : await (await import('./postgresql.ts')).openPostgresql(url, log, alone, onLost);
  const db: object = opened.db;
  if (!hasAllModels(db)) throw new StoreError('the clients of the two databases were not generated from the same models: run `node src/prepare.mjs`');
  const { reader, applied, where } = opened;
  if (applied.length > 0) log.info({ migrations: applied, database: where }, 'database migrated');
  const presence = 'presence' in opened ? opened.presence : undefined;
  const changeLog = dialect === 'postgresql' ? new ChangeLog(db) : undefined;
  const close = async (): Promise<void> => {
    await reader.close();
    await db.$disconnect();
    await presence?.close();
  };
  const last = await changeLog?.last().catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const follower = new CommitFollower(log, changeLog && last && { changeLog, reader, last });
  const health = new DatabaseHealth(transactions({ db, savepoints: opened.savepoints, changeLog, follower }), {
    read: () => db.$queryRaw`SELECT 1`,
    write: (run) => tryWrite(run, dialect),
  });
  const { transaction } = health;
  const node = new Nodes({ db, transaction, dialect, migrations: 'migrations' in opened ? opened.migrations : [] });
  return {
    db,
    dialect,
    transaction,
    follower,
    node,
    leads: () => presence?.leads ?? true,
    nodes: (tx) => node.all(tx),
    clientPage: (query) => clientPage(reader, query),
    clientPages: (query) => clientPages(reader, query),
    tunnelPage: (query) => tunnelPage(reader, query),
    tunnelPages: (query) => tunnelPages(reader, query),
    hostPage: (query) => hostPage(reader, query),
    hostPages: (query) => hostPages(reader, query),
    userPage: (query) => userPage(reader, query),
    userPages: (query) => userPages(reader, query),
    byIds: (table, ids) => rowsOf(reader, table, ids, pageBytes),
    changed: (table, ids) => rowsOf(reader, table, ids),
    childrenOf: (table, query) => childrenOf(reader, table, query),
    problemRows: (name, query) => problemRows(reader, name, query),
    problemCount: (name, query) => problemCount(reader, name, query),
    counts: (scope) => countsOf(reader, scope),
    loadEngineState: () => loadEngineState(reader),
    saveCounters: (batch, options) =>
      saveCounters(transaction, dialect, batch, Date.now(), {
        ...options,
        node: node.name,
        ...changeLog && { mayCount: (tx) => changeLog.mayCount(tx, follower.figures.seq) },
      }),
    saveRefusals: ({ id, gains }) =>
      transaction(async (tx) => {
        if (await node.isFirstAttempt(tx, id)) await addRefusals(tx, dialect, gains, Date.now());
      }),
    async resetTraffic(tx, kind, counters) {
      await changeLog?.lockResets(tx);
      await countTraffic(tx, dialect, kind, counters, Date.now());
      await tx.counter.deleteMany({ where: { kind, id: counters.id } });
    },
    storedTotals: (clientId) => storedTotals(db, clientId),
    tryWrite: () => tryWrite(transaction, dialect),
    forgetRunningState: (alive = []) => untilNoDeadlock(() => forgetRunningState(transaction, alive)),
    forgetDeclared: () =>
      transaction(async (tx) => {
        await tx.tunnel.deleteMany({ where: { noStore: true } });
        await tx.host.deleteMany({ where: { noStore: true } });
      }),
    auditPage: (query) => auditPage(db, reader, query),
    auditPages: (conditions) => auditPages(reader, conditions),
    prune: ({ traffic, audit }) =>
      transaction(async (tx) => {
        const now = Date.now();
        await pruneTraffic(tx, traffic, now);
        await pruneRefusals(tx, traffic, now);
        await pruneAudit(tx, new Date(now - audit * 86_400_000));
        await pruneLog(tx);
        await pruneNodes(tx);
      }),
    ping: () => health.check(),
    close,
  };
}
