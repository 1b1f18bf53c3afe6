import { describe, expect, test } from '@jest/globals';
import type { Caller } from '../../src/rules/caller.ts';
import { testDatabases } from '../support/database.ts';
import { openTestSchema } from '../support/schema.ts';
import { seedUsers } from '../support/seed.ts';

const create = 'mutation ($input: CreateApiTokenInput!) { createApiToken(input: $input) { apiToken { id } } }';
const tokens = 'query ($userId: ID) { apiTokens(userId: $userId) { id name readOnly scope secrets user { id } expiresAt } }';

describe('tokens', () => {
  const databases = testDatabases('sqlite');

  test('of a user, and of all administrators together, there are 100 at most', async () => {
    const api = await openTestSchema(databases);
    const { db } = api.services.store;
    const [alice = 0, bob = 0] = await seedUsers(api.services.store, 2);
    for (const userId of [alice, null]) {
      await db.apiToken.createMany({ data: Array.from({ length: 99 }, (_, n) => ({ userId, name: `${n}`, hash: `${userId} ${n}` })) });
    }
    const input = { name: 'one more' };
    for (const [caller, userId] of [[{ kind: 'user', userId: alice }, null], [{ kind: 'admin' }, alice], [{ kind: 'admin' }, null]] as const) {
      const code = await api.code(create, { input: { ...input, userId } }, caller);
      expect(code).toBe(caller.kind === 'admin' && userId === alice ? 'TOKEN_LIMIT' : undefined);
    }
    const { errors } = await api.run(create, { input });
    expect(errors).toMatchObject([{ code: 'TOKEN_LIMIT', extensions: { most: 100 } }]);
    expect(await api.code(create, { input }, { kind: 'user', userId: bob })).toBeUndefined();
    // The one of the legacy API that is replaced makes room for the new one.
    await db.apiToken.update({ where: { hash: `${alice} 0` }, data: { legacy: true } });
    expect(await api.code('mutation { regenerateLegacyApiToken { token } }', {}, { kind: 'user', userId: alice })).toBeUndefined();
  });

  test('are listed and revoked by administrators and their own user; the audit log has each that begins and ends', async () => {
    const api = await openTestSchema(databases);
    const [alice = 0, bob = 0] = await seedUsers(api.services.store, 2);
    const [asAlice, asBob] = [{ kind: 'user', userId: alice }, { kind: 'user', userId: bob }] satisfies Caller[];
    const expiresAt = '2100-01-01T00:00:00.000Z';
    const made = [
      await api.code(create, { input: { name: 'plain' } }, asAlice),
      await api.code(create, { input: { name: 'reads', readOnly: true, expiresAt } }, asAlice),
      await api.code(create, { input: { name: 'wall', scope: 'WALL', readOnly: false } }, asAlice),
      await api.code('mutation { regenerateLegacyApiToken { token } }', {}, asAlice),
      await api.code('mutation { regenerateLegacyApiToken { token } }', {}, asAlice),
      await api.code(create, { input: { name: 'of an administrator', secrets: false } }),
    ];
    expect(made).toEqual(made.map(() => undefined));
    const usual = { readOnly: false, scope: 'ALL', secrets: true, user: { id: alice }, expiresAt: null };
    const own = [
      { ...usual, id: 1, name: 'plain' },
      { ...usual, id: 2, name: 'reads', readOnly: true, secrets: false, expiresAt },
      { ...usual, id: 3, name: 'wall', readOnly: true, scope: 'WALL', secrets: false },
      { ...usual, id: 5, name: 'API key' },
    ];
    expect((await api.run(tokens, {}, asAlice)).data).toEqual({ apiTokens: own });
    expect([await api.ok(tokens, { userId: alice }), await api.ok(tokens)]).toEqual([
      { apiTokens: own },
      { apiTokens: [{ ...usual, id: 6, name: 'of an administrator', secrets: false, user: null }] },
    ]);
    // One for a wall from before secrets could be chosen sees none.
    await api.services.store.db.apiToken.update({ where: { id: 3 }, data: { secrets: null } });
    expect((await api.run(tokens, {}, asAlice)).data).toEqual({ apiTokens: own });
    expect(await api.code(tokens, { userId: alice }, asBob)).toBe('FORBIDDEN');
    const revoke = (id: number, caller?: Caller) => api.code(`mutation { revokeApiToken(id: ${id}) }`, {}, caller);
    expect([await revoke(1, asBob), await revoke(6, asAlice), await revoke(99), await revoke(1, asAlice), await revoke(2)]).toEqual([
      'NOT_FOUND',
      'NOT_FOUND',
      'NOT_FOUND',
      undefined,
      undefined,
    ]);
    const revokeLegacy = (userId: number | null, caller?: Caller) =>
      api.run('mutation ($userId: ID) { revokeLegacyApiToken(userId: $userId) }', { userId }, caller);
    expect((await revokeLegacy(99)).errors).toMatchObject([{ code: 'NOT_FOUND', message: 'user ID not found' }]);
    expect((await revokeLegacy(null)).errors).toMatchObject([{ code: 'NOT_FOUND', message: 'token ID not found' }]);
    expect((await revokeLegacy(alice, asBob)).errors).toMatchObject([{ code: 'FORBIDDEN' }]);
    const legacy = async () => await api.ok(`{ legacyApiToken(userId: ${alice}) { id } }`);
    expect(await legacy()).toEqual({ legacyApiToken: { id: 5 } });
    expect((await revokeLegacy(alice)).data).toEqual({ revokeLegacyApiToken: 5 });
    expect(await legacy()).toEqual({ legacyApiToken: null });
    const logged = await api.services.store.db.auditEntry.findMany({ where: { resource: 'apiToken' }, orderBy: { id: 'asc' } });
    expect(logged.map(({ action, resourceId }) => `${action} ${resourceId}`)).toEqual(
      ['create 1', 'create 2', 'create 3', 'create 4', 'delete 4', 'create 5', 'create 6', 'delete 1', 'delete 2', 'delete 5'],
    );
    // With a new password all that are left end, which the audit log has, too.
    await api.ok(`mutation { regenerateLegacyApiToken(userId: ${alice}) { token } }`);
    await api.ok(`mutation { updateUser(id: ${alice}, input: { password: "another password" }) { id } }`);
    expect((await api.services.store.db.apiToken.findMany()).map(({ id }) => id)).toEqual([6]);
    const ended = await api.services.store.db.auditEntry.findMany({ where: { resource: 'apiToken', action: 'delete' }, orderBy: { id: 'desc' }, take: 2 });
    expect(ended.map(({ resourceId }) => resourceId)).toEqual(['7', '3']);
  });
});
