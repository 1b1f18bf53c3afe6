import type { Services } from '../services.ts';

/** Records per transaction, during which no other write can run. */
const atOnce = 100;

/**
 * Deletes the records that agents declared in sessions with servers that have ended without deleting them, as changes by the program itself.
 * @param alive the names of the servers that are running
 */
export async function deleteLeftRecords(
  { store: { db }, engine, writes }: Pick<Services, 'store' | 'engine' | 'writes'>,
  alive: readonly string[],
): Promise<void> {
  const where = { noStore: true, client: { node: { notIn: [...alive] } } };
  const select = { id: true, clientId: true } as const;
  const [tunnels, hosts] = [await db.tunnel.findMany({ where, select }), await db.host.findMany({ where, select })];
  // An agent that has just moved here, or to another server, has declared its records again; that its client's row names the former server is seconds old.
  const clientIds = [...new Set([...tunnels, ...hosts].map(({ clientId }) => clientId))];
  const states = await engine.clientStates(clientIds);
  const isLeft = new Set(clientIds.filter((_, index) => states[index]?.connected !== true));
  const left = [
    ...tunnels.map(({ id, clientId }) => ({ kind: 'tunnel', id, clientId }) as const),
    ...hosts.map(({ id, clientId }) => ({ kind: 'host', id, clientId }) as const),
  ].filter(({ clientId }) => isLeft.has(clientId));
  for (let start = 0; start < left.length; start += atOnce) {
    const part = left.slice(start, start + atOnce);
    const ofKind = (wanted: 'tunnel' | 'host') => ({ where: { noStore: true, id: { in: part.flatMap(({ kind, id }) => kind === wanted ? [id] : []) } } });
    await writes.run({ kind: 'server' }, async (tx, changed) => {
      for (const before of await tx.tunnel.findMany(ofKind('tunnel'))) changed({ resource: 'tunnel', action: 'delete', before });
      for (const before of await tx.host.findMany(ofKind('host'))) changed({ resource: 'host', action: 'delete', before });
      await tx.tunnel.deleteMany(ofKind('tunnel'));
      await tx.host.deleteMany(ofKind('host'));
    });
  }
}
