import type { Services } from '../services.ts';

/** Records per transaction, during which no other write can run. */
const atOnce = 100;

/**
 * Deletes the records that agents declared in sessions with servers that have ended without deleting them, as changes by the program itself.
 * @param alive the names of the servers that are running
 */
export async function deleteLeftRecords({ writes }: Pick<Services, 'writes'>, alive: readonly string[]): Promise<void> {
  const where = { noStore: true, client: { node: { notIn: [...alive] } } };
  while (
    await writes.run({ kind: 'server' }, async (tx, changed) => {
      const tunnels = await tx.tunnel.findMany({ where, take: atOnce });
      const hosts = await tx.host.findMany({ where, take: atOnce });
      await tx.tunnel.deleteMany({ where: { id: { in: tunnels.map(({ id }) => id) } } });
      await tx.host.deleteMany({ where: { id: { in: hosts.map(({ id }) => id) } } });
      for (const before of tunnels) changed({ resource: 'tunnel', action: 'delete', before });
      for (const before of hosts) changed({ resource: 'host', action: 'delete', before });
      return tunnels.length + hosts.length > 0;
    })
  );
}
