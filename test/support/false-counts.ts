import { z } from 'zod';
import type { TestStore } from './test-store.ts';

const found = z.array(z.object({ name: z.string(), kept: z.coerce.number(), counted: z.coerce.number() }));

const routes = (of: string) => `(SELECT count(*) FROM "Tunnel" t WHERE ${of}) + (SELECT count(*) FROM "Host" t WHERE ${of})`;
const ownedBy = (table: string) => `(SELECT count(*) FROM "${table}" t JOIN "Client" c ON c.id = t."clientId" WHERE c."userId" = u.id)`;

/** Every kept count beside what counting the rows gives. */
const counts = `
  SELECT 'tunnelCount of client ' || c.id AS name, "tunnelCount" AS kept, ${routes('t."clientId" = c.id')} AS counted FROM "Client" c
  UNION ALL SELECT 'hostCount of client ' || c.id, "hostCount", (SELECT count(*) FROM "Host" h WHERE h."clientId" = c.id) FROM "Client" c
  UNION ALL SELECT 'clientCount of user ' || u.id, "clientCount", (SELECT count(*) FROM "Client" c WHERE c."userId" = u.id) FROM "User" u
  UNION ALL SELECT 'tunnelCount of user ' || u.id, "tunnelCount", ${ownedBy('Tunnel')} + ${ownedBy('Host')} FROM "User" u
  UNION ALL SELECT 'hostCount of user ' || u.id, "hostCount", ${ownedBy('Host')} FROM "User" u
  UNION ALL SELECT n.name, coalesce((SELECT value FROM "Total" WHERE "Total".name = n.name), 0), n.counted FROM (
    SELECT 'users' AS name, count(*) AS counted FROM "User" UNION ALL SELECT 'clients', count(*) FROM "Client" UNION ALL SELECT 'hosts', count(*) FROM "Host"
    UNION ALL SELECT 'tunnels', count(*) FROM "Tunnel" UNION ALL SELECT 'audit', count(*) FROM "AuditEntry"
    UNION ALL SELECT 'tunnels:' || mode, count(*) FROM "Tunnel" GROUP BY mode) n
  UNION ALL SELECT name, value, 0 FROM "Total" WHERE name LIKE 'tunnels:%' AND name NOT IN (SELECT 'tunnels:' || mode FROM "Tunnel")`;

/** The kept counts that are not what counting the rows gives: none, whatever was written. */
export async function falseCounts({ db }: TestStore): Promise<z.infer<typeof found>> {
  return found.parse(await db.$queryRawUnsafe(`SELECT name, kept, counted FROM (${counts}) AS c WHERE kept <> counted ORDER BY name`));
}
