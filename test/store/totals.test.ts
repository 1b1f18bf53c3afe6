import { expect, test } from '@jest/globals';
import type { TestStore } from '../support/test-store.ts';
import { giveBackClientSlot, giveBackTunnelSlot, moveClientSlot, moveTunnelMode, takeClientSlot, takeTunnelSlot } from '../../src/store/totals.ts';
import type { Transaction } from '../../src/store/transaction.ts';
import { eachDialect } from '../support/database.ts';

eachDialect('kept counts', (databases) => {
  test('give 50 who ask at once no more clients than the quota of 10, on PostgreSQL from two processes', async () => {
    const database = await databases.create();
    const first = await database.open();
    const second = database.dialect === 'postgresql' ? await database.open() : first;
    const userId = await addUser(first, { maxClients: 10 });
    const taken = await Promise.all(Array.from({ length: 50 }, (_, n) => (n % 2 === 0 ? first : second).transaction((tx) => addClient(tx, userId, `key ${n}`))));
    expect(taken.filter((id) => id !== undefined)).toHaveLength(10);
    await expectTrueCounts(first);
  });

  test.each(['client', 'owner'])("give 50 who ask at once no more tunnels than the %s's quota of 10", async (whose) => {
    const store = await databases.openEmpty();
    const userId = await addUser(store, { maxTunnels: whose === 'owner' ? 10 : 0 });
    const clientId = await store.transaction((tx) => addClient(tx, userId, 'k', whose === 'client' ? 10 : 0)) ?? 0;
    const results = await Promise.all(Array.from({ length: 50 }, () => store.transaction((tx) => addTunnel(tx, clientId))));
    expect(results.filter((result) => result === 'taken')).toHaveLength(10);
    expect(results.filter((result) => result === `${whose}Full`)).toHaveLength(40);
    await expectTrueCounts(store);
  });

  test('hold without the turn that transactions take: one slot is one conditional update', async () => {
    const store = await databases.openEmpty();
    const userId = await addUser(store, { maxClients: 10 });
    const taken = await Promise.all(Array.from({ length: 50 }, (_, n) => store.db.$transaction((tx) => addClient(tx, userId, `key ${n}`))));
    expect(taken.filter((id) => id !== undefined)).toHaveLength(10);
    await expectTrueCounts(store);
  });

  test('know no limit of 0, and no client or owner that does not exist', async () => {
    const store = await databases.openEmpty();
    await store.transaction(async (tx) => {
      expect(await takeClientSlot(tx, 99)).toBe(false);
      expect(await takeTunnelSlot(tx, 99, 'tcp')).toBe('noClient');
    });
    const clientId = await store.transaction(async (tx) => addClient(tx, null, 'k')) ?? 0;
    for (let n = 0; n < 3; n++) expect(await store.transaction((tx) => addTunnel(tx, clientId))).toBe('taken');
    await expectTrueCounts(store);
  });

  test('follow what is removed, moved or changed', async () => {
    const store = await databases.openEmpty();
    const [one, two] = [await addUser(store, {}), await addUser(store, { maxClients: 1, maxTunnels: 2 })];
    const [a = 0, b = 0] = [await store.transaction((tx) => addClient(tx, one, 'a')), await store.transaction((tx) => addClient(tx, one, 'b'))];
    for (const mode of ['tcp', 'udp', 'tcp']) await store.transaction((tx) => addTunnel(tx, a, mode));
    await store.transaction((tx) => addTunnel(tx, b, 'secret'));
    await expectTrueCounts(store);

    // A tunnel is removed, another changes its mode.
    await store.transaction(async (tx) => {
      const [first, second] = await tx.tunnel.findMany({ where: { clientId: a }, orderBy: { id: 'asc' } });
      await giveBackTunnelSlot(tx, a, 'tcp');
      await tx.tunnel.delete({ where: { id: first?.id ?? 0 } });
      await moveTunnelMode(tx, 'udp', 'file');
      await tx.tunnel.update({ where: { id: second?.id ?? 0 }, data: { mode: 'file' } });
    });
    await expectTrueCounts(store);

    // A client goes to another owner, who has then no room for the next.
    const move = (id: number, userId: number | null) => store.transaction(async (tx) => {
      const result = await moveClientSlot(tx, await tx.client.findUniqueOrThrow({ where: { id } }), userId);
      if (result === 'moved') await tx.client.update({ where: { id }, data: { userId } });
      return result;
    });
    expect(await move(a, two)).toBe('moved');
    expect(await move(b, two)).toBe('clientsFull');
    await store.db.user.update({ where: { id: two }, data: { maxClients: 0 } });
    expect(await move(b, two)).toBe('tunnelsFull');
    expect(await move(b, 99)).toBe('clientsFull');
    await expectTrueCounts(store);
    expect(await move(b, null)).toBe('moved');
    await expectTrueCounts(store);

    // A client is deleted with its tunnels.
    await store.transaction(async (tx) => {
      await giveBackClientSlot(tx, await tx.client.findUniqueOrThrow({ where: { id: a } }));
      await tx.client.delete({ where: { id: a } });
    });
    await expectTrueCounts(store);
    expect(await store.db.total.findMany({ where: { value: { not: 0 } }, orderBy: { name: 'asc' } })).toEqual([
      { name: 'clients', value: 1 }, { name: 'tunnels', value: 1 }, { name: 'tunnels:secret', value: 1 }]);
  });
});

let users = 0;

async function addUser(store: TestStore, quota: { maxClients?: number; maxTunnels?: number }): Promise<number> {
  return (await store.db.user.create({ data: { username: `user ${++users}`, passwordHash: '', ...quota } })).id;
}

/** @returns undefined when there was no room */
async function addClient(tx: Transaction, userId: number | null, vkey: string, maxTunnels = 0): Promise<number | undefined> {
  if (!await takeClientSlot(tx, userId)) return undefined;
  return (await tx.client.create({ data: { vkey, userId, maxTunnels } })).id;
}

async function addTunnel(tx: Transaction, clientId: number, mode = 'tcp'): Promise<string> {
  const result = await takeTunnelSlot(tx, clientId, mode);
  if (result === 'taken') await tx.tunnel.create({ data: { clientId, mode } });
  return result;
}

/** Every kept count is what counting the rows gives. */
async function expectTrueCounts({ db }: TestStore): Promise<void> {
  const [clients, tunnels, users, totals] = await Promise.all([db.client.findMany(), db.tunnel.findMany(), db.user.findMany(), db.total.findMany()]);
  const modes = ['tcp', 'udp', 'secret', 'file'];
  const total = (name: string) => totals.find((row) => row.name === name)?.value ?? 0;
  expect(total('clients')).toBe(clients.length);
  expect(total('tunnels')).toBe(tunnels.length);
  expect(modes.map((mode) => total(`tunnels:${mode}`))).toEqual(modes.map((mode) => tunnels.filter((tunnel) => tunnel.mode === mode).length));
  expect(clients.map(({ tunnelCount }) => tunnelCount)).toEqual(clients.map(({ id }) => tunnels.filter(({ clientId }) => clientId === id).length));
  expect(users.map(({ clientCount, tunnelCount }) => [clientCount, tunnelCount])).toEqual(users.map((user) => {
    const owned = clients.filter(({ userId }) => userId === user.id);
    return [owned.length, owned.reduce((sum, { tunnelCount }) => sum + tunnelCount, 0)];
  }));
}
