import type { Tunnel } from '../generated/sqlite/client.ts';
import { counted, filterOf, type OwnerFilter } from './filters.ts';
import { folded, movingOrders, type Page, type PageQuery, type PageSource, plain, type Ranked, readPage, readPages } from './page.ts';
import { tunnelsWithProblems } from './problem-lists.ts';
import type { HotReader } from './reader.ts';

/** What each order of tunnels sorts by. */
const orders = {
  ID: plain('id'),
  CLIENT_ID: plain('clientId'),
  REMARK: folded('remark'),
  VERIFY_KEY: folded('clientKey'),
  PORT: plain('port'),
  MODE: plain('mode'),
  TARGET: folded('target'),
  PASSWORD: folded('password'),
  ENABLED: plain('enabled'),
  RUNNING: plain('running'),
  CONNECTED: plain('clientOnline'),
  RATE: plain('rate'),
  CONNECTIONS: plain('connections'),
};

/** What tunnels can be sorted by. */
export type TunnelOrder = keyof typeof orders | 'PROBLEMS';

/** A page of tunnels. */
export interface TunnelPageQuery extends PageQuery<TunnelOrder> {
  readonly ownerId?: OwnerFilter;
  /** Only the tunnels of this client. */
  readonly clientId?: number;
  /** Only the tunnels of this mode. */
  readonly mode?: string;
  /** For the order PROBLEMS: the ids of those whose problem only the engine knows. */
  readonly troubled?: readonly number[];
}

/** Reads a page of tunnels; the search is that of contract 2.1: id or port, or part of password, remark or target. */
export async function tunnelPage(reader: HotReader, query: TunnelPageQuery): Promise<Page<Tunnel>> {
  return readPage(reader, tunnelSource(query, await rankedBy(reader, query)), query);
}

/** The same list page by page, of any length. */
export async function* tunnelPages(reader: HotReader, query: TunnelPageQuery): AsyncGenerator<Page<Tunnel>, void, undefined> {
  yield* readPages(reader, tunnelSource(query, await rankedBy(reader, query)), query);
}

async function rankedBy(reader: HotReader, { orderBy, troubled = [] }: TunnelPageQuery): Promise<Ranked | undefined> {
  return orderBy === 'PROBLEMS' ? { ids: await tunnelsWithProblems(reader, troubled), othersFirst: true } : undefined;
}

/** The list that a query refers to. @param ranked for the order PROBLEMS */
export function tunnelSource({ ownerId, clientId, mode }: TunnelPageQuery, ranked?: Ranked): PageSource<TunnelOrder> {
  const where = filterOf({ clientId, ownerId, mode });
  return {
    table: 'Tunnel',
    orders: { ...orders, PROBLEMS: plain('id') },
    ranked,
    where,
    indexed: (order = 'ID') =>
      order === 'ID' || (!movingOrders.has(order) && clientId === undefined && (ownerId === undefined || (ownerId !== null && mode === undefined))),
    total(binder) {
      if (clientId === undefined && ownerId === undefined) return `SELECT value AS total FROM "Total" WHERE name = ${binder.bind(tunnelTotal(mode))}`;
      if (mode === undefined && ownerId === undefined) {
        return `SELECT "tunnelCount" - "hostCount" AS total FROM "Client" WHERE id = ${binder.bind(clientId ?? null)}`;
      }
      if (mode === undefined && clientId === undefined && ownerId !== null) {
        return `SELECT "tunnelCount" - "hostCount" AS total FROM "User" WHERE id = ${binder.bind(ownerId ?? null)}`;
      }
      return counted('Tunnel', where, binder);
    },
  };
}

/*
 * The stored counts: rows of Total for lists, and the counts of users and clients for their quotas and lists. They are maintained by triggers of
 * the migrations (0008_kept_counts) only.
 */

/** The name of the Total row for all tunnels, or for those of a mode. */
function tunnelTotal(mode?: string): string {
  return mode === undefined ? 'tunnels' : `tunnels:${mode}`;
}
