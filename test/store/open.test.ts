import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import pg from 'pg';
import pino from 'pino';
import { ChangeLog } from '../../src/store/change-log.ts';
import { databaseFailure } from '../../src/store/database-failure.ts';
import { databasePlace } from '../../src/store/database-place.ts';
import { reserveIds } from '../../src/store/hot/bulk.ts';
import { applyMigrations, readMigrations } from '../../src/store/migrations.ts';
import { copyName, databaseFileName, sqliteMigrations } from '../../src/store/sqlite.ts';
import { openDatabase } from '../../src/store/sqlite/binding.ts';
import { openStore } from '../../src/store/store.ts';
import type { Transaction } from '../../src/store/transaction.ts';
import { eachDialect } from '../support/database.ts';
import { writable } from '../support/test-store.ts';

const log = pino({ level: 'silent' });

eachDialect('an opened store', (databases) => {
  test('keeps what was written when it is opened again', async () => {
    const database = await databases.create();
    const first = await database.open();
    await first.db.client.create({ data: { vkey: 'k', inletBytes: 2n ** 53n, expiresAt: new Date('2030-01-02T03:04:05.006Z') } });
    await first.close();
    const again = await database.open();
    expect(await again.db.client.findUnique({ where: { vkey: 'k' } })).toMatchObject({
      enabled: true,
      inletBytes: 2n ** 53n,
      expiresAt: new Date('2030-01-02T03:04:05.006Z'),
      userId: null,
    });
  });

  test('refuses a client of an owner, and a tunnel of a client, that does not exist', async () => {
    const { db } = await databases.openEmpty();
    await expect(db.client.create({ data: { vkey: 'k', userId: 99 } })).rejects.toMatchObject({ code: 'P2003' });
    await expect(db.tunnel.create({ data: { clientId: 99, mode: 'tcp' } })).rejects.toThrow(/violat/);
  });

  test('refuses two secret tunnels with one key, and only those', async () => {
    const { db } = await databases.openEmpty();
    const { id: clientId } = await db.client.create({ data: { vkey: 'k' } });
    const add = (mode: string, password: string) => db.tunnel.create({ data: { clientId, mode, password } });
    await add('secret', 'one');
    await expect(add('p2p', 'one')).rejects.toMatchObject({ code: 'P2002' });
    await add('secret', '');
    await add('secret', '');
    await add('tcp', 'one');
    expect(await db.tunnel.count()).toBe(4);
  });

  test('gives new records ids above reserved ones, and above all that there were', async () => {
    const { db, transaction, dialect } = await databases.openEmpty();
    let created = 0;
    const create = async () => (await db.client.create({ data: { vkey: `key ${++created}` } })).id;
    const reserve = (table: 'Client' | 'User', highest: number) => transaction((tx) => reserveIds(tx, dialect, table, highest));
    const ids: number[] = [];
    for (const highest of [0, 41, 7, 42]) {
      await reserve('Client', highest);
      ids.push(await create());
    }
    await db.client.deleteMany();
    await reserve('Client', 7);
    ids.push(await create());
    await reserve('User', 5);
    ids.push((await db.user.create({ data: { username: 'alice', passwordHash: '' } })).id, await create());
    expect(ids).toEqual([1, 42, 43, 44, 45, 6, 46]);
  });

  if (databases.dialect === 'sqlite') return;

  test('ends what waits or works for too long: transactions that send nothing, waits for a lock, searches, which have connections of their own', async () => {
    const store = await databases.openEmpty();
    const log = new ChangeLog(store.db);
    const idle = (tx: Pick<Transaction, '$queryRaw'>) => tx.$queryRaw`SELECT current_setting('idle_in_transaction_session_timeout') AS idle`;
    for (const [long, most] of [[false, '3s'], [true, '1min']] as const) {
      const locked = store.db.$transaction(async (tx) => {
        await log.lock(tx, long);
        return idle(tx);
      });
      expect(await locked).toEqual([{ idle: most }]);
      expect(await idle(store.db)).toEqual([{ idle: '30s' }]);
    }
    expect(await store.db.$queryRaw`SELECT current_setting('lock_timeout') AS wait`).toEqual([{ wait: '5s' }]);
    const asked = jest.spyOn(pg.Pool.prototype, 'query');
    try {
      await store.clientPage({ offset: 0 });
      await store.clientPage({ offset: 0, search: 'x' });
      const pools = asked.mock.contexts.map((pool) => pool instanceof pg.Pool ? pool.options : undefined);
      expect(pools).toContainEqual(expect.objectContaining({ max: 2, statement_timeout: 2000, idleTimeoutMillis: 8000 }));
      // With those of the presence and of migrations 14, as docs/scaling.md says.
      expect(new Set(pools.map((options) => options?.max))).toEqual(new Set([10, 2]));
    } finally {
      asked.mockRestore();
    }
  });

  test('cannot write while another session has locked any table', async () => {
    const store = await databases.openEmpty();
    const failure = await store.db.$transaction(async (other) => {
      await other.$executeRaw`LOCK TABLE "AuditEntry"`;
      return store.tryWrite().catch((error: unknown) => error);
    });
    expect(databaseFailure(failure)).toBe('DATABASE_BUSY');
    await store.tryWrite();
  });
});

describe('the SQLite file', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'adit-open-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  test('is private and durable', async () => {
    const dataDir = path.join(directory, 'new', 'data');
    const store = writable(await openStore({ url: '', dataDir, log }));
    try {
      await store.db.total.create({ data: { name: 'x' } });
      const mode = async (file: string) => ((await stat(path.join(dataDir, file))).mode & 0o777).toString(8);
      expect(await mode('.')).toBe('700');
      expect(await mode('adit.db')).toBe('600');
      expect(await mode('adit.db-wal')).toBe('600');
      const pragma = async (name: string) => Object.values((await store.db.$queryRawUnsafe<Record<string, unknown>[]>(`PRAGMA ${name}`))[0] ?? {})[0];
      expect(await pragma('journal_mode')).toBe('wal');
      expect(Number(await pragma('synchronous'))).toBe(2); // FULL
      expect(Number(await pragma('busy_timeout'))).toBe(0); // SQLite's own waiting would stop the worker
      expect(Number(await pragma('foreign_keys'))).toBe(1);
    } finally {
      await store.close();
    }
  });

  test('makes a connection wait for the lock of another process as long as it is to wait, without a time not at all', () => {
    const waits = [{ busyMs: 1234 }, {}].map((options) => {
      const database = openDatabase(path.join(directory, 'waits.db'), options);
      const [wait] = database.prepare('PRAGMA busy_timeout').all();
      database.close();
      return wait;
    });
    expect(waits).toEqual([{ timeout: 1234 }, { timeout: 0 }]);
  });

  test('loses the rights that others had on it', async () => {
    const dataDir = path.join(directory, 'open-to-all');
    await (await openStore({ url: '', dataDir, log })).close();
    await chmod(path.join(dataDir, 'adit.db'), 0o644);
    await (await openStore({ url: '', dataDir, log })).close();
    expect((await stat(path.join(dataDir, 'adit.db'))).mode & 0o777).toBe(0o600);
  });

  test('is copied before an upgrade, also after a copy that was interrupted', async () => {
    const dataDir = path.join(directory, 'upgraded');
    await mkdir(dataDir);
    const file = path.join(dataDir, databaseFileName);
    const migrations = await readMigrations('sqlite');
    const database = openDatabase(file);
    await applyMigrations(sqliteMigrations(database), migrations.slice(0, -1));
    database.close();
    const copy = `${file}.${migrations.at(-2)?.name}`;
    await writeFile(`${copy}.unfinished`, 'half a copy');
    await (await openStore({ url: '', dataDir, log })).close();
    await (await openStore({ url: '', dataDir, log })).close(); // nothing is left to upgrade
    expect((await readdir(dataDir)).filter((name) => name.startsWith(`${databaseFileName}.`))).toEqual([path.basename(copy)]);
    expect((await stat(copy)).mode & 0o777).toBe(0o600);
  });

  test('that is no database is refused in one line and left alone', async () => {
    const dataDir = path.join(directory, 'garbage');
    await (await openStore({ url: '', dataDir, log })).close();
    // This process may not have let go of the old file's -wal yet.
    for (const name of await readdir(dataDir)) await rm(path.join(dataDir, name));
    await writeFile(path.join(dataDir, 'adit.db'), 'no database at all, just a text');
    await expect(openStore({ url: '', dataDir, log })).rejects.toMatchObject({
      name: 'StoreError',
      message: `can't open the database ${dataDir}/adit.db: file is not a database`,
    });
  });

  test('that cannot be copied before an upgrade stays as it is, and nothing of the copy is left, for which there may be no room', async () => {
    const dataDir = path.join(directory, 'upgrade');
    await mkdir(dataDir);
    const file = path.join(dataDir, 'adit.db');
    const older = (await readMigrations('sqlite')).slice(0, -1);
    const database = openDatabase(file, { busyMs: 0 });
    await applyMigrations(sqliteMigrations(database), older);
    database.close();
    const copy = copyName(file, older.at(-1)?.name ?? '');
    await mkdir(path.join(copy, 'in the way'), { recursive: true });
    await expect(openStore({ url: '', dataDir, log })).rejects.toMatchObject({
      name: 'StoreError',
      message: expect.stringMatching(
        /^.*adit\.db: the copy that is made before the upgrade can't be written to .*adit\.db\.\d{4}_\w+, the database is as before: E(ISDIR|NOTEMPTY).*$/,
      ),
    });
    expect((await readdir(dataDir)).filter((name) => name.includes('unfinished'))).toEqual([]);
    await rm(copy, { recursive: true });
    await (await openStore({ url: '', dataDir, log })).close();
    expect((await stat(copy)).isFile()).toBe(true);
  });

  test('in a place that can not be a directory is refused in one line', async () => {
    await writeFile(path.join(directory, 'a-file'), '');
    const dataDir = path.join(directory, 'a-file', 'data');
    await expect(openStore({ url: '', dataDir, log })).rejects.toMatchObject({
      name: 'StoreError',
      message: expect.stringMatching(/^can't open the database .*adit\.db: ENOTDIR.*$/),
    });
  });
});

describe('a database address', () => {
  const open = (url: string) => openStore({ url, dataDir: '/nowhere', log });

  test('of a server that does not answer is named without its password', async () => {
    const message = await open('postgresql://adit:hush-hush@127.0.0.1:1/adit').catch((error: Error) => error.message);
    expect(message).toBe(
      "can't reach the database at 127.0.0.1:1/adit: connect ECONNREFUSED 127.0.0.1:1; check that PostgreSQL runs and answers there, and the setting database_url",
    );
  });

  test.each([
    ['postgresql://adit:hush-hush@db.example:5433/adit', 'db.example:5433/adit'],
    ['postgresql://adit@db.example/adit', 'db.example:5432/adit'],
    ['postgresql:///adit', 'localhost:5432/adit'],
    ['postgresql://adit:hush-hush@localhost/adit?host=/run/postgresql', '/run/postgresql:5432/adit'],
  ])('%s is named as %s', (url, place) => {
    expect(databasePlace(url)).toBe(place);
  });

  test('may also begin with postgres://', async () => {
    await expect(open('postgres://adit@127.0.0.1:1/adit')).rejects.toThrow(/^can't reach the database at 127\.0\.0\.1:1\/adit: connect ECONNREFUSED/);
  });

  test('of another kind, or broken, is refused without being repeated', async () => {
    await expect(open('mysql://adit:hush-hush@localhost/adit')).rejects.toMatchObject({
      name: 'StoreError',
      message: 'the database address must be empty (a SQLite file in the data directory) or begin with postgresql://',
    });
    await expect(open('postgresql://adit:hush-hush@[/adit')).rejects.toMatchObject({
      name: 'StoreError',
      message: 'the database address is not a valid postgresql:// URL',
    });
  });
});
