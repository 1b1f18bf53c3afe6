import type { Prisma } from './generated/sqlite/client.ts';
import type { Transaction } from './transaction.ts';

/*
 * The kept counts: Total rows for the lists, the counts of users and clients for their quotas. Whoever adds, removes or
 * moves a client, a tunnel or a host calls these in the same transaction, so no list and no quota check ever counts rows. To take
 * a slot is one conditional update, so that of any number of takers at once no more get one than there are.
 */

/** The name of the Total row of all tunnels, or of those of a mode. */
export function tunnelTotal(mode?: string): string {
  return mode === undefined ? 'tunnels' : `tunnels:${mode}`;
}

/**
 * Counts a new client.
 * @param ownerId null = nobody's
 * @returns false, and nothing is counted, when its owner has all the clients he may have, or doesn't exist
 */
export async function takeClientSlot(tx: Transaction, ownerId: number | null): Promise<boolean> {
  if (ownerId !== null && !await takeUserClients(tx, ownerId)) return false;
  await addToTotal(tx, 'clients', 1);
  return true;
}

/** Counts a new user. */
export async function addUserToTotal(tx: Transaction): Promise<void> {
  await addToTotal(tx, 'users', 1);
}

/** Uncounts a user; the clients stay, and belong to nobody. Call it before the user is deleted. */
export async function removeUserFromTotal(tx: Transaction): Promise<void> {
  await addToTotal(tx, 'users', -1);
}

/** What the counts know of a client: the row, read in the same transaction. */
export interface CountedClient {
  readonly id: number;
  readonly userId: number | null;
  readonly tunnelCount: number;
  readonly hostCount: number;
}

/** Uncounts a client and the tunnels and hosts that go with it. Call it before the client is deleted. */
export async function giveBackClientSlot(tx: Transaction, client: CountedClient): Promise<void> {
  await addToTotal(tx, 'clients', -1);
  if (client.hostCount > 0) await addToTotal(tx, 'hosts', -client.hostCount);
  const modes = await tx.tunnel.groupBy({ by: ['mode'], where: { clientId: client.id }, _count: true });
  for (const { mode, _count } of modes) await addToTunnelTotals(tx, mode, -_count);
  await giveBackToOwner(tx, client);
}

/**
 * Counts a client with its tunnels for another owner.
 * @returns which quota of the new owner (or his absence: 'clientsFull') forbids it; nothing is counted then
 */
export async function moveClientSlot(tx: Transaction, client: CountedClient, ownerId: number | null): Promise<'moved' | 'clientsFull' | 'tunnelsFull'> {
  if (client.userId === ownerId) return 'moved';
  if (ownerId !== null) {
    if (!await takeUserClients(tx, ownerId)) return 'clientsFull';
    if (!await takeUserTunnels(tx, ownerId, client.tunnelCount)) {
      await giveBackToOwner(tx, { userId: ownerId, tunnelCount: 0, hostCount: 0 });
      return 'tunnelsFull';
    }
    await tx.user.update({ where: { id: ownerId }, data: { hostCount: { increment: client.hostCount } } });
  }
  await giveBackToOwner(tx, client);
  return 'moved';
}

/**
 * Counts a new tunnel of a client.
 * @returns 'taken', or why not; nothing is counted then
 */
export async function takeTunnelSlot(tx: Transaction, clientId: number, mode: string): Promise<SlotAnswer> {
  const answer = await takeSlot(tx, clientId);
  if (answer === 'taken') await addToTunnelTotals(tx, mode, 1);
  return answer;
}

/** Counts a new host of a client: it takes a slot of the same quotas (contract 4.9). @returns as {@link takeTunnelSlot} */
export async function takeHostSlot(tx: Transaction, clientId: number): Promise<SlotAnswer> {
  const answer = await takeSlot(tx, clientId);
  if (answer !== 'taken') return answer;
  const { userId } = await tx.client.update({ where: { id: clientId }, data: { hostCount: { increment: 1 } }, select: { userId: true } });
  if (userId !== null) await tx.user.update({ where: { id: userId }, data: { hostCount: { increment: 1 } } });
  await addToTotal(tx, 'hosts', 1);
  return answer;
}

/** Whose quota forbids another tunnel or host, or that there is no such client. */
export type SlotAnswer = 'taken' | 'clientFull' | 'ownerFull' | 'noClient';

async function takeSlot(tx: Transaction, clientId: number): Promise<SlotAnswer> {
  const client = await tx.client.findUnique({ where: { id: clientId }, select: { userId: true } });
  if (client === null) return 'noClient';
  const taken = await tx.$executeRaw`UPDATE "Client" SET "tunnelCount" = "tunnelCount" + 1
    WHERE id = ${clientId} AND ("maxTunnels" = 0 OR "tunnelCount" < "maxTunnels")`;
  if (taken === 0) return 'clientFull';
  if (client.userId !== null && !await takeUserTunnels(tx, client.userId, 1)) {
    await tx.client.update({ where: { id: clientId }, data: { tunnelCount: { decrement: 1 } } });
    return 'ownerFull';
  }
  return 'taken';
}

/** Uncounts a tunnel. To move one, give its slot back and take one of the other client: when there is none, roll back. */
export async function giveBackTunnelSlot(tx: Transaction, clientId: number, mode: string): Promise<void> {
  await giveBackSlot(tx, clientId, { tunnelCount: { decrement: 1 } });
  await addToTunnelTotals(tx, mode, -1);
}

/** Uncounts a host; to move one, as {@link giveBackTunnelSlot}. */
export async function giveBackHostSlot(tx: Transaction, clientId: number): Promise<void> {
  await giveBackSlot(tx, clientId, { tunnelCount: { decrement: 1 }, hostCount: { decrement: 1 } });
  await addToTotal(tx, 'hosts', -1);
}

async function giveBackSlot(tx: Transaction, clientId: number, data: Pick<Prisma.ClientUpdateInput & Prisma.UserUpdateInput, 'tunnelCount' | 'hostCount'>): Promise<void> {
  const { userId } = await tx.client.update({ where: { id: clientId }, data, select: { userId: true } });
  if (userId !== null) await tx.user.update({ where: { id: userId }, data });
}

/** Counts a tunnel for another mode; its slot stays. */
export async function moveTunnelMode(tx: Transaction, from: string, to: string): Promise<void> {
  await addToTotal(tx, tunnelTotal(from), -1);
  await addToTotal(tx, tunnelTotal(to), 1);
}

async function takeUserClients(tx: Transaction, userId: number): Promise<boolean> {
  return await tx.$executeRaw`UPDATE "User" SET "clientCount" = "clientCount" + 1
    WHERE id = ${userId} AND ("maxClients" = 0 OR "clientCount" < "maxClients")` > 0;
}

async function takeUserTunnels(tx: Transaction, userId: number, count: number): Promise<boolean> {
  return await tx.$executeRaw`UPDATE "User" SET "tunnelCount" = "tunnelCount" + ${count}
    WHERE id = ${userId} AND ("maxTunnels" = 0 OR "tunnelCount" + ${count} <= "maxTunnels")` > 0;
}

async function giveBackToOwner(tx: Transaction, { userId, tunnelCount, hostCount }: Omit<CountedClient, 'id'>): Promise<void> {
  if (userId === null) return;
  await tx.user.update({ where: { id: userId }, data: { clientCount: { decrement: 1 }, tunnelCount: { decrement: tunnelCount }, hostCount: { decrement: hostCount } } });
}

async function addToTunnelTotals(tx: Transaction, mode: string, count: number): Promise<void> {
  await addToTotal(tx, tunnelTotal(), count);
  await addToTotal(tx, tunnelTotal(mode), count);
}

/** Changes the Total row of this name. */
export async function addToTotal(tx: Transaction, name: string, count: number): Promise<void> {
  await tx.$executeRaw`INSERT INTO "Total" (name, value) VALUES (${name}, ${count})
    ON CONFLICT (name) DO UPDATE SET value = "Total".value + excluded.value`;
}

/** Deletes what agents brought along and could not take away again, because the server ended first. For the start. */
export async function forgetDeclared(tx: Transaction): Promise<void> {
  for (const { id, clientId, mode } of await tx.tunnel.findMany({ where: { noStore: true }, select: { id: true, clientId: true, mode: true } })) {
    await giveBackTunnelSlot(tx, clientId, mode);
    await tx.tunnel.delete({ where: { id } });
  }
  for (const { id, clientId } of await tx.host.findMany({ where: { noStore: true }, select: { id: true, clientId: true } })) {
    await giveBackHostSlot(tx, clientId);
    await tx.host.delete({ where: { id } });
  }
}
