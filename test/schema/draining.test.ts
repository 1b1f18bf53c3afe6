import { expect, test } from '@jest/globals';
import pg from 'pg';
import { testDatabases } from '../support/database.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { describeWith } from '../support/programs.ts';
import { FakeEngine } from '../support/engine.ts';
import { openSchemaOver, openTestSchema } from '../support/schema.ts';

describeWith('initdb', 'servers that drain', () => {
  const databases = testDatabases('postgresql');

  test('at the same moment: the last one goes on', async () => {
    const api = await openTestSchema(databases);
    const { db } = api.services.store;
    const running = { address: '', linkPort: 1, tlsPort: 1, version: '1.2.3', startedAt: new Date(), seenAt: new Date() };
    await db.node.createMany({ data: ['one', 'two', 'three'].map((name) => ({ ...running, name, incarnation: name })) });
    // Those that wait for the first one are in one transaction.
    const codes = await Promise.all(['one', 'two', 'three'].map((name) => api.code('mutation ($name: String!) { drainNode(name: $name) { name } }', { name })));
    expect(codes).toEqual([undefined, undefined, 'NODE_ALONE']);
    expect(await api.ok('{ nodes { name draining } }')).toEqual({
      nodes: [{ name: 'one', draining: true }, { name: 'three', draining: false }, { name: 'two', draining: true }],
    });
  });

  test('on a database that accepts no changes: that is the reason, not that no server has reported', async () => {
    const database = await databases.create();
    const store = await database.open();
    const api = await openSchemaOver(new FakeEngine(), { ...databases, openEmpty: async () => store });
    await store.node.join({ name: 'one', address: '', linkPort: 1, tlsPort: 1, version: '1.2.3' });
    const drain = () => api.code('mutation { drainNode(name: "one") { name } }');
    expect(await drain()).toBe('NODE_ALONE');
    await store.db.$executeRaw`UPDATE "Node" SET "seenAt" = "seenAt" - interval '11 s'`;
    expect(await drain()).toBe('NODE_NOT_RUNNING');
    // As after a failover to a standby.
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(`ALTER DATABASE ${pg.escapeIdentifier(new URL(database.url).pathname.slice(1))} SET default_transaction_read_only = on`);
    await client.query('SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()');
    await client.end();
    expect(await eventuallyAsync(drain, (code) => code !== 'DATABASE_UNAVAILABLE')).toBe('DATABASE_READ_ONLY');
    await expect(store.ping()).rejects.toThrow(/read-only/);
  });
});
