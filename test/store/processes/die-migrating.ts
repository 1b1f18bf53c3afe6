// Arguments: a database's address or file. Applies two migrations and dies between the second and the commit.
import pg from 'pg';
import { applyMigrations } from '../../../src/store/migrations.ts';
import { postgresqlMigrations } from '../../../src/store/postgresql.ts';
import { sqliteMigrations } from '../../../src/store/sqlite.ts';
import { openDatabase } from '../../../src/store/sqlite/binding.ts';

const [address = ''] = process.argv.slice(2);
const client = new pg.Client(address);
const database = address.startsWith('postgresql://') ? postgresqlMigrations(client) : sqliteMigrations(openDatabase(address));
if (database.dialect === 'postgresql') await client.connect();
await applyMigrations({
  ...database,
  commit: async () => {
    process.kill(process.pid, 'SIGKILL');
  },
}, [
  { name: '0001_one', sql: 'CREATE TABLE one (id INTEGER); INSERT INTO one VALUES (1);' },
  { name: '0002_two', sql: 'CREATE TABLE two (id INTEGER);' },
]);
