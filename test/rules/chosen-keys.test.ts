import { expect, test } from '@jest/globals';
import { ChosenKeys } from '../../src/rules/chosen-keys.ts';

test('an owner may choose 1,000 passwords at once and one a second then, those it had before besides; others are not affected', () => {
  const keys = new ChosenKeys();
  const now = Date.now();
  const choose = (count: number, owner: string, at: number) => {
    let allowed = 0;
    for (let index = 0; index < count; index++) if (keys.mayChoose(owner, `${at} ${index}`, at)) allowed++;
    return allowed;
  };
  expect(keys.mayChoose('user 1', 'own', now)).toBe(true);
  keys.chosen('user 1', 'own');
  expect(choose(2000, 'user 1', now)).toBe(999);
  for (let again = 0; again < 3; again++) expect(keys.mayChoose('user 1', 'own', now)).toBe(true);
  expect(choose(2000, 'user 2', now)).toBe(1000);
  expect(choose(2000, 'user 1', now + 5000)).toBe(5);
});

test('1,000 own passwords of an owner are remembered, and 10,000 owners', () => {
  const keys = new ChosenKeys();
  for (let index = 0; index <= 1000; index++) keys.chosen('user 1', `own ${index}`);
  for (let count = 0; count < 1000; count++) keys.mayChoose('user 1', `guess ${count}`, 0);
  expect([keys.mayChoose('user 1', 'own 0', 0), keys.mayChoose('user 1', 'own 1', 0)]).toEqual([false, true]);
  for (let owner = 2; owner <= 10_001; owner++) keys.mayChoose(`user ${owner}`, 'x', 0);
  expect(keys.mayChoose('user 1', 'own 0', 0)).toBe(true);
});
