import { expect, test } from '@jest/globals';
import { sharedCheck } from '../../src/http/shared-check.ts';

test('requests that come together share one check, later ones its result for half a second, whatever it was', async () => {
  const ends: Array<ReturnType<typeof deferred>> = [];
  let now = 1000;
  const check = sharedCheck(() => {
    const end = deferred();
    ends.push(end);
    return end.promise;
  }, () => now);
  const first = [check(), check()];
  now += 60_000; // one that hangs is not repeated
  first.push(check());
  expect(ends).toHaveLength(1);
  ends[0]?.resolve();
  await Promise.all(first);
  now += 499;
  await check();
  expect(ends).toHaveLength(1);
  now += 1;
  const failing = check();
  ends[1]?.reject(new Error('the database is gone'));
  await expect(failing).rejects.toThrow('the database is gone');
  await expect(check()).rejects.toThrow('the database is gone');
  expect(ends).toHaveLength(2);
  now += 500;
  const again = check();
  ends[2]?.resolve();
  await again;
  expect(ends).toHaveLength(3);
});

function deferred() {
  let [resolve, reject]: [() => void, (error: Error) => void] = [() => {}, () => {}];
  const promise = new Promise<void>((done, failed) => {
    [resolve, reject] = [done, failed];
  });
  return { promise, resolve, reject };
}
