import { expect, test } from '@jest/globals';
import { userRow } from '../../src/schema/import/rows.ts';
import { Problems } from '../../src/schema/values/problems.ts';
import { schemaSettings } from '../support/schema.ts';

const none = { maxClients: 0, maxTunnels: 0, expiresAt: null, createdAt: null } as const;

test.each([['', /^$/], ['a password', /^\S{20,}$/]])('a user whose password is "%s" is imported with the hash %s', (password, hash) => {
  const user = { kind: 'user', source: '', id: 1, username: 'alice', password, remark: '', enabled: true, tokenHash: '', ...none } as const;
  expect(userRow(new Problems(), user, { settings: schemaSettings, now: 0 }).passwordHash).toMatch(hash);
});
