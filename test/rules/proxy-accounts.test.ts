import { expect, test } from '@jest/globals';
import { accountFault, joinAccounts, splitAccounts } from '../../src/rules/proxy-accounts.ts';

const LONGEST = 'ü'.repeat(127) + 'x';

test.each([
  ['u', 'p', ''],
  ['u', '', ''],
  [LONGEST, LONGEST, ''],
  ['u', 'p:q', ''],
  ['', 'p', 'the user name is empty'],
  ['a:b', 'p', 'the user name holds a colon'],
  [`${LONGEST}x`, 'p', 'the user name is longer than 255 bytes'],
  ['u', `${LONGEST}x`, 'the password is longer than 255 bytes'],
  ['u\0', 'p', 'it holds a NUL character'],
  ['u', '\0', 'it holds a NUL character'],
])('an account with the name %j and the password %j: %j', (user, password, fault) => {
  expect(accountFault({ user, password })).toBe(fault);
});

test('accounts are stored as one text, which is empty without any', () => {
  const accounts = [{ user: 'a', password: 'p:"q' }, { user: 'b', password: '' }];
  expect(splitAccounts(joinAccounts(accounts))).toEqual(accounts);
  expect([joinAccounts([]), splitAccounts('')]).toEqual(['', []]);
});
