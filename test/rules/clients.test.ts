import { expect, test } from '@jest/globals';
import { effectiveExpiry, expiresAfterOwner } from '../../src/rules/expiry.ts';
import { mayUseClient } from '../../src/rules/ownership.ts';
import { newVerifyKey } from '../../src/rules/vkey.ts';

const early = new Date('2027-01-01T00:00:00Z');
const late = new Date('2028-01-01T00:00:00Z');

test.each([
  [null, null, null],
  [early, null, early],
  [null, early, early],
  [early, late, early],
  [late, early, early],
  [early, undefined, early],
  [null, undefined, null],
])("own expiry %j and the owner's %j make %j", (own, owners, effective) => {
  expect(effectiveExpiry(own, owners)).toBe(effective);
});

test("an expiry may equal the owner's, but not be later; none of its own follows the owner's", () => {
  expect(expiresAfterOwner(late, early)).toBe(true);
  for (const [own, owners] of [[early, early], [early, late], [null, early], [late, null]] as const) expect(expiresAfterOwner(own, owners)).toBe(false);
});

test('a client is for administrators, its owner and its own login', () => {
  const client = { id: 2, userId: 7 };
  expect(mayUseClient({ kind: 'admin' }, client)).toBe(true);
  expect(mayUseClient({ kind: 'user', userId: 7 }, client)).toBe(true);
  expect(mayUseClient({ kind: 'user', userId: 2 }, client)).toBe(false);
  expect(mayUseClient({ kind: 'client', clientId: 2 }, client)).toBe(true);
  expect(mayUseClient({ kind: 'client', clientId: 7 }, client)).toBe(false);
  expect(mayUseClient({ kind: 'anonymous' }, client)).toBe(false);
  expect(mayUseClient({ kind: 'user', userId: 7 }, { id: 2, userId: null })).toBe(false);
});

test('keys have 24 characters and do not repeat', () => {
  const keys = new Set(Array.from({ length: 1000 }, newVerifyKey));
  expect(keys.size).toBe(1000);
  for (const key of keys) expect(key).toMatch(/^[a-z2-7]{24}$/);
  // Every one of the 32 characters is used.
  expect(new Set([...keys].join('')).size).toBe(32);
});
