import { z } from 'zod';
import { openDatabase, type SqliteDatabase, type SqliteStatement } from '../../src/store/sqlite/binding.ts';
import { isBusy } from '../../src/store/sqlite/codes.ts';
import { eventually } from './eventually.ts';
import type { TestStore } from './test-store.ts';

/** A row by column. */
type Row = Record<string, unknown>;

/** What became of records: those columns of each that are another now, all of a new one; null = it is gone. */
export type Differences = Record<string, Row | null>;

/** What is written without anybody asking for it. */
const ignored: Readonly<Record<string, readonly string[]>> = { ApiToken: ['lastUsedAt'], Session: ['lastSeenAt'] };
/** History: it grows with every change. */
const history: ReadonlySet<string> = new Set(['AuditEntry', 'Total audit', 'TrafficSample', 'RefusalSample', 'SearchSegment', 'sqlite_sequence']);

const tableNames = z.array(z.object({ name: z.string() }));
const dataVersion = z.tuple([z.object({ data_version: z.number() })]);
const databaseList = z.array(z.object({ name: z.string(), file: z.string() }));

/**
 * The records of a SQLite test store at one moment, to be brought back and compared with: a few statements of its own
 * connection, where the store's client would need hundreds.
 */
export class StoreCopy {
  readonly #database: SqliteDatabase;
  /** Reads all rows of a table. */
  readonly #tables: ReadonlyMap<string, SqliteStatement>;
  readonly #before: ReadonlyMap<string, Row>;
  readonly #restore: readonly SqliteStatement[];
  #version: unknown;

  private constructor(file: string) {
    const database = this.#database = openDatabase(file);
    // The rows are brought back in any order.
    database.exec('PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY; PRAGMA foreign_keys = OFF;');
    // Clients first: triggers copy some of theirs to tunnels and hosts.
    const tables = tableNames.parse(
      database.prepare(`SELECT name FROM sqlite_master WHERE type = 'table' AND name <> '_prisma_migrations' ORDER BY name <> 'Client'`).all(),
    )
      .map(({ name }) => name);
    for (const table of tables) database.exec(`CREATE TEMP TABLE "copy of ${table}" AS SELECT * FROM main."${table}"`);
    // Triggers write the stamps of the segments.
    const others = tables.filter((table) => table !== 'Total' && table !== 'SearchSegment');
    const counts = (table: string, columns: string) =>
      `UPDATE main."${table}" SET (${columns}) = (SELECT ${columns} FROM "copy of ${table}" c WHERE c.id = main."${table}".id)`;
    this.#restore = [
      'BEGIN IMMEDIATE',
      ...others.map((table) => `DELETE FROM main."${table}"`),
      ...others.map((table) => `INSERT INTO main."${table}" SELECT * FROM "copy of ${table}"`),
      // Triggers have counted what was inserted: the counts are brought back after it, those that others are made of first.
      counts('Client', '"tunnelCount", "hostCount"'),
      counts('User', '"clientCount", "tunnelCount", "hostCount"'),
      'DELETE FROM main."Total"',
      'INSERT INTO main."Total" SELECT * FROM "copy of Total"',
      'COMMIT',
    ].map((statement) => database.prepare(statement));
    this.#tables = new Map(tables.filter((name) => !history.has(name)).map((name) => [name, database.prepare(`SELECT * FROM main."${name}"`)]));
    this.#before = this.#rows();
    this.#version = this.#seenVersion();
  }

  /** Copies all that a store holds. */
  static async of({ db }: TestStore): Promise<StoreCopy> {
    const [main] = databaseList.parse(await db.$queryRaw`SELECT name, file FROM pragma_database_list`);
    return new StoreCopy(main?.file ?? '');
  }

  /** Makes all records as they were; costs next to nothing when none was written since. */
  async restore(): Promise<void> {
    if (this.#seenVersion() === this.#version) return;
    // What the call before left to be written in the background is another thread's transaction, and needs this one to go on: to wait
    // for the lock inside SQLite would keep it from its end.
    await eventually(() => this.#tryRestore(), (done) => done);
    this.#version = this.#seenVersion();
  }

  /** What is another than it was, by table and key: `Client 1`. Kept totals are among the records, history isn't. */
  differences(): Differences {
    if (this.#seenVersion() === this.#version) return {};
    const now = this.#rows();
    const differences: Differences = {};
    for (const [key, row] of now) {
      const before = this.#before.get(key) ?? {};
      const columns = Object.entries(row).filter(([name, value]) => before[name] !== value);
      if (columns.length > 0) differences[key] = Object.fromEntries(columns);
    }
    for (const key of this.#before.keys()) if (!now.has(key)) differences[key] = null;
    return differences;
  }

  /** @returns false when somebody else is writing */
  #tryRestore(): boolean {
    try {
      for (const statement of this.#restore) statement.run();
      return true;
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    }
  }

  close(): void {
    this.#database.close();
  }

  /** Another number after every write of anybody else. */
  #seenVersion(): unknown {
    return dataVersion.parse(this.#database.prepare('PRAGMA data_version').all())[0].data_version;
  }

  #rows(): Map<string, Row> {
    const rows = new Map<string, Row>();
    for (const [table, all] of this.#tables) {
      for (const row of z.array(z.record(z.string(), z.unknown())).parse(all.all())) {
        for (const name of ignored[table] ?? []) delete row[name];
        // A session's id is random; of each kind of caller there is one.
        const key = `${table} ${String(table === 'Session' ? row['kind'] : row['id'] ?? row['name'])}`;
        if (!history.has(key)) rows.set(key, row);
      }
    }
    return rows;
  }
}
