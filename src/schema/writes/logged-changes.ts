import * as z from 'zod';
import type { Reading } from '../../store/reading.ts';
import type { Change, ImportedRows } from './changes.ts';
import { type FollowedChange, followedRecord } from './followed-changes.ts';

const scope = z.object({ id: z.number(), userId: z.number().nullable() });
const bytes = z.object({ inletBytes: z.number(), exportBytes: z.number() });

/** A change in the log: the ids of records that are loaded when the change is followed. */
const loggedChange = z.union([
  z.object({ resource: z.enum(['client', 'tunnel', 'host']), id: z.number(), was: scope.optional(), reset: bytes.optional() }),
  /** `ids`: the clients of a deleted user, which no longer refer to it. */
  z.object({ resource: z.literal('user'), id: z.number(), ids: z.array(z.number()).optional() }),
  z.object({ resource: z.enum(['globalSettings', 'node', 'access']) }),
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

/** Loads the current rows of changes in the log, with one statement for each table. @returns the changes in the same order */
export async function loadLogged(db: Reading, changes: readonly LoggedChange[]): Promise<FollowedChange[]> {
  const idsOf = (resource: 'client' | 'tunnel' | 'host') => changes.flatMap((change) => change.resource === resource ? [change.id] : []);
  const users = changes.flatMap((change) => change.resource === 'user' ? [change] : []);
  const clientIds = [...idsOf('client'), ...users.flatMap(({ ids = [] }) => ids)];
  const owners = users.map(({ id }) => id);
  const [clients, tunnels, hosts, settings] = await Promise.all([
    clientIds.length + owners.length === 0 ? [] : db.client.findMany({
      where: { OR: [{ id: { in: clientIds } }, { userId: { in: owners } }] },
      include: { user: true },
    }),
    idsOf('tunnel').length === 0 ? [] : db.tunnel.findMany({ where: { id: { in: idsOf('tunnel') } } }),
    idsOf('host').length === 0 ? [] : db.host.findMany({ where: { id: { in: idsOf('host') } } }),
    changes.some(({ resource }) => resource === 'globalSettings') ? db.globalSettings.findFirst() : null,
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
      case 'access':
      case 'import':
        return { resource: 'access' };
    }
  });
}

function byId<Row extends { readonly id: number }>(rows: readonly Row[]): ReadonlyMap<number, Row> {
  return new Map(rows.map((row) => [row.id, row]));
}
