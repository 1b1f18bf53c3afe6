import type { Client } from '../generated/sqlite/client.ts';
import { counted, filterOf, type OwnerFilter } from './filters.ts';
import { folded, plain, readPage, readPages, working } from './page.ts';
import type { Page, PageQuery, PageSource } from './page.ts';
import type { HotReader } from './reader.ts';
import type { Dialect } from '../migrations.ts';

/** Clients that were never online first, on both databases. */
function lastOnline(dialect: Dialect): string {
  return `coalesce("lastOnlineAt", ${dialect === 'sqlite' ? "''" : "'-infinity'"})`;
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
};

/** What clients can be sorted by. */
export type ClientOrder = keyof typeof orders;

/** The orders with an index for one owner's clients. */
const ownOrders: ReadonlySet<ClientOrder> = new Set(['ID', 'REMARK', 'VERIFY_KEY', 'ENABLED', 'CONNECTED']);

/** A page of clients. */
export interface ClientPageQuery extends PageQuery<ClientOrder> {
  readonly ownerId?: OwnerFilter;
  /** Only this client. */
  readonly clientId?: number;
}

/** Reads a page of clients; the search is that of contract 2.1: the id, or part of key or remark. */
export function clientPage(reader: HotReader, query: ClientPageQuery): Promise<Page<Client>> {
  return readPage(reader, clientSource(query), query);
}

/** The same list page by page, of any length. */
export function clientPages(reader: HotReader, query: ClientPageQuery): AsyncGenerator<Page<Client>, void, undefined> {
  return readPages(reader, clientSource(query), query);
}

/** The list that a query refers to. */
export function clientSource({ ownerId, clientId }: ClientPageQuery): PageSource<ClientOrder> {
  const where = filterOf({ userId: ownerId, id: clientId });
  return {
    table: 'Client',
    orders,
    where,
    // An index for LAST_ONLINE_AT would be written every second for every client that is online.
    indexed: (order = 'ID') =>
      clientId !== undefined || (order !== 'LAST_ONLINE_AT' && (ownerId === undefined || order === 'ID' || (ownerId !== null && ownOrders.has(order)))),
    total(binder) {
      if (clientId !== undefined || ownerId === null) return counted('Client', where, binder);
      return ownerId === undefined
        ? `SELECT value AS total FROM "Total" WHERE name = 'clients'`
        : `SELECT "clientCount" AS total FROM "User" WHERE id = ${binder.bind(ownerId)}`;
    },
  };
}
