import { expect, test } from '@jest/globals';
import { HeldRecords, type HeldByOperation } from '../../src/schema/limits/held-records.ts';

/** A page that is being read. */
function reading(operation: HeldByOperation) {
  let done = (): void => undefined;
  let begun = false;
  const read = operation.read(() =>
    new Promise<void>((resolve) => {
      begun = true;
      done = resolve;
    })
  );
  return {
    get begun() {
      return begun;
    },
    async end(characters: number) {
      operation.add(characters);
      done();
      await read;
      await nextIteration();
    },
  };
}

const nextIteration = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

test('while the operations of a caller hold much, only the first of them reads on; other callers do not wait', async () => {
  const held = new HeldRecords();
  const [first, second, third, other] = [held.of('user 1'), held.of('user 1'), held.of('user 1'), held.of('user 2')];
  const pages = [first, second, third].map(reading);
  const began = () => pages.map(({ begun }) => begun);
  expect([...began(), reading(other).begun]).toEqual([true, false, false, true]);
  await pages[0]?.end(7_000_000);
  expect(began()).toEqual([true, true, false]);
  await pages[1]?.end(2_000_000);
  expect(began()).toEqual([true, true, false]);
  const [later, more] = [reading(second), reading(first)];
  expect([later.begun, more.begun]).toEqual([false, true]);
  first.end();
  await more.end(0);
  expect([...began(), later.begun]).toEqual([true, true, true, false]);
  await pages[2]?.end(0);
  expect(later.begun).toBe(true);
});

test('what is read after the end of its operation holds nothing', async () => {
  const held = new HeldRecords();
  const [late, next, other] = [held.of('user 1'), held.of('user 1'), held.of('user 1')];
  const page = reading(late);
  const pages = [next, other].map(reading);
  late.end();
  await page.end(9_000_000);
  await pages[0]?.end(1);
  expect(pages.map(({ begun }) => begun)).toEqual([true, true]);
});

test('a page that can not be read leaves its place', async () => {
  const held = new HeldRecords();
  for (let n = 0; n < 5; n++) await expect(held.of('user 1').read(() => Promise.reject(new Error('no database')))).rejects.toThrow('no database');
  expect(reading(held.of('user 1')).begun).toBe(true);
});

test('an operation that ends without having read everything leaves nothing behind', async () => {
  const held = new HeldRecords();
  const operations = Array.from({ length: 4 }, () => held.of('user 1'));
  const pages = operations.map(reading);
  // It fails for another reason while it waits.
  operations[3]?.end();
  for (const [n, page] of pages.entries()) {
    expect(page.begun).toBe(true);
    await page.end(9_000_000);
    operations[n]?.end();
    await nextIteration();
  }
  expect(reading(held.of('user 1')).begun).toBe(true);
});
