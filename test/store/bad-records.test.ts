import { expect, test } from '@jest/globals';
import { BadRecords } from '../../src/store/bad-records.ts';
import type { CounterBatch } from '../../src/store/hot/counters.ts';
import { StateSaver } from '../../src/store/state-saver.ts';
import type { TestStore } from '../support/test-store.ts';
import { eitherDialect } from '../support/database.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { RawPeer } from '../support/raw-peer.ts';
import { seedClients, seedHosts, seedTunnels } from '../support/seed.ts';
import { CLIENT, fresh, startEngine } from '../support/tunnel.ts';

const MOST = Number.MAX_SAFE_INTEGER;
const seen = { connected: false, rate: 0, connections: 3, address: '', localAddress: '', version: '', lastOnlineAt: null };

/** Makes the database refuse to change a record. */
async function spoil({ db, dialect }: TestStore, id: number, table = 'Client'): Promise<void> {
  const statements = dialect === 'sqlite'
    ? [`CREATE TRIGGER spoilt BEFORE UPDATE ON "${table}" WHEN NEW.id = ${id} BEGIN SELECT RAISE(ABORT, 'spoilt'); END`]
    : [
      "CREATE FUNCTION spoilt() RETURNS trigger AS $$ BEGIN RAISE EXCEPTION 'spoilt'; END $$ LANGUAGE plpgsql",
      `CREATE TRIGGER spoilt BEFORE UPDATE ON "${table}" FOR EACH ROW WHEN (NEW.id = ${id}) EXECUTE FUNCTION spoilt()`,
    ];
  for (const statement of statements) await db.$executeRawUnsafe(statement);
}

async function repair({ db, dialect }: TestStore): Promise<void> {
  await db.$executeRawUnsafe(dialect === 'sqlite' ? 'DROP TRIGGER spoilt' : 'DROP FUNCTION spoilt CASCADE');
}

eitherDialect('running state', (databases) => {
  test('a record that cannot be stored does not affect others, is logged once, and is stored when possible', async () => {
    const store = await databases.openEmpty();
    const ids = await seedClients(store, 300);
    const bad = ids[77] ?? 0;
    await spoil(store, bad);
    const log = new LogRecorder();
    let bytes = 0;
    const restored: CounterBatch[] = [];
    const saver = new StateSaver(
      {
        takeDirty: async () => ({ clients: ids.map((id) => ({ id, ...seen, inletBytes: ++bytes, exportBytes: 0 })), tunnels: [], hosts: [] }),
        restoreDirty: async (batch) => {
          restored.push(batch);
        },
      },
      store,
      log.logger,
    );
    for (let round = 1; round <= 3; round++) {
      await saver.stop();
      const rows = await store.db.client.findMany({ select: { id: true, inletBytes: true }, orderBy: { id: 'asc' } });
      const expected = ids.map((id, index) => ({ id, inletBytes: id === bad ? 0n : BigInt((round - 1) * 300 + index + 1) }));
      expect(rows).toEqual(expected);
    }
    const reported = log.entries.filter(({ level }) => level >= 50);
    expect(reported).toMatchObject([{ count: 1, records: [`client ${bad}`] }]);
    await repair(store);
    await saver.stop();
    expect(await store.db.client.findUnique({ where: { id: bad } })).toMatchObject({ inletBytes: BigInt(900 + 78) });
    expect(restored).toEqual([]);
  });

  test('a host that cannot be stored does not affect the clients, tunnels and hosts around it, some of which have the same id', async () => {
    const store = await databases.openEmpty();
    const [owner = 0, ...clients] = await seedClients(store, 5);
    const [tunnels, hosts] = [await seedTunnels(store, owner, 9), await seedHosts(store, owner, 7)];
    const bad = hosts[3] ?? 0;
    await spoil(store, bad, 'Host');
    const moving = (id: number) => ({ id, rate: 0, connections: 0, inletBytes: 10 + id, exportBytes: 0 });
    const batch: CounterBatch = {
      clients: [owner, ...clients].map((id) => ({ ...moving(id), ...seen })),
      tunnels: tunnels.map((id) => ({ ...moving(id), running: false })),
      hosts: hosts.map(moving),
    };
    const log = new LogRecorder();
    const saver = new StateSaver({ takeDirty: async () => batch, restoreDirty: async () => {} }, store, log.logger);
    await saver.stop();
    const stored = (ids: readonly number[]) => ids.map((id) => ({ id, inletBytes: BigInt(10 + id) }));
    const read = { select: { id: true, inletBytes: true }, orderBy: { id: 'asc' } } as const;
    expect(await store.db.client.findMany(read)).toEqual(stored([owner, ...clients]));
    expect(await store.db.tunnel.findMany(read)).toEqual(stored(tunnels));
    expect(await store.db.host.findMany({ ...read, where: { id: { not: bad } } })).toEqual(stored(hosts.filter((id) => id !== bad)));
    expect(log.entries.filter(({ level }) => level >= 50)).toMatchObject([{ count: 1, records: [`host ${bad}`] }]);
  });

  test('texts of an agent that no database can store are sanitized, and all records are stored', async () => {
    const store = await databases.openEmpty();
    const [one = 0, two = 0] = await seedClients(store, 2);
    const stored = { clients: [{ ...CLIENT, id: one, ...fresh }, { ...CLIENT, id: two, vkey: 'the-second-vkey', ...fresh }] };
    const server = await startEngine({ stored });
    await RawPeer.connect(server, { info: { version: '1.0\0\ud800', localAddress: '10.0.0.1\n\u2028\udc00' } });
    await RawPeer.connect(server, { key: 'the-second-vkey', info: { version: '2.0' } });
    const log = new LogRecorder();
    await new StateSaver({ takeDirty: () => server.engine.takeDirty(), restoreDirty: async (batch) => server.engine.restoreDirty(batch) }, store, log.logger)
      .save();
    expect(log.entries).toEqual([]);
    expect(await store.db.client.findMany({ select: { agentVersion: true, localAddress: true, connected: true }, orderBy: { id: 'asc' } })).toEqual([
      { agentVersion: '1.0\ufffd\ufffd', localAddress: '10.0.0.1\ufffd\ufffd\ufffd', connected: true },
      { agentVersion: '2.0', localAddress: '', connected: true },
    ]);
  });

  test('counters and series that are full stay numbers that every answer can say', async () => {
    const store = await databases.openEmpty();
    const { id: userId } = await store.db.user.create({ data: { username: 'alice', passwordHash: '' } });
    const ids = await seedClients(store, 2, () => ({ userId }));
    for (let round = 0; round < 2; round++) {
      await store.saveCounters({ clients: ids.map((id) => ({ id, ...seen, rate: MOST, inletBytes: MOST, exportBytes: MOST })), tunnels: [], hosts: [] });
      await store.db.client.updateMany({ data: { inletBytes: 0 } });
      await store.db.counter.deleteMany();
    }
    const samples = await store.db.trafficSample.findMany({ select: { inletBytes: true, exportBytes: true } });
    // Minutes, hours and days of two clients, their owner and the server.
    expect(samples).toHaveLength(12);
    expect(new Set(samples.flatMap(({ inletBytes, exportBytes }) => [inletBytes, exportBytes]))).toEqual(new Set([BigInt(MOST)]));
    await store.db.trafficSample.updateMany({ data: { inletBytes: 2n ** 63n - 1n } });
    await store.saveCounters({ clients: [{ id: ids[0] ?? 0, ...seen, inletBytes: 5, exportBytes: MOST }], tunnels: [], hosts: [] });
    expect(await store.db.trafficSample.count({ where: { resource: 'user', inletBytes: MOST } })).toBeGreaterThan(0);
  });
});

test('bad records of a batch are apart, each alone, until they are stored; each is said once, the first 20 of a line by name, and 1,000 are known at most', () => {
  const bad = new BadRecords();
  const row = { rate: 0, connections: 0, inletBytes: 0, exportBytes: 0 };
  const batchOf = (clients: readonly number[], tunnels: readonly number[], hosts: readonly number[]): CounterBatch => ({
    clients: clients.map((id) => ({ id, ...seen, ...row })),
    tunnels: tunnels.map((id) => ({ id, running: true, ...row })),
    hosts: hosts.map((id) => ({ id, ...row })),
  });
  const batch = batchOf([1, 2], [1, 2], [1, 2]);
  expect(bad.apart(batch)).toEqual({ others: batch, bad: [] });
  bad.add(['tunnel 1', 'host 2'], new Error('the first'));
  bad.add(['host 2'], new Error('of a known one'));
  expect(bad.apart(batch)).toEqual({ others: batchOf([1, 2], [2], [1]), bad: [batchOf([], [1], []), batchOf([], [], [2])] });
  const log = new LogRecorder();
  const said = () => log.entries.splice(0).map(({ err, count, records }) => ({ err, count, records }));
  bad.tell(log.logger);
  bad.tell(log.logger);
  expect(said()).toEqual([{ err: expect.objectContaining({ message: 'the first' }), count: 2, records: ['tunnel 1', 'host 2'] }]);
  bad.stored(batchOf([2], [1], []));
  expect(bad.apart(batch).bad).toEqual([batchOf([], [], [2])]);
  const names = Array.from({ length: 1000 }, (_, index) => `client ${index + 1}`);
  bad.add(names, new Error('of many'));
  bad.tell(log.logger);
  expect(said()).toEqual([{ err: expect.objectContaining({ message: 'of many' }), count: 999, records: names.slice(0, 20) }]);
  expect(bad.apart(batchOf([999, 1000], [], [])).others).toEqual(batchOf([1000], [], []));
  bad.stored(batchOf([], [], [2]));
  bad.add(['client 1000'], new Error('again'));
  expect(bad.apart(batchOf([999, 1000], [], [2])).others).toEqual(batchOf([], [], [2]));
});
