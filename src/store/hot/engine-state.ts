import type { Client, Host, Tunnel } from '../generated/sqlite/client.ts';
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
export type StoredClient = Pick<Client, typeof clientColumns[number]> & {
  /** null = it has no owner */
  readonly ownerEnabled: boolean | null;
  readonly ownerExpiresAt: Date | null;
};
/** A tunnel at the start of the engine. */
export type StoredTunnel = Pick<Tunnel, typeof tunnelColumns[number]>;
/** A host at the start of the engine. */
export type StoredHost = Pick<Host, typeof hostColumns[number]>;

/** Everything that the engine serves. The rows are read page by page while they are used, so that few are in memory. */
export interface EngineState {
  readonly clients: AsyncIterable<readonly StoredClient[]>;
  readonly tunnels: AsyncIterable<readonly StoredTunnel[]>;
  readonly hosts: AsyncIterable<readonly StoredHost[]>;
  /** Addresses, one per line, that are refused everywhere. */
  readonly blackIpList: string;
  /** The server's public address; "" = unknown. */
  readonly serverUrl: string;
}

/** Rows that are read at once: few enough that using them holds the event loop for a few ms, and enough that the way to the database costs little. */
const PAGE = 500;

/** What this needs of the reader. */
type Rows = Pick<HotReader, 'dialect' | 'rows' | 'manyRows'>;

/** Reads all that the engine serves. */
export async function loadEngineState(reader: Rows): Promise<EngineState> {
  const [settings = { blackIpList: '', serverUrl: '' }] = await reader.rows<Pick<EngineState, 'blackIpList' | 'serverUrl'>>({
    text: 'SELECT "blackIpList", "serverUrl" FROM "GlobalSettings"',
    values: [],
    bounded: true,
    once: true,
  });
  return {
    clients: pages<StoredClient>(
      reader,
      `SELECT ${
        listed('c', clientColumns)
      }, u.enabled AS "ownerEnabled", u."expiresAt" AS "ownerExpiresAt" FROM "Client" c LEFT JOIN "User" u ON u.id = c."userId"`,
      'c',
    ),
    tunnels: pages<StoredTunnel>(reader, `SELECT ${listed('t', tunnelColumns)} FROM "Tunnel" t`, 't'),
    hosts: pages<StoredHost>(reader, `SELECT ${listed('h', hostColumns)} FROM "Host" h`, 'h'),
    ...settings,
  };
}

function listed(alias: string, columns: readonly string[]): string {
  return columns.map((column) => `${alias}."${column}"`).join(', ');
}

/** All rows of a query by their ids, page by page: the next page is read while the caller uses one. @param alias the table's name in it */
async function* pages<Row extends { readonly id: number }>(reader: Rows, select: string, alias: string): AsyncGenerator<readonly Row[]> {
  const after = (id: number): Promise<Row[]> => {
    const binder = new Binder(reader.dialect);
    const text = `${select} WHERE ${alias}.id > ${binder.bind(id)} ORDER BY ${alias}.id LIMIT ${binder.bind(PAGE)}`;
    const page = reader.manyRows<Row>({ text, values: binder.values });
    page.catch(() => {}); // awaited when the caller asks for it, if it does
    return page;
  };
  for (let page: Promise<Row[]> | undefined = after(0); page;) {
    const rows: Row[] = await page;
    const last = rows.at(-1);
    page = last !== undefined && rows.length === PAGE ? after(last.id) : undefined;
    if (last !== undefined) yield rows;
  }
}
