import { afterEach, expect, jest, test } from '@jest/globals';
import { addRefusals, type RefusalBatch, type RefusalGain } from '../../src/store/hot/refusals.ts';
import { RefusalSaver } from '../../src/store/refusal-saver.ts';
import type { Transaction } from '../../src/store/transaction.ts';
import { testDatabases } from '../support/database.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { describeWith } from '../support/programs.ts';
import { seedClients } from '../support/seed.ts';

afterEach(() => {
  jest.useRealTimers();
});

const gain = (count: number): RefusalGain => ({ clientId: 1, cause: 'login', count });

test('refusals are saved every five seconds and at the end, and nothing when there are none', async () => {
  jest.useFakeTimers();
  const taken = [[gain(1)], [], [gain(2)]];
  const saved: number[] = [];
  const store = {
    saveRefusals: async ({ gains }: RefusalBatch) => {
      saved.push(...gains.map(({ count }) => count));
    },
  };
  const saver = new RefusalSaver({ takeRefusals: () => taken.shift() ?? [] }, store, new LogRecorder().logger);
  saver.start();
  await jest.advanceTimersByTimeAsync(10_000);
  expect(saved).toEqual([1]);
  await saver.stop();
  await jest.advanceTimersByTimeAsync(10_000);
  expect(saved).toEqual([1, 2]);
});

test('many are written in the order of their clients, so that two servers never wait for each other, 2,000 by a statement', async () => {
  const written: RefusalGain[][] = [];
  const tx = { $executeRawUnsafe: async (_: string, gains: string) => void written.push(JSON.parse(gains)) } as unknown as Transaction;
  const gains = Array.from({ length: 4001 }, (_, index) => ({ clientId: (index * 7) % 4001, cause: 'login', count: index }));
  await addRefusals(tx, 'postgresql', gains, 0);
  expect(written.map(({ length }) => length)).toEqual([2000, 2000, 1]);
  expect(written.flat().map(({ clientId }) => clientId)).toEqual(Array.from({ length: 4001 }, (_, index) => index));
});

test('a batch that could not be saved is tried again as it was, before what came since', async () => {
  const taken = [[gain(1)], [gain(2)]];
  const tried: RefusalBatch[] = [];
  let broken = true;
  const log = new LogRecorder();
  const store = {
    saveRefusals: async (batch: RefusalBatch) => {
      tried.push(batch);
      if (broken) throw new Error('the disk is full');
    },
  };
  const saver = new RefusalSaver({ takeRefusals: () => taken.shift() ?? [] }, store, log.logger);
  await saver.save();
  await log.line(/refused connections could not be stored/);
  await saver.save();
  broken = false;
  await saver.save();
  await saver.save();
  expect(tried.map(({ gains }) => gains[0]?.count)).toEqual([1, 1, 1, 2]);
  expect(new Set(tried.map(({ id }) => id)).size).toBe(2);
});

describeWith('initdb', 'refusals on PostgreSQL', () => {
  const databases = testDatabases('postgresql');

  test('count once although the response to COMMIT is lost', async () => {
    const store = await databases.openEmpty();
    await store.node.join({ name: 'one', address: 'one.example:8024', linkPort: 8025, tlsPort: 8026, version: '1' });
    const [other = 0, clientId = 0] = await seedClients(store, 2);
    let lost = true;
    const losing = {
      saveRefusals: async (batch: RefusalBatch) => {
        await store.saveRefusals(batch);
        if (lost) throw new Error('the connection was lost');
      },
    };
    const first = [{ clientId, cause: 'login', count: 1 }, { clientId: 9999, cause: 'login', count: 1 }, { clientId: other, cause: 'flow', count: 2 ** 52 }];
    const taken = [first, [{ clientId, cause: 'login', count: 10 }, { clientId: other, cause: 'flow', count: 2 ** 53 - 1 }]];
    const saver = new RefusalSaver({ takeRefusals: () => taken.shift() ?? [] }, losing, new LogRecorder().logger);
    await saver.save();
    lost = false;
    await saver.save();
    const samples = await store.db.refusalSample.findMany({ orderBy: [{ clientId: 'asc' }, { step: 'asc' }] });
    const sums = new Map<string, bigint>();
    // The clock may pass from one bucket to the next meanwhile.
    for (const { clientId: id, cause, step, count } of samples) sums.set(`${id} ${cause} ${step}`, (sums.get(`${id} ${cause} ${step}`) ?? 0n) + count);
    const steps = ['day', 'hour', 'minute'];
    expect([...sums]).toEqual([
      ...steps.map((step) => [`${other} flow ${step}`, expect.any(BigInt)]),
      ...steps.map((step) => [`${clientId} login ${step}`, 11n]),
    ]);
    expect(Math.max(...samples.map(({ count }) => Number(count)))).toBe(Number.MAX_SAFE_INTEGER);
  });
});
