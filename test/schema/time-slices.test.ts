import { afterEach, expect, jest, test } from '@jest/globals';
import { TimeSlices } from '../../src/schema/limits/time-slices.ts';

let now = 0;
const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
afterEach(() => {
  clock.mockRestore();
});

test('when the time of an iteration is used up, callers resume in round-robin order, and the operations of each caller in FIFO order', async () => {
  const slices = new TimeSlices();
  const done: string[] = [];
  const iteration = () =>
    new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  /** Each part takes a whole slice. */
  const work = async (name: string, parts: number): Promise<void> => {
    for (let part = 1; part <= parts; part++) {
      await slices.next(name.charAt(0));
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
