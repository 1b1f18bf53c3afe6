import { isBounded, pageBytes, type TableRows } from './page.ts';
import { Binder } from './binder.ts';
import type { HotReader } from './reader.ts';

/** A range of what each of several clients (or users, of clients) has, by id. */
export interface ChildrenQuery {
  /** Ids of the clients, or of the users. */
  readonly parentIds: readonly number[];
  /** Rows of each to leave out at the beginning. */
  readonly offset: number;
  /** The most rows of each; absent = all that remain. */
  readonly limit?: number;
  /** The most rows of all together; absent = any. */
  readonly mostRows?: number;
}

/** The rows of a table that can be asked for so; clients are those of users. */
export type ChildRows = Pick<TableRows, 'Client' | 'Tunnel' | 'Host'>;

/**
 * Reads the same range of the tunnels or hosts of many clients, or of the clients of many users, with one statement, whole rows, by id.
 * @throws {RowsTooLongError} where they have more text than a page may
 */
export function childrenOf<Table extends keyof ChildRows>(
  reader: HotReader, table: Table, { parentIds, offset, limit, mostRows }: ChildrenQuery): Promise<Array<ChildRows[Table]>> {
  const parent = table === 'Client' ? 'userId' : 'clientId';
  const binder = new Binder(reader.dialect);
  const sqlite = reader.dialect === 'sqlite';
  const parents = binder.bind(JSON.stringify(parentIds));
  const one = sqlite ? 'p.value' : 'p.value::int';
  // Each parent's range is read from the index up to its end, and no further: a client may have tens of thousands of tunnels.
  const range = (columns: string) =>
    `SELECT ${columns} FROM "${table}" WHERE "${parent}" = ${one} ORDER BY id LIMIT ${binder.bind(limit ?? (sqlite ? -1 : null))} OFFSET ${binder.bind(offset)}`;
  const from = sqlite ? `json_each(${parents}) AS p JOIN "${table}" t ON t.id IN (${range('id')})` : `json_array_elements_text(${parents}::json) AS p(value) CROSS JOIN LATERAL (${range('*')}) AS t`;
  const bounded = isBounded({ offset, limit: limit === undefined ? undefined : limit * parentIds.length });
  const most = mostRows === undefined ? '' : ` LIMIT ${binder.bind(mostRows)}`;
  return reader.rows({ text: `SELECT t.* FROM ${from} ORDER BY t.id${most}`, values: binder.values, bounded, most: pageBytes });
}
