import { setImmediate as nextIteration } from 'node:timers/promises';
import type { Client, Host, Tunnel } from '../generated/sqlite/client.ts';
import type { HotReader } from './reader.ts';
import { Binder } from './binder.ts';
import type { ManyRows, ManyRowsQuery } from './many-rows.ts';

// What the engine uses: a start reads hundreds of thousands of rows, and the other columns are most of their text. First, columns that differ in many rows.
const clientColumns = [
  'id',
  'vkey',
  'enabled',
  'compress',
  'crypt',
  'configAllowed',
  'rateLimit',
  'flowLimit',
  'maxConnections',
  'lastAddress',
] as const satisfies ReadonlyArray<keyof Client>;
const rareOfClient = {
  basicUser: '',
  basicPassword: '',
  blackIpList: '',
  ipWhite: false,
  ipWhitePassword: '',
  ipWhiteList: '',
  expiresAt: null,
} as const satisfies Partial<Client>;
const tunnelColumns = ['id', 'clientId', 'mode', 'enabled', 'port', 'target', 'password'] as const satisfies ReadonlyArray<keyof Tunnel>;
const rareOfTunnel = { serverIp: '', localProxy: false, localPath: '', stripPrefix: '', proxyProtocol: '', accounts: '' } as const satisfies Partial<Tunnel>;
const hostColumns = ['id', 'clientId', 'host', 'enabled', 'target', 'autoHttps', 'acme', 'namedByAdmin'] as const satisfies ReadonlyArray<keyof Host>;
const rareOfHost = {
  location: '/',
  scheme: 'all',
  localProxy: false,
  headerChange: '',
  hostChange: '',
  keyFilePath: '',
  certFilePath: '',
} as const satisfies Partial<Host>;

/** Columns whose text may be long: lists of a MB, certificates. */
const longTexts = {
  client: ['blackIpList', 'ipWhiteList'],
  tunnel: ['target', 'accounts', 'localPath'],
  host: ['target', 'headerChange', 'keyFilePath', 'certFilePath'],
} as const satisfies {
  readonly client: ReadonlyArray<keyof Client>;
  readonly tunnel: ReadonlyArray<keyof Tunnel>;
  readonly host: ReadonlyArray<keyof Host>;
};

/** Of every row. The database has them as BigInt: numbers are exact up to 8 PiB. */
const byteColumns = ['inletBytes', 'exportBytes'] as const;
type Bytes = Readonly<Record<typeof byteColumns[number], number>>;

/** A client at the start of the engine, with the relevant columns of its owner. */
export type StoredClient = Pick<Client, typeof clientColumns[number] | keyof typeof rareOfClient> & Bytes & {
  /** null = it has no owner */
  readonly ownerEnabled: boolean | null;
  readonly ownerExpiresAt: Date | null;
};
/** A tunnel at the start of the engine. */
export type StoredTunnel = Pick<Tunnel, typeof tunnelColumns[number] | keyof typeof rareOfTunnel> & Bytes;
/** A host at the start of the engine. */
export type StoredHost = Pick<Host, typeof hostColumns[number] | keyof typeof rareOfHost> & Bytes;

/** Everything that the engine serves. The rows are read page by page while they are used, so that few are in memory. */
export interface EngineState {
  readonly clients: AsyncIterable<Iterable<StoredClient>>;
  readonly tunnels: AsyncIterable<Iterable<StoredTunnel>>;
  readonly hosts: AsyncIterable<Iterable<StoredHost>>;
  /** Addresses, one per line, that are refused everywhere. */
  readonly blackIpList: string;
  /** The server's public address; "" = unknown. */
  readonly serverUrl: string;
}

/** A row whose long texts have more bytes than this together comes in one of the smaller pages. */
const LONG = 2000;
/**
 * Rows that are read at once. A page of short rows holds the event loop for some ms, and is large enough that the way to the database costs little. If tenants had filled their lists, rows of any length in
 * pages of this size would take hundreds of MB; eight rows with lists of 1 MB take some MB.
 */
const PAGE = { short: 2000, long: 8 } as const;

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
    clients: pages<StoredClient>(reader, {
      from: '"Client" t LEFT JOIN "User" u ON u.id = t."userId"',
      columns: clientColumns,
      rare: rareOfClient,
      longTexts: longTexts.client,
      joined: { ownerEnabled: 'u.enabled' },
      joinedRare: { ownerExpiresAt: 'u."expiresAt"' },
    }),
    tunnels: pages<StoredTunnel>(reader, { from: '"Tunnel" t', columns: tunnelColumns, rare: rareOfTunnel, longTexts: longTexts.tunnel }),
    hosts: pages<StoredHost>(reader, { from: '"Host" t', columns: hostColumns, rare: rareOfHost, longTexts: longTexts.host }),
    ...settings,
  };
}

/** What {@link pages} reads of a table, which is `t` in the query. */
interface Read {
  readonly from: string;
  readonly columns: readonly string[];
  readonly rare: ManyRowsQuery['rare'];
  readonly longTexts: readonly string[];
  /** Expressions of a joined table, by name; `joinedRare`: those that are null in most rows. */
  readonly joined?: Readonly<Record<string, string>>;
  readonly joinedRare?: Readonly<Record<string, string>>;
}

/** All rows of a table, page by page: first those without long texts, each by their ids. The next page is read while the caller uses one. */
async function* pages<Row>(reader: Rows, { from, columns, rare, longTexts: texts, joined = {}, joinedRare = {} }: Read): AsyncGenerator<Iterable<Row>> {
  const own = [...columns, ...byteColumns];
  const listed = [
    ...[...own, ...Object.keys(rare)].map((column) => `t."${column}"`),
    ...Object.entries({ ...joined, ...joinedRare }).map(([name, expression]) => `${expression} AS "${name}"`),
  ];
  const wanted = {
    columns: [...own, ...Object.keys(joined)],
    rare: { ...rare, ...Object.fromEntries(Object.keys(joinedRare).map((name) => [name, null])) },
  };
  // Neither database reads a long text for this: SQLite has its length in the row, PostgreSQL beside the reference to it.
  const bytes = texts.map((column) => `octet_length(t."${column}")`).join(' + ');
  const after = (id: number, which: keyof typeof PAGE): Promise<ManyRows<Row>> => {
    const binder = new Binder(reader.dialect);
    const where = `t.id > ${binder.bind(id)} AND ${bytes} ${which === 'short' ? '<=' : '>'} ${LONG}`;
    const text = `SELECT ${listed.join(', ')} FROM ${from} WHERE ${where} ORDER BY t.id LIMIT ${binder.bind(PAGE[which])}`;
    const page = reader.manyRows<Row>({ ...wanted, text, values: binder.values });
    page.catch(() => {}); // awaited when the caller asks for it, if it does
    return page;
  };
  const first = { short: after(0, 'short'), long: after(0, 'long') };
  for (const which of ['short', 'long'] as const) {
    for (let page: Promise<ManyRows<Row>> | undefined = first[which]; page;) {
      const { ids, rows }: ManyRows<Row> = await page;
      const last = ids.at(-1);
      page = last !== undefined && ids.length === PAGE[which] ? after(last, which) : undefined;
      // The pool of PostgreSQL sends a query in a tick of its own. The caller takes a page without a pause, and so this tick would come after it.
      if (page) await nextIteration();
      if (last !== undefined) yield rows;
    }
  }
}
