import type { Client, Host, PlatformDomain, Tunnel, User } from '../../store/generated/sqlite/client.ts';
import type { Reading } from '../../store/reading.ts';
import type { ImportResource } from './report.ts';

/** A record of an earlier import. */
interface EarlierImport {
  readonly digest: string;
  readonly inletBytes: number;
  readonly exportBytes: number;
}

/** The columns of the stored records that an import compares. */
export interface StoredState {
  readonly users: ReadonlyMap<number, Pick<User, 'id' | 'username' | 'passwordHash' | 'expiresAt'>>;
  readonly clients: ReadonlyMap<number, Pick<Client, 'id' | 'vkey' | 'userId' | 'webUsername' | 'webPasswordHash'>>;
  readonly tunnels: ReadonlyMap<number, Pick<Tunnel, 'id' | 'mode' | 'port' | 'serverIp' | 'enabled' | 'password'>>;
  readonly hosts: ReadonlyMap<number, Pick<Host, 'id' | 'host' | 'location' | 'scheme' | 'clientId' | 'namedByAdmin' | 'platformDomainId'>>;
  readonly domains: ReadonlyMap<string, PlatformDomain>;
  readonly globalSettings: { readonly blackIpList: string; readonly serverUrl: string };
  readonly tokenHashes: ReadonlySet<string>;
  /** By resource and id: `client 5`. */
  readonly earlier: ReadonlyMap<string, EarlierImport>;
}

/** The key of a record of an earlier import. */
export function earlierKey(resource: ImportResource, id: number | string): string {
  return `${resource} ${id}`;
}

/** Rows that are read at once. */
const pageSize = 1000;

/** Reads what an import compares with, some rows at a time. */
export async function readStoredState(tx: Reading): Promise<StoredState> {
  const page = (last: number) => ({ where: { id: { gt: last } }, orderBy: { id: 'asc' }, take: pageSize }) as const;
  const [domains, global, tokens, imported] = await Promise.all([
    tx.platformDomain.findMany(),
    tx.globalSettings.findUnique({ where: { id: 1 } }),
    tx.apiToken.findMany({ select: { hash: true } }),
    tx.importedRecord.count(),
  ]);
  const earlier = new Map<string, EarlierImport>();
  let last: { readonly resource: string; readonly recordId: string } | undefined;
  while (earlier.size < imported) {
    const rows = await tx.importedRecord.findMany({
      orderBy: [{ resource: 'asc' }, { recordId: 'asc' }],
      take: pageSize,
      ...(last !== undefined && { cursor: { resource_recordId: last }, skip: 1 }),
    });
    for (const { resource, recordId, digest, inletBytes, exportBytes } of rows) {
      earlier.set(`${resource} ${recordId}`, { digest, inletBytes: Number(inletBytes), exportBytes: Number(exportBytes) });
    }
    const end = rows.at(-1);
    if (end === undefined) break;
    last = { resource: end.resource, recordId: end.recordId };
  }
  return {
    users: await byId((last) => tx.user.findMany({ ...page(last), select: { id: true, username: true, passwordHash: true, expiresAt: true } })),
    clients: await byId((last) =>
      tx.client.findMany({ ...page(last), select: { id: true, vkey: true, userId: true, webUsername: true, webPasswordHash: true } })
    ),
    tunnels: await byId((last) =>
      tx.tunnel.findMany({ ...page(last), select: { id: true, mode: true, port: true, serverIp: true, enabled: true, password: true } })
    ),
    hosts: await byId((last) =>
      tx.host.findMany({
        ...page(last),
        select: { id: true, host: true, location: true, scheme: true, clientId: true, namedByAdmin: true, platformDomainId: true },
      })
    ),
    domains: new Map(domains.map((domain) => [domain.id, domain])),
    globalSettings: global ?? { blackIpList: '', serverUrl: '' },
    tokenHashes: new Set(tokens.map(({ hash }) => hash)),
    earlier,
  };
}

async function byId<Row extends { readonly id: number }>(read: (last: number) => Promise<Row[]>): Promise<Map<number, Row>> {
  const all = new Map<number, Row>();
  let last = -(2 ** 31);
  for (;;) {
    const rows = await read(last);
    for (const row of rows) all.set(row.id, row);
    const end = rows.at(-1);
    if (end === undefined || rows.length < pageSize) return all;
    last = end.id;
  }
}
