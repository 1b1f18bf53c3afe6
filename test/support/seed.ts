import type { Prisma } from '../../src/store/generated/sqlite/client.ts';
import type { Dialect } from '../../src/store/migrations.ts';
import type { Store } from '../../src/store/store.ts';

/** Adds clients quickly (100,000 in about two seconds): keys "key1"..., remarks "office 1"... @returns their ids, ascending */
export async function seedClients(
  store: Store,
  count: number,
  columns: (n: number) => Partial<Prisma.ClientUncheckedCreateInput> = () => ({}),
): Promise<number[]> {
  const rows = range(count).map((n) => ({ vkey: `key${n}`, remark: `office ${n}`, createdAt: new Date(), ...columns(n) }));
  return store.transaction(async (tx) => {
    await insert(tx, store.dialect, 'Client', rows);
    return newestIds(count, (await tx.client.aggregate({ _max: { id: true } }))._max.id);
  }, { long: true });
}

/** Adds tunnels of one client quickly: tcp, ports from 10001 on. @returns their ids, ascending */
export async function seedTunnels(
  store: Store,
  clientId: number,
  count: number,
  columns: (n: number) => Partial<Prisma.TunnelUncheckedCreateInput> = () => ({}),
): Promise<number[]> {
  const rows = range(count).map((n) => ({
    clientId,
    mode: 'tcp',
    remark: `tunnel ${n}`,
    port: 10_000 + n,
    target: `127.0.0.1:${n}`,
    createdAt: new Date(),
    ...columns(n),
  }));
  return store.transaction(async (tx) => {
    await insert(tx, store.dialect, 'Tunnel', rows);
    return newestIds(count, (await tx.tunnel.aggregate({ _max: { id: true } }))._max.id);
  }, { long: true });
}

/** Adds hosts of one client quickly: "h1.example.com"... @returns their ids, ascending */
export async function seedHosts(
  store: Store,
  clientId: number,
  count: number,
  columns: (n: number) => Partial<Prisma.HostUncheckedCreateInput> = () => ({}),
): Promise<number[]> {
  const rows = range(count).map((n) => ({
    clientId,
    host: `h${n}.example.com`,
    remark: `host ${n}`,
    target: `127.0.0.1:${n}`,
    createdAt: new Date(),
    ...columns(n),
  }));
  return store.transaction(async (tx) => {
    await insert(tx, store.dialect, 'Host', rows);
    return newestIds(count, (await tx.host.aggregate({ _max: { id: true } }))._max.id);
  }, { long: true });
}

/** Adds users quickly: names "user1"... @returns their ids, ascending */
export async function seedUsers(store: Store, count: number, columns: (n: number) => Partial<Prisma.UserUncheckedCreateInput> = () => ({})): Promise<number[]> {
  const rows = range(count).map((n) => ({ username: `user${n}`, passwordHash: '', remark: `team ${n}`, createdAt: new Date(), ...columns(n) }));
  return store.transaction(async (tx) => {
    await insert(tx, store.dialect, 'User', rows);
    return newestIds(count, (await tx.user.aggregate({ _max: { id: true } }))._max.id);
  }, { long: true });
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

/** Rows that one transaction inserted have consecutive ids. */
function newestIds(count: number, newest: number | null): number[] {
  return range(count).map((n) => (newest ?? 0) - count + n);
}

/** 1 to `count` */
function range(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}
