import type { Client, Host, Tunnel, User } from '../generated/sqlite/client.ts';
import type { HotReader } from './reader.ts';
import { Binder } from './binder.ts';

// What the engine uses: a start reads hundreds of thousands of rows, and the other columns are most of their text.
const clientColumns = [
  'id',
  'vkey',
  'enabled',
  'basicUser',
  'basicPassword',
  'compress',
  'crypt',
  'configAllowed',
  'rateLimit',
  'flowLimit',
  'maxConnections',
  'blackIpList',
  'ipWhite',
  'ipWhitePassword',
  'ipWhiteList',
  'expiresAt',
  'lastAddress',
  'inletBytes',
  'exportBytes',
] as const satisfies ReadonlyArray<keyof Client>;
const tunnelColumns = [
  'id',
  'clientId',
  'mode',
  'enabled',
  'port',
  'serverIp',
  'target',
  'localProxy',
  'password',
  'localPath',
  'stripPrefix',
  'proxyProtocol',
  'accounts',
  'inletBytes',
  'exportBytes',
] as const satisfies ReadonlyArray<keyof Tunnel>;
const hostColumns = [
  'id',
  'clientId',
  'host',
  'location',
  'scheme',
  'enabled',
  'target',
  'localProxy',
  'headerChange',
  'hostChange',
  'keyFilePath',
  'certFilePath',
  'autoHttps',
  'acme',
  'namedByAdmin',
  'inletBytes',
  'exportBytes',
] as const satisfies ReadonlyArray<keyof Host>;

/** A client at the start of the engine, with the relevant columns of its owner. */
export type StoredClient = Pick<Client, typeof clientColumns[number]> & { readonly user: Pick<User, 'enabled' | 'expiresAt'> | null };
/** A tunnel at the start of the engine. */
export type StoredTunnel = Pick<Tunnel, typeof tunnelColumns[number]>;
/** A host at the start of the engine. */
export type StoredHost = Pick<Host, typeof hostColumns[number]>;

/** Everything that the engine serves. The rows are read while they are used, so that few are in memory. */
export interface EngineState {
  readonly clients: AsyncIterable<StoredClient>;
  readonly tunnels: AsyncIterable<StoredTunnel>;
  readonly hosts: AsyncIterable<StoredHost>;
  /** Addresses, one per line, that are refused everywhere. */
  readonly blackIpList: string;
  /** The server's public address; "" = unknown. */
  readonly serverUrl: string;
}

/** Rows that are read at once: on SQLite few enough that other queries don't wait long, on PostgreSQL enough that the way to it costs little. */
const batchSizes = { sqlite: 200, postgresql: 2000 } as const;

/** Reads all that the engine serves. */
export async function loadEngineState(reader: HotReader): Promise<EngineState> {
  const [settings = { blackIpList: '', serverUrl: '' }] = await reader.rows<Pick<EngineState, 'blackIpList' | 'serverUrl'>>({
    text: 'SELECT "blackIpList", "serverUrl" FROM "GlobalSettings"',
    values: [],
    bounded: true,
    once: true,
  });
  return {
    clients: clientsWithOwners(reader),
    tunnels: allRows<StoredTunnel>(reader, `SELECT ${listed('t', tunnelColumns)} FROM "Tunnel" t`, 't'),
    hosts: allRows<StoredHost>(reader, `SELECT ${listed('h', hostColumns)} FROM "Host" h`, 'h'),
    ...settings,
  };
}

async function* clientsWithOwners(reader: HotReader): AsyncGenerator<StoredClient> {
  for await (const row of allRows<ClientRow>(reader, clientRows, 'c')) {
    // Not spread: copying a record of this size takes a hundred times as long as creating it.
    yield Object.assign(row, { user: row.ownerEnabled === null ? null : { enabled: row.ownerEnabled, expiresAt: row.ownerExpiresAt } });
  }
}

type ClientRow = Omit<StoredClient, 'user'> & {
  /** null = has no owner */
  readonly ownerEnabled: boolean | null;
  readonly ownerExpiresAt: Date | null;
};

const clientRows = `SELECT ${listed('c', clientColumns)}, u.enabled AS "ownerEnabled", u."expiresAt" AS "ownerExpiresAt"
  FROM "Client" c LEFT JOIN "User" u ON u.id = c."userId"`;

function listed(alias: string, columns: readonly string[]): string {
  return columns.map((column) => `${alias}."${column}"`).join(', ');
}

/** All rows of a query by their ids, batch by batch. @param alias the table's name in it */
async function* allRows<Row extends { readonly id: number }>(reader: HotReader, select: string, alias: string): AsyncGenerator<Row> {
  const batchSize = batchSizes[reader.dialect];
  let last = 0;
  for (;;) {
    const binder = new Binder(reader.dialect);
    const text = `${select} WHERE ${alias}.id > ${binder.bind(last)} ORDER BY ${alias}.id LIMIT ${binder.bind(batchSize)}`;
    // On SQLite, this thread reads them: it has nothing else to do yet, and the worker for long reads is not needed at rest.
    const rows = await reader.rows<Row>({ text, values: binder.values, bounded: true, once: true });
    yield* rows;
    const end = rows.at(-1);
    if (end === undefined || rows.length < batchSize) return;
    last = end.id;
  }
}
