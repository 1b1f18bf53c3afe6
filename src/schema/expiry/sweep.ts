import type { Services } from '../services.ts';

/** Clients that are told in one turn: nobody else can write meanwhile. */
const atOnce = 100;

/**
 * Makes expiries that have passed since the last time known: to the lists, which sort by the column `expired`, to the engine, to
 * subscribers and to the audit log, as changes that the program itself makes. Who may do what doesn't wait for it: every use looks at
 * the time (contract D13). What an edit makes of an expiry, the edit itself stores and tells.
 */
export async function sweepExpiries(services: Pick<Services, 'store' | 'changes' | 'now'>): Promise<void> {
  const at = new Date(services.now());
  while (await expireUser(services, at));
  while (await expireClients(services, at));
}

/** @returns false when no user is left to be told of */
function expireUser({ store, changes }: Pick<Services, 'store' | 'changes'>, at: Date): Promise<boolean> {
  return changes.run(async () => {
    const expired = await store.transaction(async (tx) => {
      const before = await tx.user.findFirst({ where: due(at) });
      if (before === null) return undefined;
      await tx.client.updateMany({ where: { userId: before.id, expired: false }, data: { expired: true } });
      const after = await tx.user.update({ where: { id: before.id }, data: { expired: true } });
      return { before, after, clients: await tx.client.findMany({ where: { userId: before.id }, include: { user: true } }) };
    });
    if (expired) await changes.publish({ resource: 'user', action: 'update', ...expired, caller: { kind: 'server' }, at });
    return expired !== undefined;
  });
}

/** @returns false when no client is left to be told of */
function expireClients({ store, changes }: Pick<Services, 'store' | 'changes'>, at: Date): Promise<boolean> {
  return changes.run(async () => {
    const expired = await store.transaction(async (tx) => {
      const clients = await tx.client.findMany({ where: due(at), include: { user: true }, take: atOnce });
      await tx.client.updateMany({ where: { id: { in: clients.map(({ id }) => id) } }, data: { expired: true } });
      return clients;
    });
    for (const before of expired) {
      await changes.publish({ resource: 'client', action: 'update', before, after: { ...before, expired: true }, caller: { kind: 'server' }, at });
    }
    return expired.length > 0;
  });
}

function due(at: Date) {
  return { expired: false, expiresAt: { lte: at } };
}
