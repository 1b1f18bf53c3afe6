import type { HotReader } from './reader.ts';
import { Binder } from './reader.ts';

/** A client as the engine starts with it. */
export interface StoredClient {
  readonly id: number;
  readonly vkey: string;
  /** Itself and its owner. */
  readonly enabled: boolean;
  /** The earlier of its own and its owner's expiry, ms since the epoch; null = never. */
  readonly expiresAt: number | null;
  readonly lastOnlineAt: number | null;
  readonly lastAddress: string;
  readonly localAddress: string;
  readonly agentVersion: string;
  readonly inletBytes: number;
  readonly exportBytes: number;
}

/** A tunnel as the engine starts with it. */
export interface StoredTunnel {
  readonly id: number;
  readonly clientId: number;
  readonly mode: string;
  readonly enabled: boolean;
  readonly port: number;
  readonly serverIp: string;
  /** host:port, one a line. */
  readonly target: string;
  readonly inletBytes: number;
  readonly exportBytes: number;
}

/** Everything that the engine serves. */
export interface EngineState {
  readonly clients: readonly StoredClient[];
  readonly tunnels: readonly StoredTunnel[];
}

/** Rows that are read at once: few enough that nothing else waits long for the database. */
const batchSize = 2000;

/** Reads all clients and tunnels. 100,000 of each take well under a second. */
export async function loadEngineState(reader: HotReader): Promise<EngineState> {
  const clients: StoredClient[] = [];
  for await (const row of allRows<ClientRow>(reader, clientRows, 'c')) {
    clients.push({
      id: row.id,
      vkey: row.vkey,
      enabled: row.enabled && row.ownerEnabled !== false,
      expiresAt: earlier(row.expiresAt, row.ownerExpiresAt),
      lastOnlineAt: row.lastOnlineAt?.getTime() ?? null,
      lastAddress: row.lastAddress,
      localAddress: row.localAddress,
      agentVersion: row.agentVersion,
      inletBytes: Number(row.inletBytes),
      exportBytes: Number(row.exportBytes),
    });
  }
  const tunnels: StoredTunnel[] = [];
  for await (const row of allRows<TunnelRow>(reader, tunnelRows, 't')) {
    tunnels.push({ ...row, inletBytes: Number(row.inletBytes), exportBytes: Number(row.exportBytes) });
  }
  return { clients, tunnels };
}

interface ClientRow extends Omit<StoredClient, 'expiresAt' | 'lastOnlineAt' | 'inletBytes' | 'exportBytes'> {
  readonly expiresAt: Date | null;
  readonly lastOnlineAt: Date | null;
  readonly inletBytes: bigint;
  readonly exportBytes: bigint;
  /** null = has no owner */
  readonly ownerEnabled: boolean | null;
  readonly ownerExpiresAt: Date | null;
}

const clientRows = `SELECT c.id, c.vkey, c.enabled, c."expiresAt", c."lastOnlineAt", c."lastAddress", c."localAddress", c."agentVersion",
  c."inletBytes", c."exportBytes", u.enabled AS "ownerEnabled", u."expiresAt" AS "ownerExpiresAt"
  FROM "Client" c LEFT JOIN "User" u ON u.id = c."userId"`;

interface TunnelRow extends Omit<StoredTunnel, 'inletBytes' | 'exportBytes'> {
  readonly inletBytes: bigint;
  readonly exportBytes: bigint;
}

const tunnelRows = `SELECT t.id, t."clientId", t.mode, t.enabled, t.port, t."serverIp", t.target, t."inletBytes", t."exportBytes" FROM "Tunnel" t`;

/** All rows of a query by their ids, batch by batch. @param alias the table's name in it */
async function* allRows<Row extends { readonly id: number }>(reader: HotReader, select: string, alias: string): AsyncGenerator<Row> {
  let last = 0;
  for (;;) {
    const binder = new Binder(reader.dialect);
    const text = `${select} WHERE ${alias}.id > ${binder.bind(last)} ORDER BY ${alias}.id LIMIT ${binder.bind(batchSize)}`;
    const rows = await reader.rows<Row>({ text, values: binder.values });
    yield* rows;
    const end = rows.at(-1);
    if (end === undefined || rows.length < batchSize) return;
    last = end.id;
  }
}

function earlier(one: Date | null, other: Date | null): number | null {
  if (one === null || other === null) return (one ?? other)?.getTime() ?? null;
  return Math.min(one.getTime(), other.getTime());
}
