import type { Client } from '../generated/sqlite/client.ts';
import { counted, filterOf, type OwnerFilter } from './filters.ts';
import { folded, plain, readPage, readPages, working } from './page.ts';
import type { Page, PageQuery, PageSource, Ranked } from './page.ts';
import type { HotReader } from './reader.ts';
import type { Binder } from './binder.ts';
import { type ClientTroubles, clientsBySeverity } from './problem-lists.ts';

/** Clients that were never online first, on both databases. */
function lastOnline({ dialect }: Binder): string {
  return `coalesce("lastOnlineAt", ${dialect === 'sqlite' ? "''" : "'-infinity'"})`;
}

/** The earlier expiry of the client and its owner; those that never expire last. */
function effectiveExpiry({ dialect }: Binder): string {
  const [least, never] = dialect === 'sqlite' ? ['min', "'9999'"] : ['least', "'infinity'::timestamp"];
  return `${least}(coalesce("Client"."expiresAt", ${never}), coalesce((SELECT "expiresAt" FROM "User" WHERE "User"."id" = "Client"."userId"), ${never}))`;
}

/** What each order of clients sorts by. */
const orders = {
  ID: plain('id'),
  REMARK: folded('remark'),
  VERIFY_KEY: folded('vkey'),
  ENABLED: working,
  CONNECTED: plain('connected'),
  ADDRESS: folded('lastAddress'),
  LOCAL_ADDRESS: folded('localAddress'),
  VERSION: folded('agentVersion'),
  INLET_BYTES: plain('inletBytes'),
  EXPORT_BYTES: plain('exportBytes'),
  RATE: plain('rate'),
  LAST_ONLINE_AT: lastOnline,
  CONNECTIONS: plain('connections'),
  FLOW_USED: () => '("inletBytes" + "exportBytes")',
  EXPIRES_AT: effectiveExpiry,
  OWNER: (binder: Binder) => `coalesce((SELECT ${folded('username')(binder)} FROM "User" WHERE "User"."id" = "Client"."userId"), '')`,
};

/** What clients can be sorted by. */
export type ClientOrder = keyof typeof orders | 'PROBLEMS';

/** The orders without an index: it would be written all the time, or depends on other tables. A worker sorts. */
const sortedOrders: ReadonlySet<ClientOrder> = new Set(['LAST_ONLINE_AT', 'CONNECTIONS', 'FLOW_USED', 'EXPIRES_AT', 'OWNER']);

/** The orders with an index for one owner's clients. */
const ownOrders: ReadonlySet<ClientOrder> = new Set(['ID', 'REMARK', 'VERIFY_KEY', 'ENABLED', 'CONNECTED']);

/** A page of clients. */
export interface ClientPageQuery extends PageQuery<ClientOrder> {
  readonly ownerId?: OwnerFilter;
  /** Only this client. */
  readonly clientId?: number;
  /** For the order PROBLEMS. */
  readonly troubles?: ClientTroubles;
}

/** Reads a page of clients; the search is that of contract 2.1: the id, or part of key or remark. */
export async function clientPage(reader: HotReader, query: ClientPageQuery): Promise<Page<Client>> {
  return readPage(reader, clientSource(query, await rankedBy(reader, query)), query);
}

/** The same list page by page, of any length. */
export async function* clientPages(reader: HotReader, query: ClientPageQuery): AsyncGenerator<Page<Client>, void, undefined> {
  yield* readPages(reader, clientSource(query, await rankedBy(reader, query)), query);
}

async function rankedBy(reader: HotReader, { orderBy, troubles }: ClientPageQuery): Promise<Ranked | undefined> {
  return orderBy === 'PROBLEMS' && troubles !== undefined ? { ids: await clientsBySeverity(reader, troubles), othersFirst: true } : undefined;
}

/** The list that a query refers to. @param ranked for the order PROBLEMS */
export function clientSource({ ownerId, clientId }: ClientPageQuery, ranked?: Ranked): PageSource<ClientOrder> {
  const where = filterOf({ userId: ownerId, id: clientId });
  return {
    table: 'Client',
    orders: { ...orders, PROBLEMS: plain('id') },
    ranked,
    where,
    indexed: (order = 'ID') =>
      clientId !== undefined || (!sortedOrders.has(order) && (ownerId === undefined || order === 'ID' || (ownerId !== null && ownOrders.has(order)))),
    total(binder) {
      if (clientId !== undefined || ownerId === null) return counted('Client', where, binder);
      return ownerId === undefined
        ? `SELECT value AS total FROM "Total" WHERE name = 'clients'`
        : `SELECT "clientCount" AS total FROM "User" WHERE id = ${binder.bind(ownerId)}`;
    },
  };
}
