import type { Host } from '../generated/sqlite/client.ts';
import { counted, filterOf, type OwnerFilter } from './filters.ts';
import { folded, movingOrders, plain, readPage, readPages } from './page.ts';
import type { Page, PageQuery, PageSource, Ranked } from './page.ts';
import type { HotReader } from './reader.ts';

/** What each order of hosts sorts by. */
const orders = {
  ID: plain('id'),
  CLIENT_ID: plain('clientId'),
  REMARK: folded('remark'),
  VERIFY_KEY: folded('clientKey'),
  HOST: folded('host'),
  SCHEME: plain('scheme'),
  TARGET: folded('target'),
  LOCATION: folded('location'),
  STOPPED: () => '(NOT "enabled")',
  CONNECTED: plain('clientOnline'),
  RATE: plain('rate'),
  CONNECTIONS: plain('connections'),
};

/** What hosts can be sorted by. */
export type HostOrder = keyof typeof orders | 'CERTIFICATE' | 'PROBLEMS';

/** A page of hosts. */
export interface HostPageQuery extends PageQuery<HostOrder> {
  readonly ownerId?: OwnerFilter;
  /** Only the hosts of this client. */
  readonly clientId?: number;
  /** For the orders CERTIFICATE and PROBLEMS, which only the engine knows. */
  readonly ranked?: Ranked;
}

/** Reads a page of hosts; the search is that of contract 2.1: the id, or part of host, remark or the client's key. */
export function hostPage(reader: HotReader, query: HostPageQuery): Promise<Page<Host>> {
  return readPage(reader, hostSource(query), query);
}

/** The same list page by page, of any length. */
export function hostPages(reader: HotReader, query: HostPageQuery): AsyncGenerator<Page<Host>, void, undefined> {
  return readPages(reader, hostSource(query), query);
}

/** The list that a query refers to. */
export function hostSource({ clientId, ownerId, ranked }: HostPageQuery): PageSource<HostOrder> {
  const where = filterOf({ clientId, ownerId });
  return {
    table: 'Host',
    orders: { ...orders, CERTIFICATE: plain('id'), PROBLEMS: plain('id') },
    ranked,
    where,
    indexed: (order = 'ID') => order === 'ID' || (!movingOrders.has(order) && clientId === undefined && ownerId !== null),
    total(binder) {
      if (clientId === undefined && ownerId === undefined) return `SELECT value AS total FROM "Total" WHERE name = 'hosts'`;
      if (ownerId === undefined) return `SELECT "hostCount" AS total FROM "Client" WHERE id = ${binder.bind(clientId ?? null)}`;
      if (clientId === undefined && ownerId !== null) return `SELECT "hostCount" AS total FROM "User" WHERE id = ${binder.bind(ownerId)}`;
      return counted('Host', where, binder);
    },
  };
}
