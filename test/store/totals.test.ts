import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readMigrations } from '../../src/store/migrations.ts';
import type { Transaction } from '../../src/store/transaction.ts';
import { eachDialect } from '../support/database.ts';
import { emptyStore } from '../support/empty-store.ts';
import { isShort, sized } from '../support/endurance.ts';
import { falseCounts } from '../support/false-counts.ts';
import { seedClients, seedHosts, seedTunnels, seedUsers } from '../support/seed.ts';

const id = fc.integer({ min: 1, max: 5 });
const modes = ['tcp', 'udp', 'secret'];
const mode = fc.constantFrom(...modes);
const owner = fc.option(id, { nil: null });

/** A write of any kind that changes what is counted. Ids that name nothing change nothing. */
type Write = (tx: Transaction, name: string) => Promise<unknown>;
const write: fc.Arbitrary<Write> = fc.oneof(
  fc.constant<Write>((tx, username) => tx.user.create({ data: { username, passwordHash: '' } })),
  id.map((id): Write => (tx) => tx.user.deleteMany({ where: { id } })),
  owner.map((userId): Write => async (tx, vkey) => await known(tx, 'user', userId) && tx.client.create({ data: { vkey, userId } })),
  fc.tuple(id, owner).map(([id, userId]): Write => async (tx) => await known(tx, 'user', userId) && tx.client.updateMany({ where: { id }, data: { userId } })),
  fc.tuple(owner, owner).map(([from, to]): Write => async (tx) =>
    await known(tx, 'user', to) && tx.client.updateMany({ where: { userId: from }, data: { userId: to } })
  ),
  id.map((id): Write => (tx) => tx.client.deleteMany({ where: { id } })),
  owner.map((userId): Write => (tx) => tx.client.deleteMany({ where: { userId } })),
  fc.tuple(id, mode).map(([clientId, mode]): Write => async (tx) => await known(tx, 'client', clientId) && tx.tunnel.create({ data: { clientId, mode } })),
  id.map((clientId): Write => async (tx) => await known(tx, 'client', clientId) && tx.tunnel.createMany({ data: modes.map((mode) => ({ clientId, mode })) })),
  fc.tuple(id, mode, id).map(([id, mode, clientId]): Write => async (tx) =>
    await known(tx, 'client', clientId) && tx.tunnel.updateMany({ where: { id }, data: { mode, clientId } })
  ),
  fc.tuple(mode, mode).map(([from, to]): Write => (tx) => tx.tunnel.updateMany({ where: { mode: from }, data: { mode: to } })),
  id.map((id): Write => (tx) => tx.tunnel.deleteMany({ where: { id } })),
  fc.constant<Write>((tx) => tx.tunnel.deleteMany({ where: { enabled: true } })),
  id.map((clientId): Write => async (tx, host) => await known(tx, 'client', clientId) && tx.host.create({ data: { clientId, host } })),
  fc.tuple(id, id).map(([id, clientId]): Write => async (tx) =>
    await known(tx, 'client', clientId) && tx.host.updateMany({ where: { id }, data: { clientId } })
  ),
  id.map((id): Write => (tx) => tx.host.deleteMany({ where: { id } })),
  fc.constant<Write>((tx) =>
    tx.auditEntry.createMany({
      data: [1, 2].map((n) => ({ at: new Date(n), callerKind: 'admin', method: '', address: '', resource: '', resourceId: '', action: '' })),
    })
  ),
  fc.constant<Write>((tx) => tx.auditEntry.deleteMany({ where: { at: { lt: new Date(2) } } })),
);

async function known(tx: Transaction, kind: 'user' | 'client', id: number | null): Promise<boolean> {
  if (id === null) return true;
  return (kind === 'user' ? await tx.user.count({ where: { id } }) : await tx.client.count({ where: { id } })) > 0;
}

eachDialect('kept counts', (databases) => {
  test('are what counting the rows gives after every kind of write, also when it is rolled back', async () => {
    const store = await databases.openEmpty();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(write, fc.boolean()), { minLength: 20, maxLength: 40 }), async (writes) => {
        await emptyStore(store);
        await seedUsers(store, 3);
        await seedClients(store, 4, (n) => ({ userId: n < 4 ? n : null }));
        await seedTunnels(store, 1, 4, (n) => ({ clientId: n, mode: modes[n % 3] }));
        await seedHosts(store, 1, 4, (n) => ({ clientId: n }));
        for (const [index, [one, fails]] of writes.entries()) {
          const done = store.transaction(async (tx) => {
            await one(tx, `name ${index}`);
            if (fails) throw new Error('rolled back');
          });
          await done.catch(() => undefined);
          expect(await falseCounts(store)).toEqual([]);
        }
      }),
      { numRuns: sized(3, 60) },
    );
  });

  if (!isShort) {
    test('of many rows take no longer than the rows: a client with 20,000 tunnels, a user with 5,000 clients', async () => {
      const store = await databases.openEmpty();
      const [userId = 0] = await seedUsers(store, 1);
      const [clientId = 0] = await seedClients(store, 5000, () => ({ userId }));
      await seedTunnels(store, clientId, 20_000);
      const begun = performance.now();
      await store.transaction((tx) => tx.client.delete({ where: { id: clientId } }));
      await store.transaction((tx) => tx.user.delete({ where: { id: userId } }));
      expect(performance.now() - begun).toBeLessThan(10_000);
      expect(await falseCounts(store)).toEqual([]);
    });
  }

  test('that were wrong before are recounted by the migration that adds the triggers', async () => {
    const store = await databases.openEmpty();
    await seedUsers(store, 1);
    const [clientId = 0] = await seedClients(store, 2, () => ({ userId: 1 }));
    await seedTunnels(store, clientId, 3);
    await seedHosts(store, clientId, 2);
    await store.transaction(async (tx) => {
      await tx.client.updateMany({ data: { tunnelCount: 7, hostCount: 9 } });
      await tx.user.updateMany({ data: { clientCount: 0, tunnelCount: 1, hostCount: -1 } });
      await tx.total.updateMany({ data: { value: 5 } });
    });
    expect(await falseCounts(store)).not.toEqual([]);
    const migration = (await readMigrations(store.dialect)).find(({ name }) => name === '0008_kept_counts')?.sql ?? '';
    const recount = migration.slice(0, migration.search(/\nCREATE |\n-- Rows that one/)).split(';\n').filter((sql) => sql.trim() !== '');
    for (const sql of recount) await store.db.$executeRawUnsafe(sql);
    expect(await falseCounts(store)).toEqual([]);
  });
});
