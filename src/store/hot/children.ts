import type { Client, Host, Tunnel } from '../generated/sqlite/client.ts';
import { isBounded } from './page.ts';
import { Binder } from './binder.ts';
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
  const parent = table === 'Client' ? 'userId' : 'clientId';
  const binder = new Binder(reader.dialect);
  const sqlite = reader.dialect === 'sqlite';
  const parents = binder.bind(JSON.stringify(parentIds));
  const one = sqlite ? 'p.value' : 'p.value::int';
  // Each parent's stretch is read from the index up to its end, and no further: a client may have tens of thousands of tunnels.
  const stretch = (columns: string) =>
    `SELECT ${columns} FROM "${table}" WHERE "${parent}" = ${one} ORDER BY id LIMIT ${binder.bind(limit ?? (sqlite ? -1 : null))} OFFSET ${binder.bind(offset)}`;
  const from = sqlite ? `json_each(${parents}) AS p JOIN "${table}" t ON t.id IN (${stretch('id')})` : `json_array_elements_text(${parents}::json) AS p(value) CROSS JOIN LATERAL (${stretch('*')}) AS t`;
  const bounded = isBounded({ offset, limit: limit === undefined ? undefined : limit * parentIds.length });
  return reader.rows({ text: `SELECT t.* FROM ${from} ORDER BY t.id`, values: binder.values, bounded });
}
