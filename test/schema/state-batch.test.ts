import { expect, test } from '@jest/globals';
import { StateBatch } from '../../src/schema/lists/state-batch.ts';

test('requests of one iteration are batched, each id once, and cached', async () => {
  const asked: number[][] = [];
  const states = new StateBatch(async (ids) => {
    asked.push([...ids]);
    return ids.map((id) => id === 3 ? undefined : `state ${id}`);
  });
  const first = await Promise.all([states.load(1), states.load(2), Promise.resolve().then(() => states.load(3)), states.load(1)]);
  expect(first).toEqual(['state 1', 'state 2', undefined, 'state 1']);
  expect(await Promise.all([states.load(2), states.load(4)])).toEqual(['state 2', 'state 4']);
  expect(asked).toEqual([[1, 2, 3], [4]]);
});

test('a failure of the engine reaches all requests of the batch', async () => {
  const states = new StateBatch<string>(async () => {
    throw new Error('the engine is gone');
  });
  await expect(Promise.all([states.load(1), states.load(2)])).rejects.toThrow('the engine is gone');
});
