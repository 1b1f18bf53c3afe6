import { once } from 'node:events';
import { statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { describe, expect, jest, test } from '@jest/globals';
import pg from 'pg';
import pino from 'pino';
import { databaseFailure } from '../../src/store/database-failure.ts';
import { databaseFileName } from '../../src/store/sqlite.ts';
import { Writer } from '../../src/store/sqlite/writer.ts';
import { openStore } from '../../src/store/store.ts';
import { eachDialect, testDatabases } from '../support/database.ts';
import { isShort } from '../support/endurance.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { startOwnPostgresql, startPostgresql } from '../support/postgresql.ts';
import { describeWith } from '../support/programs.ts';
import { spawnScript } from '../support/script.ts';

/** What a promise was rejected with. */
const errorOf = (promise: Promise<unknown>): Promise<unknown> => promise.then(() => undefined, (error: unknown) => error);

/** Another process takes the lock of a SQLite file. @returns gives it back, by the death of the process */
async function lockFile(dataDir: string): Promise<() => Promise<void>> {
  const holder = spawnScript(new URL('./processes/hold-lock.ts', import.meta.url), [path.join(dataDir, databaseFileName)]);
  await once(createInterface({ input: holder.stdout }), 'line');
  return async () => {
    const exited = once(holder, 'exit');
    holder.kill('SIGKILL');
    await exited;
  };
}

/**
 * A thread that has a SQLite file for itself, as a process has that recovers it. It gives it back 100 ms after it was asked to, since nothing shows that another thread, which is
 * blocked, waits for it.
 */
const owner = `
  const { parentPort, workerData: { file, asked } } = require('node:worker_threads');
  const { DatabaseSync } = require('@photostructure/sqlite');
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  parentPort.postMessage('locked');
  Atomics.wait(asked, 0, 0);
  Atomics.wait(asked, 0, 1, 100);
  database.close();
`;

describe('another process that holds the lock of the SQLite file', () => {
  const databases = testDatabases('sqlite');

  test.each([
    ['to migrate it', async (dataDir: string) => (await openStore({ url: '', dataDir, log: pino({ level: 'silent' }) })).close()],
    ['by its writer', async (dataDir: string) => {
      const writer = new Writer(path.join(dataDir, databaseFileName), (work) => work());
      await new Promise<unknown>((resolve, reject) => writer.serve(['close'], { resolve, reject }));
    }],
  ])('is waited for when a server starts (%s)', async (_, open) => {
    const { dataDir } = await databases.create();
    const asked = new Int32Array(new SharedArrayBuffer(4));
    const thread = new Worker(owner, { eval: true, workerData: { file: path.join(dataDir, databaseFileName), asked } });
    const ended = once(thread, 'exit');
    await once(thread, 'message');
    asked[0] = 1;
    Atomics.notify(asked, 0);
    await open(dataDir);
    expect(await ended).toEqual([0]);
  });

  test('delays no read, and writes only until the lock is released', async () => {
    const database = await databases.create();
    const store = await database.open();
    const { id } = await store.transaction((tx) => tx.client.create({ data: { vkey: 'first' } }));
    const unlock = await lockFile(database.dataDir);
    const read = async () => {
      expect(await store.db.client.findUnique({ where: { id }, select: { vkey: true } })).toEqual({ vkey: 'first' });
      expect(await store.clientPage({ offset: 0, limit: 10 })).toMatchObject({ total: 1 });
      expect(await store.clientPage({ offset: 0, limit: 10, search: 'FIR' })).toMatchObject({ total: 1, rows: [{ id }] });
    };
    await read(); // the first ones take seconds on a busy machine, and a write only waits for five
    let written = false;
    const write = store.transaction((tx) => tx.client.create({ data: { vkey: 'second' } })).then(() => {
      written = true;
    });
    await wait(100); // several times as long as the write tries again
    await read();
    expect(written).toBe(false);
    await unlock();
    await write;
    expect(await store.db.client.count()).toBe(2);
    await store.ping();
  });

  test('makes writes fail with a code after a bounded wait, all that wait together, and the store is not ready meanwhile', async () => {
    const database = await databases.create();
    const store = await database.open();
    await store.transaction((tx) => tx.total.updateMany({ data: { value: { increment: 0 } } }));
    const unlock = await lockFile(database.dataDir);
    const began = performance.now();
    const errors = await Promise.all(
      Array.from({ length: 20 }, (_, n) => errorOf(store.transaction((tx) => tx.client.create({ data: { vkey: `key ${n}` } })))),
    );
    expect(errors.map(databaseFailure)).toEqual(Array.from({ length: 20 }, () => 'DATABASE_BUSY'));
    expect(performance.now() - began).toBeGreaterThanOrEqual(4900);
    expect(performance.now() - began).toBeLessThan(45_000); // 100 s if each waited
    expect(databaseFailure(await errorOf(store.ping()))).toBe('DATABASE_BUSY');
    await unlock();
    await store.transaction((tx) => tx.client.create({ data: { vkey: 'at last' } }));
    await store.ping();
    expect(await store.db.client.count()).toBe(1);
  });
});

describe('a full disk under the SQLite file', () => {
  const databases = testDatabases('sqlite');

  test('makes writes fail with a code, in every kind of transaction, and they work again when there is room', async () => {
    const store = await (await databases.create()).open();
    const pragma = (text: string) => store.transaction((tx) => tx.$queryRawUnsafe(`PRAGMA ${text}`));
    await store.transaction((tx) => tx.client.create({ data: { vkey: 'first' } }));
    await pragma('max_page_count = 1'); // SQLite takes the number of pages there are
    const fill = (vkey: string) => store.transaction((tx) => tx.client.create({ data: { vkey, remark: 'x'.repeat(200_000) } }));
    expect(databaseFailure(await errorOf(fill('second')))).toBe('DATABASE_FULL');
    expect((await Promise.all([errorOf(fill('third')), errorOf(fill('fourth'))])).map(databaseFailure)).toEqual(['DATABASE_FULL', 'DATABASE_FULL']);
    expect(await store.db.client.count()).toBe(1);
    await pragma('max_page_count = 1000000');
    await fill('fifth');
    await store.ping();
    expect(await store.db.client.findMany({ select: { vkey: true }, orderBy: { id: 'asc' } })).toEqual([{ vkey: 'first' }, { vkey: 'fifth' }]);
  });

  test('is noticed by the write without effect, since that needs space, too', async () => {
    const { dataDir, open } = await databases.create();
    const store = await open();
    const total = () => store.db.total.findUnique({ where: { name: 'users' } });
    await store.transaction((tx) => tx.client.create({ data: { vkey: 'first' } }));
    const before = [statSync(path.join(dataDir, `${databaseFileName}-wal`)).size, await total()];
    await store.tryWrite();
    const after = [statSync(path.join(dataDir, `${databaseFileName}-wal`)).size, await total()];
    expect(after[0]).toBeGreaterThan(Number(before[0]));
    expect(after[1]).toEqual(before[1]);
  });
});

eachDialect('an open transaction', (databases) => {
  test('delays no read outside of it, which sees what was committed', async () => {
    const store = await databases.openEmpty();
    const { id } = await store.transaction((tx) => tx.client.create({ data: { vkey: 'key', remark: 'before' } }));
    const remark = async () => (await store.db.client.findUnique({ where: { id } }))?.remark;
    await store.transaction(async (tx) => {
      await tx.client.update({ where: { id }, data: { remark: 'after' } });
      expect(await remark()).toBe('before');
      expect((await store.clientPage({ offset: 0, limit: 10 })).rows[0]?.remark).toBe('before');
      expect((await store.clientPage({ offset: 0, search: 'key' })).rows[0]?.remark).toBe('before');
    });
    expect(await remark()).toBe('after');
  });

  test('takes no text with a NUL, which SQLite would cut there', async () => {
    const store = await databases.openEmpty();
    expect(await errorOf(store.transaction((tx) => tx.client.create({ data: { vkey: 'a\0b' } })))).toBeInstanceOf(Error);
    expect(await store.db.client.count()).toBe(0);
    expect(await store.clientPage({ offset: 0, limit: 10, search: 'a\0b' })).toEqual({ rows: [], total: 0 });
  });
});

describeWith('initdb', 'a write to PostgreSQL that follows one that waited for a lock in vain', () => {
  const databases = testDatabases('postgresql');

  test('waits for a shorter time, unlike later ones on the same connection', async () => {
    const store = await databases.openEmpty();
    const shown = () => store.transaction((tx) => tx.$queryRaw`SHOW lock_timeout`);
    await errorOf(store.transaction(() => Promise.reject(Object.assign(new Error('locked'), { code: '55P03' }))));
    expect(await shown()).toEqual([{ lock_timeout: '50ms' }]);
    const clock = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 1000);
    try {
      expect(await shown()).toEqual([{ lock_timeout: '5s' }]);
    } finally {
      clock.mockRestore();
    }
  });
});

// Concurrent, since they wait most of the time.
if (!isShort) {
  describeWith('initdb', 'a PostgreSQL server that is away for a while', () => {
    test.concurrent('makes everything fail with a code, and is used again when it is back', async () => {
      const server = await startOwnPostgresql();
      const store = await openStore({ url: await server.createDatabase(), dataDir: '', log: pino({ level: 'silent' }) });
      try {
        const add = (vkey: string) => store.transaction((tx) => tx.client.create({ data: { vkey } }));
        await add('first');
        const restart = await server.interrupt();
        const work = [
          () => add('second'),
          () => store.db.client.count(),
          () => store.clientPage({ offset: 0, limit: 10 }),
          () => store.clientPage({ offset: 0, limit: 10, search: 'x' }),
          () => store.ping(),
        ];
        for (const one of work) expect(databaseFailure(await errorOf(one()))).toBe('DATABASE_UNAVAILABLE');
        await restart();
        await eventuallyAsync(() => errorOf(add('third')), (error) => error === undefined);
        expect(await store.db.client.count()).toBe(2);
        await store.ping();
      } finally {
        await store.close();
        await server.stop();
      }
    });

    test.concurrent('whose lock somebody else holds makes writes fail with a code, and only the first of them waits for long', async () => {
      const server = await startPostgresql();
      const url = await server.createDatabase();
      const store = await openStore({ url, dataDir: '', log: pino({ level: 'silent' }) });
      const other = new pg.Client({ connectionString: url });
      const add = (vkey: string) => store.transaction((tx) => tx.client.create({ data: { vkey } }));
      try {
        await other.connect();
        await other.query('BEGIN; LOCK TABLE "Client"');
        const began = performance.now();
        const failures = await Promise.all(Array.from({ length: 40 }, async (_, n) => databaseFailure(await errorOf(add(`key ${n}`)))));
        expect(failures).toEqual(Array.from({ length: 40 }, () => 'DATABASE_BUSY'));
        expect(performance.now() - began).toBeGreaterThanOrEqual(4900);
        expect(performance.now() - began).toBeLessThan(45_000); // 200 s if each waited
        await other.query('COMMIT');
        await add('at last');
        expect(await store.db.client.count()).toBe(1);
      } finally {
        await other.end();
        await store.close();
        await server.stop();
      }
    });

    test.concurrent('with a full disk is noticed by the write without effect, since that needs room for a temporary file', async () => {
      const server = await startPostgresql();
      const url = await server.createDatabase();
      const store = await openStore({ url, dataDir: '', log: pino({ level: 'silent' }) });
      const other = new pg.Client({ connectionString: url });
      other.on('error', () => {}); // cut below
      try {
        await store.tryWrite();
        await other.connect();
        await other.query(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET temp_file_limit = 0`);
        await server.cutConnections(url);
        await eventuallyAsync(() => errorOf(store.db.client.count()), (error) => error === undefined);
        expect(String(await errorOf(store.tryWrite()))).toContain('temporary file size exceeds');
        expect(await errorOf(store.transaction((tx) => tx.client.create({ data: { vkey: 'small' } })))).toBeUndefined();
      } finally {
        await other.end();
        await store.close();
        await server.stop();
      }
    });

    test.concurrent(
      'that is silent makes reads and writes fail with a code after a bounded wait, and is used again when it responds; nothing that failed is stored',
      async () => {
        const server = await startPostgresql();
        const url = await server.createDatabase();
        const directory = new URL(url).searchParams.get('host') ?? '';
        const front = await freezable(directory);
        const store = await openStore({ url: url.replace(directory, front.directory), dataDir: '', log: pino({ level: 'silent' }) });
        const add = (vkey: string) => store.transaction((tx) => tx.client.create({ data: { vkey } }));
        try {
          await add('first');
          await Promise.all([store.db.client.count(), store.clientPage({ offset: 0, limit: 10 })]); // connections that are open and unused
          const thaw = front.freeze();
          const began = performance.now();
          const work = [
            () => store.db.client.count(),
            () => store.clientPage({ offset: 0, limit: 10 }),
            () => store.clientPage({ offset: 0, limit: 10, search: 'x' }),
            () => store.ping(),
            () => add('second'),
            () => add('third'),
          ];
          const failures = await Promise.all(work.map(async (one) => databaseFailure(await errorOf(one()))));
          expect(failures.filter((failure) => failure !== 'DATABASE_UNAVAILABLE' && failure !== 'DATABASE_BUSY')).toEqual([]);
          expect(performance.now() - began).toBeLessThan(40_000);
          thaw();
          await eventuallyAsync(() => errorOf(add('fourth')), (error) => error === undefined);
          expect((await store.db.client.findMany({ select: { vkey: true }, orderBy: { id: 'asc' } })).map(({ vkey }) => vkey)).toEqual(['first', 'fourth']);
          await store.ping();
        } finally {
          await store.close();
          await front.close();
          await server.stop();
        }
      },
    );
  });
}

/** Puts a server in front of a PostgreSQL server's socket, which can stop passing anything on while all connections stay open. */
async function freezable(directory: string) {
  const socketName = '.s.PGSQL.5432';
  const front = await mkdtemp(path.join(tmpdir(), 'adit-frozen-'));
  const pairs = new Set<readonly [net.Socket, net.Socket]>();
  let frozen = false;
  const server = net.createServer({ allowHalfOpen: true }, (visitor) => {
    const target = net.connect({ path: path.join(directory, socketName), allowHalfOpen: true });
    const pair = [visitor, target] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [target, visitor]] as const) {
      from.on('error', () => to.destroy());
      from.on('close', () => {
        // As a frozen server: it notices the end later.
        if (!frozen) to.destroy();
        pairs.delete(pair);
      });
      from.pipe(to);
      if (frozen) from.unpipe(to);
    }
  });
  server.listen(path.join(front, socketName));
  await once(server, 'listening');
  return {
    directory: front,
    freeze() {
      frozen = true;
      for (const [visitor, target] of pairs) {
        visitor.unpipe(target);
        target.unpipe(visitor);
      }
      return () => {
        frozen = false;
        for (const [visitor, target] of pairs) {
          visitor.pipe(target);
          target.pipe(visitor);
        }
      };
    },
    async close() {
      for (const [visitor, target] of pairs) {
        visitor.destroy();
        target.destroy();
      }
      await new Promise((resolve) => {
        server.close(resolve);
      });
      await rm(front, { recursive: true, force: true });
    },
  };
}
