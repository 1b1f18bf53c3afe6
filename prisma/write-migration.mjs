// npm run migration -- NAME: writes the next migration of both databases, from what schema.prisma has that the migrations
// lack. Needs Debian's `postgresql`: that half compares with a real database. Read what it wrote before you commit it.
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pino from 'pino';
import { databaseFileName } from '../src/store/sqlite.ts';
import { openStore } from '../src/store/store.ts';
import { startPostgresql } from '../test/support/postgresql.ts';
import { postgresqlCatalogue } from './catalogue-adapters.mjs';
import { dataModel } from './data-model.mjs';
import { prismaDir, schemaDiff } from './schema-engine.mjs';
import { sqliteScript } from './sqlite-script.mjs';

const name = process.argv[2];
if (name === undefined || !/^[a-z0-9_]+$/.test(name)) {
  console.error('usage: npm run migration -- NAME   (NAME of a-z, 0-9 and _, for example add_host_notes)');
  process.exit(2);
}

const dataDir = await mkdtemp(path.join(tmpdir(), 'adit-migration-'));
const server = await startPostgresql();
try {
  const url = await server.createDatabase();
  const scripts = {
    sqlite: await missing('', () => sqliteScript(path.join(dataDir, databaseFileName), dataModel('sqlite'))),
    postgresql: await missing(url, () => schemaDiff(postgresqlCatalogue(url), dataModel('postgresql'))),
  };
  if (Object.values(scripts).every((sql) => sql === '')) console.log('The migrations agree with schema.prisma: nothing to write.');
  else for (const [dialect, sql] of Object.entries(scripts)) await write(dialect, sql || '-- Nothing changes on this database.\n');
} finally {
  await server.stop();
  await rm(dataDir, { recursive: true });
}

/** What the existing migrations, applied to an empty database, lack. */
async function missing(url, compare) {
  const store = await openStore({ url, dataDir, log: pino({ level: 'silent' }) });
  await store.close();
  return compare();
}

async function write(dialect, sql) {
  const migrations = path.join(prismaDir, 'migrations', dialect);
  await mkdir(migrations, { recursive: true });
  const number = String((await readdir(migrations)).length + 1).padStart(4, '0');
  const file = path.join(migrations, `${number}_${name}`, 'migration.sql');
  await mkdir(path.dirname(file));
  await writeFile(file, sql);
  console.log(`wrote ${path.relative(process.cwd(), file)}`);
  if (sql.includes('RedefineTables')) {
    console.log(
      '  It replaces tables: before that, drop the triggers that name them, and after it create these again, with the indexes that only the migrations know.',
    );
  }
}
