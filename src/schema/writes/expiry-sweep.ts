import type { Services } from '../services.ts';

/** Clients per transaction, during which no other write can run. */
const atOnce = 100;

/**
 * Publishes expiries that have passed since the last run: to the lists, which sort by the column `expired`, to the engine, to
 * subscribers and to the audit log, as changes by the program itself. Permissions don't depend on this function, since every use checks
 * the time (contract D13). An edit of an expiry stores and publishes its own effect.
 */
export async function sweepExpiries({ writes, now }: Pick<Services, 'writes' | 'now'>): Promise<void> {
  const at = new Date(now());
  while (await expireUser(writes, at));
  while (await expireClients(writes, at));
}

/** @returns false when no user is left */
function expireUser(writes: Services['writes'], at: Date): Promise<boolean> {
  return writes.run({ kind: 'server' }, async (tx, changed) => {
    const before = await tx.user.findFirst({ where: due(at) });
    if (before === null) return false;
    await tx.client.updateMany({ where: { userId: before.id, expired: false }, data: { expired: true } });
    const after = await tx.user.update({ where: { id: before.id }, data: { expired: true } });
    changed({
      resource: 'user',
      action: 'update',
      before,
      after,
      clients: await tx.client.findMany({ where: { userId: before.id }, include: { user: true } }),
    });
    return true;
  });
}

/** @returns false when no client is left */
function expireClients(writes: Services['writes'], at: Date): Promise<boolean> {
  return writes.run({ kind: 'server' }, async (tx, changed) => {
    const clients = await tx.client.findMany({ where: due(at), include: { user: true }, take: atOnce });
    await tx.client.updateMany({ where: { id: { in: clients.map(({ id }) => id) } }, data: { expired: true } });
    for (const before of clients) changed({ resource: 'client', action: 'update', before, after: { ...before, expired: true } });
    return clients.length > 0;
  });
}

function due(at: Date) {
  return { expired: false, expiresAt: { lte: at } };
}
