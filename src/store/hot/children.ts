import type { Client, Host, Tunnel } from '../generated/sqlite/client.ts';
import { isBounded } from './page.ts';
import { Binder, idsOf } from './reader.ts';
import type { HotReader } from './reader.ts';

/** A stretch of what each of several clients (or users, of clients) has, by id. */
export interface ChildrenQuery {
  /** Ids of the clients, or of the users. */
  readonly parentIds: readonly number[];
  /** Rows of each to leave out at the beginning. */
  readonly offset: number;
  /** The most rows of each; absent = all that remain. */
  readonly limit?: number;
}

/** The rows of a table that can be asked for so. */
export interface ChildRows {
  /** Of several users. */
  readonly Client: Client;
  readonly Tunnel: Tunnel;
  readonly Host: Host;
}

/** Reads the same stretch of the tunnels or hosts of many clients, or of the clients of many users, with one statement, whole rows, by id. */
export function childrenOf<Table extends keyof ChildRows>(
  reader: HotReader, table: Table, { parentIds, offset, limit }: ChildrenQuery): Promise<Array<ChildRows[Table]>> {
  const binder = new Binder(reader.dialect);
  const parent = table === 'Client' ? 'userId' : 'clientId';
  const placed = `SELECT id, row_number() OVER (PARTITION BY "${parent}" ORDER BY id) AS place FROM "${table}" WHERE "${parent}" IN (${idsOf(binder, parentIds)})`;
  const after = `place > ${binder.bind(offset)}`;
  const wanted = limit === undefined ? after : `${after} AND place <= ${binder.bind(offset + limit)}`;
  const bounded = isBounded({ offset, limit: limit === undefined ? undefined : limit * parentIds.length });
  return reader.rows({ text: `SELECT * FROM "${table}" WHERE id IN (SELECT id FROM (${placed}) AS placed WHERE ${wanted}) ORDER BY id`, values: binder.values, bounded });
}
