import * as z from 'zod';
import type { TableRows } from '../../store/hot/page.ts';
import type { Store } from '../../store/store.ts';
import type { Change, ClientWithOwner, ImportedRows } from './changes.ts';
import { type FollowedChange, followedRecord } from './followed-changes.ts';

const scope = z.object({ id: z.number(), userId: z.number().nullable() });
const bytes = z.object({ inletBytes: z.number(), exportBytes: z.number() });

/** A change in the log: the ids of records that are loaded when the change is followed. */
const loggedChange = z.union([
  z.object({ resource: z.enum(['client', 'tunnel', 'host']), id: z.number(), was: scope.optional(), reset: bytes.optional() }),
  /** `ids`: the clients of a deleted user, which no longer refer to it. */
  z.object({ resource: z.literal('user'), id: z.number(), ids: z.array(z.number()).optional() }),
  z.object({ resource: z.enum(['globalSettings', 'node', 'access']) }),
  /** What is kept of the ACME certificate of a name, which the engine reads itself. */
  z.object({ resource: z.literal('acme'), name: z.string() }),
  /** Many records: everything must be loaded. `counted`: the bytes that were added to the counters of records, which their rows do not say. */
  z.object({ resource: z.literal('import'), counted: z.array(z.tuple([z.enum(['client', 'tunnel', 'host']), z.number(), z.number(), z.number()])).optional() }),
]);
const loggedChanges = z.string().transform((text): unknown => JSON.parse(text)).pipe(z.array(loggedChange.catch({ resource: 'access' })));

/** A change in the log of changes. */
export type LoggedChange = z.infer<typeof loggedChange>;

/** Parses the changes of a transaction in the log. A change that only a later version knows is none that this version serves. */
export function parseLogged(text: string): LoggedChange[] {
  return loggedChanges.parse(text);
}

/** The form of a change in the log. It names whatever must be loaded to follow it. */
export function loggedOf(change: Change): LoggedChange {
  switch (change.resource) {
    case 'client':
    case 'tunnel':
    case 'host': {
      const { id, was, reset } = followedRecord(change);
      return { resource: change.resource, id, was, reset };
    }
    case 'user': {
      const { id } = change.action === 'delete' ? change.before : change.after;
      return change.action === 'delete' ? { resource: 'user', id, ids: change.clients.map((client) => client.id) } : { resource: 'user', id };
    }
    case 'globalSettings':
    case 'node':
      return { resource: change.resource };
    case 'import':
      return { resource: 'import', counted: change.rows.counted.map(({ resource, id, inletBytes, exportBytes }) => [resource, id, inletBytes, exportBytes]) };
    case 'apiToken':
    case 'enrolment':
    case 'acmeOrder':
    case 'installationKey':
    case 'session':
    case 'connection':
    case 'lockout':
    case 'failedAttempt':
      return { resource: 'access' };
  }
}

/** The changes of an import, one record at a time: clients first, since tunnels and hosts belong to them. */
export function* loggedOfImport({ clients, tunnels, hosts, counted, globalSettings }: ImportedRows): Generator<LoggedChange> {
  if (globalSettings) yield { resource: 'globalSettings' };
  for (const [resource, ids] of [['client', clients], ['tunnel', tunnels], ['host', hosts]] as const) for (const id of ids) yield { resource, id };
  for (const { resource, id, inletBytes, exportBytes } of counted) yield added(resource, id, inletBytes, exportBytes);
  yield { resource: 'access' };
}

/** What changes add to counters or subtract from them. Everything else about a record is in its row. */
export function countersIn(changes: readonly LoggedChange[]): LoggedChange[] {
  return changes.flatMap((change) => {
    if (change.resource === 'import') return (change.counted ?? []).map((counted) => added(...counted));
    return 'reset' in change && change.reset !== undefined ? [change] : [];
  });
}

/** A reset subtracts bytes. */
function added(resource: 'client' | 'tunnel' | 'host', id: number, inletBytes: number, exportBytes: number): LoggedChange {
  return { resource, id, reset: { inletBytes: -inletBytes, exportBytes: -exportBytes } };
}

/** The parts of the store that the rows of changes are read from. */
export type ChangedRows = Pick<Store, 'db' | 'changed'>;

/**
 * Loads the current rows of changes in the log, with one statement for each table. Each server does this for each commit of another one, so it does not use Prisma,
 * which needs several times as much CPU.
 * @returns the changes in the same order
 */
export async function loadLogged(store: ChangedRows, changes: readonly LoggedChange[]): Promise<FollowedChange[]> {
  const idsOf = (resource: 'client' | 'tunnel' | 'host') => [...new Set(changes.flatMap((change) => change.resource === resource ? [change.id] : []))];
  const [clients, tunnels, hosts, settings] = await Promise.all([
    clientsOf(store, idsOf('client'), changes.filter((change) => change.resource === 'user')),
    rowsOf(store, 'Tunnel', idsOf('tunnel')),
    rowsOf(store, 'Host', idsOf('host')),
    changes.some(({ resource }) => resource === 'globalSettings') ? store.db.globalSettings.findFirst() : null,
  ]);
  const clientsById = byId(clients);
  const tunnelsById = byId(tunnels);
  const hostsById = byId(hosts);
  return changes.map((change): FollowedChange => {
    switch (change.resource) {
      case 'client':
        return { ...change, resource: 'client', row: clientsById.get(change.id) ?? null };
      case 'tunnel':
        return { ...change, resource: 'tunnel', row: tunnelsById.get(change.id) ?? null };
      case 'host':
        return { ...change, resource: 'host', row: hostsById.get(change.id) ?? null };
      case 'user':
        return { resource: 'user', id: change.id, clients: clients.filter(({ id, userId }) => userId === change.id || change.ids?.includes(id) === true) };
      case 'globalSettings':
        return { resource: 'globalSettings', row: settings };
      case 'node':
        return { resource: 'node' };
      case 'acme':
        return change;
      case 'access':
      case 'import':
        return { resource: 'access' };
    }
  });
}

/** Clients with their owners: those with the ids, and those of changed users. */
async function clientsOf(
  store: ChangedRows,
  ids: readonly number[],
  users: ReadonlyArray<Extract<LoggedChange, { readonly resource: 'user' }>>,
): Promise<ClientWithOwner[]> {
  const owned = users.length === 0 ? [] : await store.db.client.findMany({ where: { userId: { in: users.map(({ id }) => id) } }, select: { id: true } });
  const clients = await rowsOf(store, 'Client', [...new Set([...ids, ...users.flatMap((user) => user.ids ?? []), ...owned.map(({ id }) => id)])]);
  const owners = byId(await rowsOf(store, 'User', [...new Set(clients.flatMap(({ userId }) => userId ?? []))]));
  return clients.map((client) => ({ ...client, user: owners.get(client.userId ?? 0) ?? null }));
}

/** No statement is needed for no rows. */
async function rowsOf<Table extends keyof TableRows>(store: ChangedRows, table: Table, ids: readonly number[]): Promise<Array<TableRows[Table]>> {
  return ids.length === 0 ? [] : store.changed(table, ids);
}

function byId<Row extends { readonly id: number }>(rows: readonly Row[]): ReadonlyMap<number, Row> {
  return new Map(rows.map((row) => [row.id, row]));
}
