import type { Prisma } from '../../src/store/generated/sqlite/client.ts';
import type { Dialect } from '../../src/store/migrations.ts';
import type { Store } from '../../src/store/store.ts';
import { tunnelTotal } from '../../src/store/totals.ts';

/** Adds clients quickly (100,000 in about two seconds), counts included: keys "key1"..., remarks "office 1"... @returns their ids, ascending */
export async function seedClients(store: Store, count: number, columns: (n: number) => Partial<Prisma.ClientUncheckedCreateInput> = () => ({})): Promise<number[]> {
  const rows = range(count).map((n) => ({ vkey: `key${n}`, remark: `office ${n}`, createdAt: new Date(), ...columns(n) }));
  return store.transaction(async (tx) => {
    await insert(tx, store.dialect, 'Client', rows);
    await addToTotal(tx, 'clients', count);
    for (const [userId, owned] of countBy(rows, (row) => row.userId)) {
      if (typeof userId === 'number') await tx.user.update({ where: { id: userId }, data: { clientCount: { increment: owned } } });
    }
    return newestIds(count, (await tx.client.aggregate({ _max: { id: true } }))._max.id);
  });
}

/** Adds tunnels of one client quickly, counts included: tcp, ports from 10001 on. @returns their ids, ascending */
export async function seedTunnels(store: Store, clientId: number, count: number, columns: (n: number) => Partial<Prisma.TunnelUncheckedCreateInput> = () => ({})): Promise<number[]> {
  const rows = range(count).map((n) => ({ clientId, mode: 'tcp', remark: `tunnel ${n}`, port: 10_000 + n, target: `127.0.0.1:${n}`, createdAt: new Date(), ...columns(n) }));
  return store.transaction(async (tx) => {
    await insert(tx, store.dialect, 'Tunnel', rows);
    await addToTotal(tx, tunnelTotal(), count);
    for (const [mode, some] of countBy(rows, (row) => row.mode)) await addToTotal(tx, tunnelTotal(mode), some);
    for (const [id, some] of countBy(rows, (row) => row.clientId)) {
      const { userId } = await tx.client.update({ where: { id }, data: { tunnelCount: { increment: some } } });
      if (userId !== null) await tx.user.update({ where: { id: userId }, data: { tunnelCount: { increment: some } } });
    }
    return newestIds(count, (await tx.tunnel.aggregate({ _max: { id: true } }))._max.id);
  });
}

/** Adds hosts of one client quickly, counts included: "h1.example.com"... @returns their ids, ascending */
export async function seedHosts(store: Store, clientId: number, count: number, columns: (n: number) => Partial<Prisma.HostUncheckedCreateInput> = () => ({})): Promise<number[]> {
  const rows = range(count).map((n) => ({ clientId, host: `h${n}.example.com`, remark: `host ${n}`, target: `127.0.0.1:${n}`, createdAt: new Date(), ...columns(n) }));
  return store.transaction(async (tx) => {
    await insert(tx, store.dialect, 'Host', rows);
    await addToTotal(tx, 'hosts', count);
    for (const [id, some] of countBy(rows, (row) => row.clientId)) {
      const counts = { tunnelCount: { increment: some }, hostCount: { increment: some } };
      const { userId } = await tx.client.update({ where: { id }, data: counts });
      if (userId !== null) await tx.user.update({ where: { id: userId }, data: counts });
    }
    return newestIds(count, (await tx.host.aggregate({ _max: { id: true } }))._max.id);
  });
}

/** Adds users quickly, the total included: names "user1"... @returns their ids, ascending */
export async function seedUsers(store: Store, count: number, columns: (n: number) => Partial<Prisma.UserUncheckedCreateInput> = () => ({})): Promise<number[]> {
  const rows = range(count).map((n) => ({ username: `user${n}`, passwordHash: '', remark: `team ${n}`, createdAt: new Date(), ...columns(n) }));
  return store.transaction(async (tx) => {
    await insert(tx, store.dialect, 'User', rows);
    await addToTotal(tx, 'users', count);
    return newestIds(count, (await tx.user.aggregate({ _max: { id: true } }))._max.id);
  });
}

/** Prisma's createMany takes 0.3 ms for a row; this a twentieth. */
async function insert(tx: Prisma.TransactionClient, dialect: Dialect, table: string, rows: readonly object[]): Promise<void> {
  const names = Object.keys(rows[0] ?? {});
  const columns = names.map((name) => `"${name}"`).join(', ');
  const sql = dialect === 'sqlite'
    ? `INSERT INTO "${table}" (${columns}) SELECT ${names.map((name) => `value ->> '${name}'`).join(', ')} FROM json_each(?)`
    : `INSERT INTO "${table}" (${columns}) SELECT ${columns} FROM jsonb_populate_recordset(NULL::"${table}", $1::jsonb)`;
  for (let start = 0; start < rows.length; start += 5000) {
    await tx.$executeRawUnsafe(sql, JSON.stringify(rows.slice(start, start + 5000), (_, value: unknown) => typeof value === 'bigint' ? Number(value) : value));
  }
}

async function addToTotal(tx: Prisma.TransactionClient, name: string, count: number): Promise<void> {
  await tx.total.upsert({ where: { name }, create: { name, value: count }, update: { value: { increment: count } } });
}

function countBy<Row, Key>(rows: readonly Row[], keyOf: (row: Row) => Key): Map<Key, number> {
  const counts = new Map<Key, number>();
  for (const row of rows) counts.set(keyOf(row), (counts.get(keyOf(row)) ?? 0) + 1);
  return counts;
}

/** Rows that one transaction inserted have consecutive ids. */
function newestIds(count: number, newest: number | null): number[] {
  return range(count).map((n) => (newest ?? 0) - count + n);
}

/** 1 to `count` */
function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}
