import { isBounded, pageBytes, type TableRows } from './page.ts';
import { Binder } from './binder.ts';
import type { HotReader } from './reader.ts';

/** A range of the tunnels or hosts of each client, or of the clients of each user, by id. */
export interface ChildrenQuery {
  /** Ids of the clients, or of the users. */
  readonly parentIds: readonly number[];
  /** Rows of each parent to skip. */
  readonly offset: number;
  /** Maximum rows of each parent; absent = all that remain. */
  readonly limit?: number;
  /** Maximum rows in total; absent = unlimited. */
  readonly mostRows?: number;
}

/** The tables that can be read this way; the parents of clients are users. */
export type ChildRows = Pick<TableRows, 'Client' | 'Tunnel' | 'Host'>;

/**
 * Reads the same range of the tunnels or hosts of many clients, or of the clients of many users, with one statement, whole rows, by id.
 * @throws {RowsTooLongError} if they have more text than a page may have
 */
export function childrenOf<Table extends keyof ChildRows>(
  reader: HotReader,
  table: Table,
  { parentIds, offset, limit, mostRows }: ChildrenQuery,
): Promise<Array<ChildRows[Table]>> {
  const parent = table === 'Client' ? 'userId' : 'clientId';
  const binder = new Binder(reader.dialect);
  const sqlite = reader.dialect === 'sqlite';
  const parents = binder.bind(JSON.stringify(parentIds));
  const one = sqlite ? 'p.value' : 'p.value::int';
  // The index is read only up to the end of each parent's range: a client may have tens of thousands of tunnels.
  const range = (columns: string) =>
    `SELECT ${columns} FROM "${table}" WHERE "${parent}" = ${one} ORDER BY id LIMIT ${binder.bind(limit ?? (sqlite ? -1 : null))} OFFSET ${
      binder.bind(offset)
    }`;
  const from = sqlite
    ? `json_each(${parents}) AS p JOIN "${table}" t ON t.id IN (${range('id')})`
    : `json_array_elements_text(${parents}::json) AS p(value) CROSS JOIN LATERAL (${range('*')}) AS t`;
  const bounded = isBounded({ offset, limit: limit === undefined ? undefined : limit * parentIds.length });
  const most = mostRows === undefined ? '' : ` LIMIT ${binder.bind(mostRows)}`;
  return reader.rows({ text: `SELECT t.* FROM ${from} ORDER BY t.id${most}`, values: binder.values, bounded, most: pageBytes });
}
