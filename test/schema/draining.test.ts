import { describe, expect, jest, test } from '@jest/globals';
import pg from 'pg';
import type { NodeState } from '../../src/store/nodes.ts';
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

describe('what administrators see and say of servers', () => {
  const databases = testDatabases('sqlite');
  const node = (name: string, state: Partial<NodeState> = {}): NodeState => ({
    name,
    address: '',
    linkPort: 1,
    tlsPort: 2,
    version: '1.2.3',
    startedAt: new Date(3000),
    seenAt: new Date(4000),
    stopped: false,
    alive: true,
    draining: false,
    agents: 5,
    connections: 6,
    load: 0.7,
    lagMs: 8000,
    unreachableFrom: [],
    ...state,
  });

  test('each has what it has reported, and the settings that differ there', async () => {
    const api = await openTestSchema(databases);
    const unreachableFrom = [{ node: 'three', since: new Date(9000), problem: 'refused' }];
    const nodes = [node('one'), node('two', { address: 'two.example:8024', stopped: true, alive: false, draining: true, unreachableFrom })];
    jest.spyOn(api.services.store, 'nodes').mockResolvedValue(nodes);
    api.engine.different = [{ node: 'two', isOlder: true, settings: ['allow_ports'] }];
    const fields = `name address version startedAt lastReportAt stopped alive draining agents connections load lagSeconds
      unreachableFrom { node since problem } differentSettings`;
    const times = { startedAt: '1970-01-01T00:00:03.000Z', lastReportAt: '1970-01-01T00:00:04.000Z' };
    const usual = { version: '1.2.3', ...times, agents: 5, connections: 6, load: 0.7, lagSeconds: 8 };
    expect(await api.ok(`{ nodes { ${fields} } }`)).toEqual({
      nodes: [
        { ...usual, name: 'one', address: null, stopped: false, alive: true, draining: false, unreachableFrom: [], differentSettings: [] },
        {
          ...usual,
          name: 'two',
          address: 'two.example:8024',
          stopped: true,
          alive: false,
          draining: true,
          unreachableFrom: [{ node: 'three', since: '1970-01-01T00:00:09.000Z', problem: 'refused' }],
          differentSettings: ['allow_ports'],
        },
      ],
    });
  });

  test.each<readonly [string, boolean, readonly NodeState[], string | undefined]>([
    ['one that nobody knows', true, [node('two')], 'NOT_FOUND'],
    ['one that does not run', true, [node('one', { alive: false }), node('two')], 'NODE_NOT_RUNNING'],
    ['one that does not run', false, [node('one', { alive: false }), node('two')], 'NODE_NOT_RUNNING'],
    ['the only one', true, [node('one')], 'NODE_ALONE'],
    ['the only one that runs', true, [node('one'), node('two', { alive: false })], 'NODE_ALONE'],
    ['the last one that does not drain', true, [node('one'), node('two', { draining: true })], 'NODE_ALONE'],
    ['one of two', true, [node('one'), node('two')], undefined],
    ['the only one', false, [node('one', { draining: true })], undefined],
    ['one that drains already', true, [node('one', { draining: true }), node('two')], undefined],
    ['one that does not drain', false, [node('one')], undefined],
  ])('%s is to drain: %s', async (_name, wanted, nodes, code) => {
    const api = await openTestSchema(databases);
    const { db } = api.services.store;
    const before = nodes.find(({ name }) => name === 'one')?.draining ?? false;
    const about = { address: '', linkPort: 1, tlsPort: 1, version: '', incarnation: '', startedAt: new Date(), seenAt: new Date() };
    await db.node.create({ data: { ...about, name: 'one', draining: before } });
    jest.spyOn(api.services.store, 'nodes').mockResolvedValue([...nodes]);
    const { data, errors } = await api.run(`mutation { ${wanted ? 'drain' : 'undrain'}Node(name: "one") { name draining } }`);
    expect(errors.map((error) => error.code)).toEqual(code === undefined ? [] : [code]);
    if (code === undefined) expect(data).toEqual({ [wanted ? 'drainNode' : 'undrainNode']: { name: 'one', draining: wanted } });
    expect((await db.node.findFirst())?.draining).toBe(code === undefined ? wanted : before);
    const logged = (await db.auditEntry.findMany()).map(({ resource, action, before: was, after }) => [resource, action, was, after]);
    const record = (draining: boolean) => JSON.stringify({ name: 'one', draining });
    expect(logged).toEqual(code === undefined && before !== wanted ? [['node', 'update', record(before), record(wanted)]] : []);
  });
});
