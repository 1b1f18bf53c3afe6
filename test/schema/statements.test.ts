import { expect, test } from '@jest/globals';
import { eachDialect } from '../support/database.ts';
import { openTestSchema } from '../support/schema.ts';
import { statementsOf } from '../support/statements.ts';

const createTunnel = 'mutation ($input: CreateTunnelInput!) { createTunnel(input: $input) { id } }';

eachDialect('a new tunnel', (databases) => {
  test.each(['tcp', 'secret'])(
    'of type %s takes six statements: its client and owner, itself, its entry in the audit log, all in one transaction; on PostgreSQL, the lock of all writers is another one',
    async (mode) => {
      const api = await openTestSchema(databases);
      const { store } = api.services;
      await store.db.user.create({ data: { username: 'alice', passwordHash: '', maxTunnels: 9, clients: { create: { vkey: 'k', maxTunnels: 9 } } } });
      const statements = await statementsOf(store, () => api.ok(createTunnel, { input: { clientId: 1, mode: mode.toUpperCase(), password: 'p' } }));
      expect(statements).toEqual([
        expect.stringMatching(/^BEGIN/),
        ...databases.dialect === 'postgresql' ? [expect.stringMatching(/^SELECT pg_advisory_xact_lock/)] : [],
        expect.stringMatching(/^SELECT .*Client/s),
        expect.stringMatching(/^SELECT .*User/s),
        expect.stringMatching(/^INSERT INTO .*Tunnel/s),
        databases.dialect === 'postgresql'
          ? expect.stringMatching(/INSERT INTO "AuditEntry".*INSERT INTO "LoggedCommit"/s)
          : expect.stringMatching(/^INSERT INTO .*AuditEntry/s),
        'COMMIT',
      ]);
    },
  );

  test('that is asked for with seven others shares its transaction with them', async () => {
    const api = await openTestSchema(databases);
    const { store } = api.services;
    await store.db.client.create({ data: { vkey: 'k' } });
    const statements = await statementsOf(
      store,
      () => Promise.all(Array.from({ length: 8 }, () => api.ok(createTunnel, { input: { clientId: 1, mode: 'TCP' } }))),
    );
    expect(statements.filter((text) => text === 'COMMIT')).toHaveLength(1);
    expect(statements.length).toBeLessThan(8 * 4);
    expect(await store.db.tunnel.count()).toBe(8);
  });
}, { alone: true });
