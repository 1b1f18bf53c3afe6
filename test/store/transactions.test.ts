import { once, EventEmitter } from 'node:events';
import { describe, expect, jest, test } from '@jest/globals';
import pino from 'pino';
import type { NewAuditEntry } from '../../src/store/audit.ts';
import type { ChangeLog } from '../../src/store/change-log.ts';
import { CommitFollower } from '../../src/store/commit-follower.ts';
import type { PrismaClient } from '../../src/store/generated/sqlite/client.ts';
import { type Transaction, transactions, type WriteOptions } from '../../src/store/transaction.ts';
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
    // Nobody waits for what runs in the background, so it may begin anywhere.
    const begun: Array<Promise<string>> = [];
    await store.transaction(async () => void begun.push(store.transaction(async () => 'behind it', { background: true })));
    expect(await Promise.all(begun)).toEqual(['behind it']);
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

describe('writes that others follow', () => {
  const entry = (resourceId: string): NewAuditEntry => ({
    ...{ at: new Date(0), callerKind: 'admin', callerId: null, method: '', tokenName: '', address: '', resource: '', resourceId, action: '' },
    ...{ before: null, after: null },
  });

  /** Writes on a database and a log that only record what is asked of them. */
  function recorded() {
    const sent: unknown[] = [];
    const lost = { commit: false };
    const tx = {} as Transaction;
    const db = {
      async $transaction(run: (inside: Transaction) => Promise<unknown>, options: object) {
        sent.push(['begin', options]);
        await run(tx);
        if (lost.commit) throw new Error('no response');
      },
    } as unknown as PrismaClient;
    const changeLog = {
      lock: async (_tx: Transaction, long: boolean) => void sent.push(['lock', long]),
      async add(_tx: Transaction, entries: readonly NewAuditEntry[], changes: string) {
        sent.push(['add', changes]);
        return { entries: entries.map((one, index) => ({ id: index + 1, ...one })), position: { seq: 7, token: 'own' } };
      },
    } as unknown as ChangeLog;
    const follower = new CommitFollower(pino({ level: 'silent' }));
    const savepoints = {
      set: async () => void sent.push('savepoint'),
      undo: async () => void sent.push('undo'),
      shortenWait: async () => void sent.push('short'),
    };
    const transaction = transactions({ db, savepoints, changeLog, follower });
    const write = (name: string, options: WriteOptions<string> = {}, work: () => void = () => {}) =>
      transaction(async () => {
        sent.push(name);
        work();
        return name;
      }, {
        changes: (result) => [`change ${result}`],
        entries: (result) => [entry(`${result} 1`), entry(`${result} 2`)],
        committed: async (result, entries) => void sent.push([result, ...entries.map(({ id, resourceId }) => `${id}: ${resourceId}`)]),
        ...options,
      });
    return { sent, lost, follower, write };
  }

  test('share one row of the log, each with its own entries; what fails is in none; a long one is alone, and has ten minutes', async () => {
    const { sent, write, follower } = recorded();
    const committing = jest.spyOn(follower, 'committing');
    const refuse = () => {
      throw new Error('refused');
    };
    await Promise.allSettled([write('a'), write('b'), write('c', {}, refuse), write('d'), write('long', { long: true }), write('e')]);
    const begun = [['begin', {}], ['lock', false]];
    expect(sent).toEqual([
      ...[...begun, 'a', 'savepoint', 'b', 'savepoint', 'c', 'undo', 'savepoint', 'd', ['add', '["change a","change b","change d"]']],
      ...[['a', '1: a 1', '2: a 2'], ['b', '3: b 1', '4: b 2'], ['d', '5: d 1', '6: d 2']],
      ...[['begin', { timeout: 600_000 }], ['lock', true], 'long', ['add', '["change long"]'], ['long', '1: long 1', '2: long 2']],
      ...[...begun, 'e', ['add', '["change e"]'], ['e', '1: e 1', '2: e 2']],
    ]);
    expect(committing.mock.calls).toEqual([1, 2, 3].map(() => [{ seq: 7, token: 'own' }]));
  });

  test('are 16 at most in a transaction', async () => {
    const { sent, write } = recorded();
    await Promise.all(Array.from({ length: 33 }, (_, n) => write(String(n))));
    const rows = sent.flatMap((what) => Array.isArray(what) && what[0] === 'add' ? [String(what[1]).split(',').length] : []);
    expect(rows).toEqual([16, 16, 1]);
  });

  test('whose COMMIT got no response succeed if they were committed; otherwise, or if nobody knows, they fail and are given up', async () => {
    const { lost, write, follower } = recorded();
    lost.commit = true;
    const [isCommitted, givenUp] = [jest.spyOn(follower, 'isCommitted').mockResolvedValueOnce(true), jest.spyOn(follower, 'givenUp')];
    expect(await write('a')).toBe('a');
    expect(givenUp).not.toHaveBeenCalled();
    isCommitted.mockResolvedValueOnce(false);
    await expect(write('b')).rejects.toThrow('no response');
    expect(givenUp).toHaveBeenCalledTimes(1);
    isCommitted.mockRejectedValueOnce(new Error('nobody knows'));
    await expect(write('c')).rejects.toThrow('no response');
    expect(givenUp).toHaveBeenCalledTimes(2);
    expect(isCommitted.mock.calls).toEqual([1, 2, 3].map(() => [{ seq: 7, token: 'own' }]));
  });

  test('wait for a short time only within a second after one has waited for a lock in vain', async () => {
    const { sent, write } = recorded();
    const now = jest.spyOn(performance, 'now').mockReturnValue(5000);
    try {
      const tried = async (name: string, at: number, code?: string) => {
        now.mockReturnValue(at);
        await write(name, {}, () => {
          if (code !== undefined) throw Object.assign(new Error('failed'), { code });
        }).catch(() => {});
        return sent.splice(0).includes('short');
      };
      const shortened = [];
      for (const [name, at, code] of [['a', 5000, '53100'], ['b', 5001, '55P03'], ['c', 6000], ['d', 6001]] as const) {
        shortened.push(await tried(name, at, code));
      }
      expect(shortened).toEqual([false, false, true, false]);
    } finally {
      now.mockRestore();
    }
  });

  test('fail if what ends them fails, and the next one goes on', async () => {
    const { write } = recorded();
    const ended = () => Promise.reject(new Error('not ended'));
    await expect(write('a', { ended })).rejects.toThrow('not ended');
    await expect(write('b', { ended }, () => {
      throw new Error('refused');
    })).rejects.toThrow('not ended');
    expect(await write('c')).toBe('c');
  });
});
