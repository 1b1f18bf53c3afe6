import { once, EventEmitter } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { eachDialect, testDatabases } from '../support/database.ts';
import { statementsOf } from '../support/statements.ts';

eachDialect('a transaction', (databases) => {
  test('that fails leaves nothing, and the next one runs', async () => {
    const store = await databases.openEmpty();
    const failed = store.transaction(async (tx) => {
      await tx.client.create({ data: { vkey: 'gone' } });
      throw new Error('changed my mind');
    });
    await expect(failed).rejects.toThrow('changed my mind');
    await store.transaction((tx) => tx.client.create({ data: { vkey: 'kept' } }));
    expect((await store.db.client.findMany()).map(({ vkey }) => vkey)).toEqual(['kept']);
  });

  test('of 64 writers at once waits for those before it; 16 at most share one', async () => {
    const store = await databases.openEmpty();
    await store.db.total.create({ data: { name: 'n', value: 0 } });
    const statements = await statementsOf(store, () =>
      Promise.all(Array.from({ length: 64 }, () =>
        store.transaction(async (tx) => {
          const row = await tx.total.findUniqueOrThrow({ where: { name: 'n' } });
          await tx.total.update({ where: { name: 'n' }, data: { value: row.value + 1 } });
        }))));
    expect(statements.filter((text) => text === 'COMMIT')).toHaveLength(4);
    expect(await store.db.total.findUnique({ where: { name: 'n' } })).toMatchObject({ value: 64 });
  });

  test('takes in no write from elsewhere: it outlives the rollback', async () => {
    const store = await databases.openEmpty();
    const events = new EventEmitter();
    const begun = once(events, 'begun');
    const failed = store.transaction(async (tx) => {
      await tx.client.create({ data: { vkey: 'inside' } });
      events.emit('begun');
      for (let n = 0; n < 20; n++) await tx.client.count(); // time enough for the write from elsewhere to get in
      throw new Error('given up');
    });
    await begun;
    const elsewhere = (async () => store.db.client.create({ data: { vkey: 'elsewhere' } }))(); // Prisma writes only when something waits for it
    // What is not committed is seen by nobody.
    expect((await store.clientPage({ offset: 0 })).rows).not.toContainEqual(expect.objectContaining({ vkey: 'inside' }));
    await expect(failed).rejects.toThrow('given up');
    await elsewhere;
    expect((await store.db.client.findMany()).map(({ vkey }) => vkey)).toEqual(['elsewhere']);
  });

  test('inside a transaction is refused instead of waiting for itself', async () => {
    const store = await databases.openEmpty();
    await expect(store.transaction(() => store.transaction(async () => 'never'))).rejects.toThrow('pass tx on instead');
    expect(await store.transaction(async () => 'after')).toBe('after');
  });

  test('is shared by writes that wait; one of them that fails leaves nothing, the others stay', async () => {
    const store = await databases.openEmpty();
    const events = new EventEmitter();
    const free = once(events, 'free');
    const first = store.transaction(async (tx) => {
      await tx.client.create({ data: { vkey: 'first' } });
      await free;
    });
    const add = (vkey: string) => store.transaction((tx) => tx.client.create({ data: { vkey } }));
    const rest = Promise.allSettled([
      add('second'),
      add('first'),
      add('third'),
      store.transaction(async (tx) => {
        await tx.client.create({ data: { vkey: 'gone' } });
        throw new Error('changed my mind');
      }),
      add('fourth'),
    ]);
    const statements = await statementsOf(store, async () => {
      events.emit('free');
      await Promise.all([first, rest]);
    });
    expect((await rest).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled']);
    expect((await store.db.client.findMany({ orderBy: { id: 'asc' } })).map(({ vkey }) => vkey)).toEqual(['first', 'second', 'third', 'fourth']);
    expect(statements.filter((text) => text === 'COMMIT')).toHaveLength(1);
  });

  test('of changes is shared with no maintenance where there is a log of changes, since that holds no lock', async () => {
    const store = await databases.openEmpty();
    const events = new EventEmitter();
    const free = once(events, 'free');
    const add = (vkey: string, options = {}) => store.transaction((tx) => tx.client.create({ data: { vkey } }), options);
    const first = store.transaction(() => free);
    const rest = ['maintenance', 'change', 'other change', 'last'].map((vkey) => add(vkey, vkey.endsWith('change') ? { changes: () => [] } : {}));
    const statements = await statementsOf(store, async () => {
      events.emit('free');
      await Promise.all([first, ...rest]);
    });
    expect(statements.filter((text) => text === 'COMMIT')).toHaveLength(store.dialect === 'postgresql' ? 3 : 1);
  });

  test('that loses its database fails all writes that share it, and none of them hangs', async () => {
    const store = await databases.openEmpty();
    const events = new EventEmitter();
    const free = once(events, 'free');
    const first = store.transaction(async (tx) => {
      await tx.client.create({ data: { vkey: 'first' } });
      await free;
    });
    const ending = store.transaction(async (tx) => {
      await tx.$executeRawUnsafe('ROLLBACK'); // as the database does that gives a transaction up: no savepoint is left
      throw new Error('given up');
    });
    const last = store.transaction((tx) => tx.client.create({ data: { vkey: 'last' } }));
    const ends = Promise.allSettled([first, ending]);
    events.emit('free');
    expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await last;
    expect((await store.db.client.findMany()).map(({ vkey }) => vkey)).toEqual(['last']);
  });

  test('ends for each with what it publishes, in the order they came, before the next transaction begins', async () => {
    const store = await databases.openEmpty();
    const done: string[] = [];
    const write = (name: string, alone = false) =>
      store.transaction(async (tx) => {
        await tx.client.create({ data: { vkey: name } });
        done.push(`${name} stored`);
      }, {
        alone,
        committed: async () => {
          await new Promise((resolve) => setImmediate(resolve));
          done.push(`${name} published`);
          if (name === 'b') throw new Error('the engine failed');
        },
        ended: async () => void done.push(`${name} ended`),
      }).catch((error: Error) => done.push(error.message));
    await Promise.all([write('a'), write('b'), write('c'), write('d', true), write('e')]);
    expect(done).toEqual([
      'a stored',
      'b stored',
      'c stored',
      'a published',
      'a ended',
      'b published',
      'b ended',
      'the engine failed',
      'c published',
      'c ended',
      'd stored',
      'd published',
      'd ended',
      'e stored',
      'e published',
      'e ended',
    ]);
    expect(await store.db.client.count()).toBe(5);
  });

  test('that fails ends too, before the next one begins', async () => {
    const store = await databases.openEmpty();
    const done: string[] = [];
    const write = (name: string) =>
      store.transaction(async () => {
        done.push(`${name} begun`);
        throw new Error(`${name} failed`);
      }, { committed: async () => void done.push('never'), ended: async () => void done.push(`${name} ended`) }).catch((error: Error) =>
        done.push(error.message)
      );
    await Promise.all([write('a'), write('b')]);
    expect(done).toEqual(['a begun', 'a ended', 'a failed', 'b begun', 'b ended', 'b failed']);
  });

  test('that was acknowledged is seen by the next page', async () => {
    const store = await databases.openEmpty();
    for (let n = 1; n <= 20; n++) {
      await store.transaction((tx) => tx.client.create({ data: { vkey: `k${n}` } }));
      expect((await store.clientPage({ offset: 0 })).rows).toHaveLength(n);
    }
  });
});

describe('a commit that fails', () => {
  const databases = testDatabases('sqlite');

  test('rolls back all that shared it, and the next one succeeds', async () => {
    const { db, transaction } = await databases.openEmpty();
    const failed = transaction(async (tx) => {
      await tx.$executeRawUnsafe('PRAGMA defer_foreign_keys = ON'); // the missing owner is found out by COMMIT
      await tx.client.create({ data: { vkey: 'before', userId: 99 } });
    });
    const sharing = transaction((tx) => tx.client.create({ data: { vkey: 'with it' } }));
    await expect(failed).rejects.toThrow('ForeignKeyConstraintViolation');
    await expect(sharing).rejects.toThrow('ForeignKeyConstraintViolation');
    await transaction((tx) => tx.client.create({ data: { vkey: 'after' } }));
    expect((await db.client.findMany()).map(({ vkey }) => vkey)).toEqual(['after']);
  });
});
