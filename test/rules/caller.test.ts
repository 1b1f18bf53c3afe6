import { expect, test } from '@jest/globals';
import { shareOf } from '../../src/rules/caller.ts';

test('calls of one account share a key, however they authenticated; each token of the administrator has its own', () => {
  expect(shareOf({ kind: 'admin' })).toBe(shareOf({ kind: 'admin' }));
  expect(shareOf({ kind: 'user', userId: 1, tokenId: 5 })).toBe(shareOf({ kind: 'user', userId: 1 }));
  const keys = [
    shareOf({ kind: 'admin' }),
    shareOf({ kind: 'admin', tokenId: 1 }),
    shareOf({ kind: 'admin', tokenId: 2 }),
    shareOf({ kind: 'user', userId: 1 }),
    shareOf({ kind: 'client', clientId: 1 }),
    shareOf({ kind: 'anonymous' }),
  ];
  expect(new Set(keys).size).toBe(keys.length);
});
