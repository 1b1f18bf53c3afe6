import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { SqliteAdapterFactory } from '../src/store/sqlite/adapter.ts';
import { WorkerLink } from '../src/store/sqlite/worker-link.ts';

// Prisma's adapters for its schema engine, which asks the catalogues of both databases in ways that the drivers refuse.

/**
 * For the SQLite file at a path. The engine asks for a partial index by a name in double quotes, which this build of SQLite
 * takes for a column.
 * @param {string} file
 */
export function sqliteCatalogue(file) {
  const factory = new SqliteAdapterFactory(
    new WorkerLink(file, 'writer', (error) => {
      throw error;
    }),
  );
  const open = factory.connect.bind(factory);
  factory.connect = async () => {
    const adapter = await open();
    const queryRaw = adapter.queryRaw.bind(adapter);
    adapter.queryRaw = (query) => queryRaw({ ...query, sql: query.sql.replace(/(?<=FROM sqlite_master .* name = )"([^"]*)"/, "'$1'") });
    return adapter;
  };
  return Object.assign(factory, { connectToShadowDb: () => factory.connect() });
}

/** PostgreSQL's type `"char"`, in which its catalogue says what a foreign key does on delete. */
const internalChar = 18;

/**
 * For the PostgreSQL database at an address. The adapter refuses columns of the type `"char"`; to the engine they may as
 * well be CHAR(1).
 * @param {string} url
 */
export function postgresqlCatalogue(url) {
  const pool = new pg.Pool({ connectionString: url });
  const query = pool.query.bind(pool);
  pool.query = async (...args) => {
    const result = await query(...args);
    for (const field of result.fields ?? []) if (field.dataTypeID === internalChar) field.dataTypeID = pg.types.builtins.BPCHAR;
    return result;
  };
  return new PrismaPg(pool, { disposeExternalPool: true });
}
