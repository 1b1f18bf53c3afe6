import DataLoader from 'dataloader';
import type { CertificateQuestion, CertificateState, ClientState, EngineFace, HostState, TunnelState } from '../engine/face.ts';
import type { Client, Host, Tunnel, User } from '../store/generated/sqlite/client.ts';
import type { Store } from '../store/store.ts';
import type { ResultLimits } from './result-limits.ts';
import { StateBatch } from './state-batch.ts';

/** A stretch of the tunnels or hosts of one client, or of the clients of one user. */
export interface OfParent {
  readonly parentId: number;
  readonly offset: number;
  readonly limit: number;
}

/** Look-ups that are gathered and asked of the database or the engine together, so that a list never asks once for each row. */
export class Loaders {
  readonly clients: DataLoader<number, Client | undefined>;
  readonly tunnels: DataLoader<number, Tunnel | undefined>;
  readonly users: DataLoader<number, User | undefined>;
  readonly hosts: DataLoader<number, Host | undefined>;
  readonly tunnelsOfClients: DataLoader<OfParent, Tunnel[], string>;
  readonly hostsOfClients: DataLoader<OfParent, Host[], string>;
  readonly clientsOfUsers: DataLoader<OfParent, Client[], string>;

  /** Running state, the same throughout a request. undefined = the engine doesn't know it */
  readonly clientStates: StateBatch<ClientState>;
  readonly tunnelStates: StateBatch<TunnelState>;
  readonly hostStates: StateBatch<HostState>;
  readonly certificates: DataLoader<CertificateQuestion, CertificateState | undefined, string>;

  /** @param results counts what is read for an operation; absent = nobody does */
  constructor(store: Store, engine: EngineFace, results?: ResultLimits) {
    const { db } = store;
    const byId = <Row extends { readonly id: number }>(find: (ids: number[]) => Promise<Row[]>) => byIds(async (ids) => {
      const rows = await find(ids);
      // The operation stops where its lists are made.
      results?.read(rows);
      return rows;
    });
    const page = async <Row>(read: () => Promise<Row[]>): Promise<Row[]> => {
      if (!results) return read();
      return (await results.page(async () => ({ rows: await read() }))).rows;
    };
    this.clientStates = new StateBatch((ids) => engine.clientStates(ids));
    this.tunnelStates = new StateBatch((ids) => engine.tunnelStates(ids));
    this.hostStates = new StateBatch((ids) => engine.hostStates(ids));
    this.certificates = new DataLoader((questions) => engine.hostCertificates(questions), { cacheKeyFn: ({ id, name }) => `${id} ${name ?? ''}` });
    this.clients = byId((ids) => db.client.findMany({ where: { id: { in: ids } } }));
    this.tunnels = byId((ids) => db.tunnel.findMany({ where: { id: { in: ids } } }));
    this.users = byId((ids) => db.user.findMany({ where: { id: { in: ids } } }));
    this.hosts = byId((ids) => db.host.findMany({ where: { id: { in: ids } } }));
    this.tunnelsOfClients = ofParents((query) => page(() => store.childrenOf('Tunnel', query)), (row) => row.clientId);
    this.hostsOfClients = ofParents((query) => page(() => store.childrenOf('Host', query)), (row) => row.clientId);
    this.clientsOfUsers = ofParents((query) => page(() => store.childrenOf('Client', query)), (row) => row.userId);
  }
}

function byIds<Row extends { readonly id: number }>(find: (ids: number[]) => Promise<Row[]>): DataLoader<number, Row | undefined> {
  return new DataLoader(async (ids) => {
    const rows = new Map((await find([...ids])).map((row) => [row.id, row]));
    return ids.map((id) => rows.get(id));
  });
}

type Stretch = Omit<OfParent, 'parentId'>;

/** One query for each stretch that is asked for: the rows of one list all ask for the same. */
function ofParents<Row>(
  find: (query: Stretch & { parentIds: number[] }) => Promise<Row[]>, parentOf: (row: Row) => number | null): DataLoader<OfParent, Row[], string> {
  const keyOf = (key: OfParent) => `${key.parentId}:${stretchOf(key)}`;
  return new DataLoader(async (keys) => {
    const found = new Map(keys.map((key): [string, Row[]] => [keyOf(key), []]));
    const stretches = new Map(keys.map((key) => [stretchOf(key), key]));
    await Promise.all([...stretches].map(async ([stretch, { offset, limit }]) => {
      // A caller that wants only the totals has them from the parents.
      if (limit === 0) return;
      const parentIds = keys.filter((key) => stretchOf(key) === stretch).map(({ parentId }) => parentId);
      for (const row of await find({ parentIds, offset, limit })) found.get(`${parentOf(row)}:${stretch}`)?.push(row);
    }));
    return keys.map((key) => found.get(keyOf(key)) ?? []);
  }, { cacheKeyFn: keyOf });
}

function stretchOf({ offset, limit }: Stretch): string {
  return `${offset}:${limit}`;
}
