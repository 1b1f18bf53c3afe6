import type { User } from '../generated/sqlite/client.ts';
import type { Binder } from './binder.ts';
import { folded, plain, readPage, readPages, working } from './page.ts';
import type { Page, PageQuery, PageSource } from './page.ts';
import type { HotReader } from './reader.ts';

/** What each order of users sorts by. */
const orders = {
  ID: plain('id'),
  USERNAME: folded('username'),
  REMARK: folded('remark'),
  ENABLED: working,
  MAX_TUNNELS: plain('maxTunnels'),
  MAX_CLIENTS: plain('maxClients'),
  CLIENT_COUNT: plain('clientCount'),
  TUNNEL_COUNT: plain('tunnelCount'),
  /** Users that never expire come before the others. */
  EXPIRES_AT: ({ dialect }: Binder) => dialect === 'sqlite' ? `coalesce("expiresAt", '')` : `coalesce("expiresAt", '-infinity'::timestamp)`,
  CREATED_AT: plain('createdAt'),
  LAST_LOGIN_AT: ({ dialect }: Binder) => `coalesce("lastLoginAt", ${dialect === 'sqlite' ? "''" : "'-infinity'"})`,
  TRAFFIC: () => `(SELECT coalesce(sum("inletBytes" + "exportBytes"), 0) FROM "Client" WHERE "userId" = "User"."id")`,
};

/** A page of users. */
export type UserPageQuery = PageQuery<keyof typeof orders>;

/** Reads a page of users; the search is that of contract 2.1: the id, or part of name or remark. */
export function userPage(reader: HotReader, query: UserPageQuery): Promise<Page<User>> {
  return readPage(reader, userSource(), query);
}

/** The same list page by page, of any length. */
export function userPages(reader: HotReader, query: UserPageQuery): AsyncGenerator<Page<User>, void, undefined> {
  return readPages(reader, userSource(), query);
}

/** The list that every query refers to. */
export function userSource(): PageSource<keyof typeof orders> {
  return {
    table: 'User',
    orders,
    where: {},
    indexed: (order) => order !== 'LAST_LOGIN_AT' && order !== 'TRAFFIC',
    total: () => `SELECT value AS total FROM "Total" WHERE name = 'users'`,
  };
}
