import type { Client, Host, Tunnel, User } from '../generated/sqlite/client.ts';
import type { HotReader } from './reader.ts';
import { Binder } from './binder.ts';

/** A client at the start of the engine, with the relevant columns of its owner. */
export type StoredClient = Client & { readonly user: Pick<User, 'enabled' | 'expiresAt'> | null };

/** Everything that the engine serves: whole rows, so that no column has to be named here. They are read while they are used, so that few are in memory. */
export interface EngineState {
  readonly clients: AsyncIterable<StoredClient>;
  readonly tunnels: AsyncIterable<Tunnel>;
  readonly hosts: AsyncIterable<Host>;
  /** Addresses, one per line, that are refused everywhere. */
  readonly blackIpList: string;
  /** The server's public address; "" = unknown. */
  readonly serverUrl: string;
}

/** Rows that are read at once: few enough that other queries don't wait long for the database. */
const batchSize = 200;

/** Reads all that the engine serves. */
export async function loadEngineState(reader: HotReader): Promise<EngineState> {
  const [settings = { blackIpList: '', serverUrl: '' }] = await reader.rows<Pick<EngineState, 'blackIpList' | 'serverUrl'>>({
    text: 'SELECT "blackIpList", "serverUrl" FROM "GlobalSettings"',
    values: [],
    bounded: true,
    once: true,
  });
  return {
    clients: clientsWithOwners(reader),
    tunnels: allRows<Tunnel>(reader, 'SELECT t.* FROM "Tunnel" t', 't'),
    hosts: allRows<Host>(reader, 'SELECT h.* FROM "Host" h', 'h'),
    ...settings,
  };
}

async function* clientsWithOwners(reader: HotReader): AsyncGenerator<StoredClient> {
  for await (const row of allRows<ClientRow>(reader, clientRows, 'c')) {
    // Not spread: copying a record of this size takes a hundred times as long as creating it.
    yield Object.assign(row, { user: row.ownerEnabled === null ? null : { enabled: row.ownerEnabled, expiresAt: row.ownerExpiresAt } });
  }
}

type ClientRow = Client & {
  /** null = has no owner */
  readonly ownerEnabled: boolean | null;
  readonly ownerExpiresAt: Date | null;
};

const clientRows = `SELECT c.*, u.enabled AS "ownerEnabled", u."expiresAt" AS "ownerExpiresAt"
  FROM "Client" c LEFT JOIN "User" u ON u.id = c."userId"`;

/** All rows of a query by their ids, batch by batch. @param alias the table's name in it */
async function* allRows<Row extends { readonly id: number }>(reader: HotReader, select: string, alias: string): AsyncGenerator<Row> {
  let last = 0;
  for (;;) {
    const binder = new Binder(reader.dialect);
    const text = `${select} WHERE ${alias}.id > ${binder.bind(last)} ORDER BY ${alias}.id LIMIT ${binder.bind(batchSize)}`;
    // On SQLite, this thread reads them: it has nothing else to do yet, and the worker for long reads is not needed at rest.
    const rows = await reader.rows<Row>({ text, values: binder.values, bounded: true, once: true });
    yield* rows;
    const end = rows.at(-1);
    if (end === undefined || rows.length < batchSize) return;
    last = end.id;
  }
}
