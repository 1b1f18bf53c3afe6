import { afterAll, expect, jest, test } from '@jest/globals';
import { HeldRecords } from '../../src/schema/limits/held-records.ts';
import { ResultLimits, resultLimits } from '../../src/schema/limits/result-limits.ts';
import { TimeSlices } from '../../src/schema/limits/time-slices.ts';

let now = 0;
const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
afterAll(() => clock.mockRestore());

const iteration = () =>
  new Promise<void>((resolve) => {
    setImmediate(resolve);
  });

test('when the time of an iteration is used up, callers resume in round-robin order, and the operations of each caller in FIFO order', async () => {
  const slices = new TimeSlices();
  const done: string[] = [];
  /** Each part takes a whole slice, in several steps. */
  const work = async (name: string, parts: number): Promise<void> => {
    for (let part = 1; part <= parts; part++) {
      await slices.next(name.charAt(0));
      for (let step = 0; step < 3; step++) await Promise.resolve();
      done.push(`${name}.${part}`);
      now += 10;
    }
  };
  expect(slices.next('a')).toBeUndefined();
  now += 9.9;
  expect(slices.next('b')).toBeUndefined();
  now += 0.1;
  const all = Promise.all([work('a1', 1), work('a2', 2), work('a3', 1), work('b1', 2)]);
  expect(done).toEqual([]);
  await iteration();
  expect(done).toEqual(['a1.1']);
  await all;
  expect(done).toEqual(['a1.1', 'b1.1', 'a2.1', 'b1.2', 'a3.1', 'a2.2']);
});

test('the rows of a long list are passed on over several iterations, a few in each', async () => {
  const slices = new TimeSlices();
  const limits = new ResultLimits(slices, 'a', new HeldRecords().of('a'));
  expect(slices.next('a')).toBeUndefined();
  now += 10;
  const done: number[] = [];
  const rows = await limits.records(Array.from({ length: 40 }, (_, index) => index));
  for (const row of rows) {
    void Promise.resolve(row).then((index) => {
      done.push(Number(index));
      now += 10;
    });
  }
  await Promise.resolve();
  const counts = [done.length];
  while (done.length < rows.length) {
    await iteration();
    counts.push(done.length);
  }
  expect(counts[0]).toBe(4);
  expect(counts.length).toBeGreaterThan(4);
  expect(done).toEqual(Array.from({ length: 40 }, (_, index) => index));
});

test('each text of a result counts with 8 characters more than it has, also in lists of texts', async () => {
  const limits = () => new ResultLimits(new TimeSlices(), 'a', new HeldRecords().of('a'));
  const texts = (length: number) => Array.from({ length: 1000 }, () => 'x'.repeat(length));
  const most = resultLimits.characters / 1000 - 8;
  expect((await limits().of({ data: texts(most) })).data).toHaveLength(1000);
  await expect(limits().of({ data: texts(most + 1) })).rejects.toMatchObject({ code: 'RESULT_TOO_LARGE' });
  expect([limits().values(texts(most)), limits().values(texts(most + 1))].map((list) => list instanceof Promise)).toEqual([false, true]);
});
