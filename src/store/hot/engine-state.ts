import type { Client, Host, Tunnel, User } from '../generated/sqlite/client.ts';
import type { HotReader } from './reader.ts';
import { Binder } from './binder.ts';

/** Bytes as numbers: exact up to 8 PiB. */
interface Bytes {
  readonly inletBytes: number;
  readonly exportBytes: number;
}

/** A client at the start of the engine, with the relevant columns of its owner. */
export type StoredClient = Omit<Client, keyof Bytes> & Bytes & {
  readonly user: Pick<User, 'enabled' | 'expiresAt'> | null;
};

/** A tunnel at the start of the engine. */
export type StoredTunnel = Omit<Tunnel, keyof Bytes> & Bytes;

/** A host at the start of the engine. */
export type StoredHost = Omit<Host, keyof Bytes> & Bytes;

/** Everything that the engine serves: whole rows, so that no column has to be named here. */
export interface EngineState {
  readonly clients: readonly StoredClient[];
  readonly tunnels: readonly StoredTunnel[];
  readonly hosts: readonly StoredHost[];
  /** Addresses, one per line, that are refused everywhere. */
  readonly blackIpList: string;
  /** The server's public address; "" = unknown. */
  readonly serverUrl: string;
}

/** Rows that are read at once: few enough that other queries don't wait long for the database. */
const batchSize = 2000;

/** Reads all that the engine serves. 100,000 clients and tunnels take well under a second. */
export async function loadEngineState(reader: HotReader): Promise<EngineState> {
  const clients: StoredClient[] = [];
  for await (const { ownerEnabled, ownerExpiresAt, ...row } of allRows<ClientRow>(reader, clientRows, 'c')) {
    clients.push({ ...row, ...numbers(row), user: ownerEnabled === null ? null : { enabled: ownerEnabled, expiresAt: ownerExpiresAt } });
  }
  const tunnels: StoredTunnel[] = [];
  for await (const row of allRows<Tunnel>(reader, 'SELECT t.* FROM "Tunnel" t', 't')) tunnels.push({ ...row, ...numbers(row) });
  const hosts: StoredHost[] = [];
  for await (const row of allRows<Host>(reader, 'SELECT h.* FROM "Host" h', 'h')) hosts.push({ ...row, ...numbers(row) });
  const [settings = { blackIpList: '', serverUrl: '' }] = await reader.rows<Pick<EngineState, 'blackIpList' | 'serverUrl'>>({
    text: 'SELECT "blackIpList", "serverUrl" FROM "GlobalSettings"',
    values: [],
  });
  return { clients, tunnels, hosts, ...settings };
}

type ClientRow = Client & {
  /** null = has no owner */
  readonly ownerEnabled: boolean | null;
  readonly ownerExpiresAt: Date | null;
};

const clientRows = `SELECT c.*, u.enabled AS "ownerEnabled", u."expiresAt" AS "ownerExpiresAt"
  FROM "Client" c LEFT JOIN "User" u ON u.id = c."userId"`;

function numbers({ inletBytes, exportBytes }: { readonly inletBytes: bigint; readonly exportBytes: bigint }): Bytes {
  return { inletBytes: Number(inletBytes), exportBytes: Number(exportBytes) };
}

/** All rows of a query by their ids, batch by batch. @param alias the table's name in it */
async function* allRows<Row extends { readonly id: number }>(reader: HotReader, select: string, alias: string): AsyncGenerator<Row> {
  let last = 0;
  for (;;) {
    const binder = new Binder(reader.dialect);
    const text = `${select} WHERE ${alias}.id > ${binder.bind(last)} ORDER BY ${alias}.id LIMIT ${binder.bind(batchSize)}`;
    const rows = await reader.rows<Row>({ text, values: binder.values });
    yield* rows;
    const end = rows.at(-1);
    if (end === undefined || rows.length < batchSize) return;
    last = end.id;
  }
}
