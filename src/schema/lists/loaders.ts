import DataLoader from 'dataloader';
import type { CertificateQuestion, CertificateState, ClientState, EngineFace, HostState, TunnelState } from '../../engine/face.ts';
import type { Client, Host, Tunnel, User } from '../../store/generated/sqlite/client.ts';
import type { StoreToRead } from '../../store/store.ts';
import type { ResultLimits } from '../limits/result-limits.ts';
import { StateBatch } from './state-batch.ts';

/** A page of the tunnels or hosts of one client, or of the clients of one user. */
export interface OfParent {
  readonly parentId: number;
  readonly offset: number;
  readonly limit: number;
}

/** Batches lookups in the database and the engine, so that a list never runs a query for each row. */
export class Loaders {
  readonly clients: DataLoader<number, Client | undefined>;
  readonly tunnels: DataLoader<number, Tunnel | undefined>;
  readonly users: DataLoader<number, User | undefined>;
  readonly hosts: DataLoader<number, Host | undefined>;
  readonly tunnelsOfClients: DataLoader<OfParent, Tunnel[], string>;
  readonly hostsOfClients: DataLoader<OfParent, Host[], string>;
  readonly clientsOfUsers: DataLoader<OfParent, Client[], string>;

  /** Running states, constant within a request. undefined = the engine has none */
  readonly clientStates: StateBatch<ClientState>;
  readonly tunnelStates: StateBatch<TunnelState>;
  readonly hostStates: StateBatch<HostState>;
  readonly certificates: DataLoader<CertificateQuestion, CertificateState | undefined, string>;

  /** @param results counts what is read for an operation; absent = not counted */
  constructor(store: StoreToRead, engine: EngineFace, results?: ResultLimits) {
    const byId = <Row extends { readonly id: number }>(find: (ids: number[]) => Promise<Row[]>) =>
      byIds(async (ids) => {
        const rows = await (results ? results.bounded(() => find(ids)) : find(ids));
        // The limit takes effect where the operation's lists are built.
        results?.read(rows);
        return rows;
      });
    const page = async <Row>(read: (mostRows?: number) => Promise<Row[]>): Promise<Row[]> => {
      if (!results) return read();
      return (await results.page(async (mostRows) => ({ rows: await read(mostRows) }))).rows;
    };
    this.clientStates = new StateBatch((ids) => engine.clientStates(ids));
    this.tunnelStates = new StateBatch((ids) => engine.tunnelStates(ids));
    this.hostStates = new StateBatch((ids) => engine.hostStates(ids));
    this.certificates = new DataLoader((questions) => engine.hostCertificates(questions), { cacheKeyFn: ({ id, name }) => `${id} ${name ?? ''}` });
    this.clients = byId((ids) => store.byIds('Client', ids));
    this.tunnels = byId((ids) => store.byIds('Tunnel', ids));
    this.users = byId((ids) => store.byIds('User', ids));
    this.hosts = byId((ids) => store.byIds('Host', ids));
    this.tunnelsOfClients = ofParents((query) => page((mostRows) => store.childrenOf('Tunnel', { ...query, mostRows })), (row) => row.clientId);
    this.hostsOfClients = ofParents((query) => page((mostRows) => store.childrenOf('Host', { ...query, mostRows })), (row) => row.clientId);
    this.clientsOfUsers = ofParents((query) => page((mostRows) => store.childrenOf('Client', { ...query, mostRows })), (row) => row.userId);
  }
}

function byIds<Row extends { readonly id: number }>(find: (ids: number[]) => Promise<Row[]>): DataLoader<number, Row | undefined> {
  return new DataLoader(async (ids) => {
    const rows = new Map((await find([...ids])).map((row) => [row.id, row]));
    return ids.map((id) => rows.get(id));
  });
}

type PageRange = Omit<OfParent, 'parentId'>;

/** One query for each requested range: the rows of one list all request the same range. */
function ofParents<Row>(
  find: (query: PageRange & { parentIds: number[] }) => Promise<Row[]>,
  parentOf: (row: Row) => number | null,
): DataLoader<OfParent, Row[], string> {
  const keyOf = (key: OfParent) => `${key.parentId}:${pageRange(key)}`;
  return new DataLoader(async (keys) => {
    const found = new Map(keys.map((key): [string, Row[]] => [keyOf(key), []]));
    const ranges = new Map(keys.map((key) => [pageRange(key), key]));
    await Promise.all([...ranges].map(async ([range, { offset, limit }]) => {
      // The caller only needs the totals, which the parents provide.
      if (limit === 0) return;
      const parentIds = keys.filter((key) => pageRange(key) === range).map(({ parentId }) => parentId);
      for (const row of await find({ parentIds, offset, limit })) found.get(`${parentOf(row)}:${range}`)?.push(row);
    }));
    return keys.map((key) => found.get(keyOf(key)) ?? []);
  }, { cacheKeyFn: keyOf });
}

function pageRange({ offset, limit }: PageRange): string {
  return `${offset}:${limit}`;
}
