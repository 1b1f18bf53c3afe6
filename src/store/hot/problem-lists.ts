import type { Client, Tunnel, User } from '../generated/sqlite/client.ts';
import type { Condition } from '../search/search.ts';
import { Binder, type HotQuery } from './binder.ts';
import type { CountScope } from './counts.ts';
import { isBounded } from './page.ts';
import type { HotReader } from './reader.ts';
import { storedTime } from './stored-time.ts';

/** The rows of each table with problems. */
interface ProblemRows {
  readonly Client: Client;
  readonly Tunnel: Tunnel;
  readonly User: User;
}

/** Records with one kind of problem. `where` repeats the condition of an index in the migration 0019_problems, which holds such records only. `?` is the moment. */
interface ProblemList {
  readonly table: keyof ProblemRows;
  readonly where: string;
  readonly order: string;
}

/** The owner of a client is not disabled, or it has none. A subquery for each row of the index, so that the table of users is not read as a whole. */
const ownerEnabled = '(SELECT "User"."enabled" FROM "User" WHERE "User"."id" = "Client"."userId") IS NOT FALSE';
const used = '("inletBytes" + "exportBytes")';
/** More than four fifths of the limit, in integers that can't overflow. */
const trafficUsed = `"flowLimit" > 0 AND ${used} * 5 > CAST("flowLimit" AS bigint) * 4194304`;
const trafficUsedUp = `${used} > CAST("flowLimit" AS bigint) * 1048576`;

const lists = {
  /** Clients with tunnels or hosts whose agent was connected once, but is not now. */
  away: {
    table: 'Client',
    where: `"enabled" AND NOT "expired" AND NOT "connected" AND "lastOnlineAt" IS NOT NULL AND "tunnelCount" > 0 AND ${ownerEnabled}`,
    order: '"lastOnlineAt" DESC, "id" DESC',
  },
  /** Clients that expired by themselves after the moment. */
  expired: {
    table: 'Client',
    where: `"expired" = true AND "expiresAt" IS NOT NULL AND "expiresAt" > ? AND "enabled" AND ${ownerEnabled}`,
    order: '"expiresAt" DESC, "id" DESC',
  },
  /** Clients that expire by themselves before the moment. */
  expiring: {
    table: 'Client',
    where: `"expired" = false AND "expiresAt" IS NOT NULL AND "expiresAt" < ? AND "enabled" AND ${ownerEnabled}`,
    order: '"expiresAt", "id"',
  },
  trafficUsedUp: { table: 'Client', where: `${trafficUsed} AND ${trafficUsedUp}`, order: '"id"' },
  /** More than four fifths. */
  trafficNearlyUsedUp: { table: 'Client', where: `${trafficUsed} AND NOT (${trafficUsedUp})`, order: '"id"' },
  tunnelsUsedUp: { table: 'Client', where: '"maxTunnels" > 0 AND "tunnelCount" >= "maxTunnels"', order: '"id"' },
  /** Started tunnels without a listener although their agent is connected. */
  closedTunnels: { table: 'Tunnel', where: '"enabled" AND "clientOnline" AND NOT "running"', order: '"id"' },
  /** Users that expire before the moment. */
  expiringUsers: { table: 'User', where: '"expired" = false AND "expiresAt" < ? AND "enabled"', order: '"expiresAt", "id"' },
} as const satisfies Record<string, ProblemList>;

/** What makes clients troubled beyond their rows. `brokenIds`, `soonIds`: those with tunnels and hosts whose problem only the engine knows. */
export interface ClientTroubles {
  readonly brokenIds: readonly number[];
  readonly soonIds: readonly number[];
  /** An expiry is a problem until this long after it, and from this long before it. */
  readonly since: Date;
  readonly until: Date;
}

/** The problems of clients: those because of which visitors are refused, and the others. */
const clientLists = { broken: ['away', 'expired', 'trafficUsedUp'], soon: ['trafficNearlyUsedUp', 'expiring', 'tunnelsUsedUp'] } as const;
type Severity = keyof typeof clientLists;

/** The query for the ids of the clients with problems; some are there more than once. Exported for the test that checks its query plan. */
export function clientIdsQuery({ dialect }: Pick<HotReader, 'dialect'>, severity: Severity, moment: Date): HotQuery {
  const binder = new Binder(dialect);
  const parts = clientLists[severity].map((name) => `SELECT "id" FROM "Client" WHERE ${lists[name].where.replace('?', () => binder.bind(storedTime(moment)))}`);
  if (severity === 'broken') parts.push(`SELECT "clientId" AS id FROM "Tunnel" WHERE ${lists.closedTunnels.where}`);
  return { text: parts.join(' UNION ALL '), values: binder.values };
}

/**
 * The ids of the clients with problems, by how serious these are, and then by id: those whose visitors are refused are last. Each kind of problem is read from its
 * index, which has no others.
 */
export async function clientsBySeverity(reader: HotReader, { brokenIds, soonIds, since, until }: ClientTroubles): Promise<number[]> {
  const found = async (severity: Severity, moment: Date): Promise<number[]> =>
    (await reader.rows<{ id: number }>(clientIdsQuery(reader, severity, moment))).map(({ id }) => id);
  const broken = new Set([...await found('broken', since), ...brokenIds]);
  const soon = new Set([...await found('soon', until), ...soonIds]);
  return [...ascending(soon).filter((id) => !broken.has(id)), ...ascending(broken)];
}

/** The ids of the tunnels with problems. @param ids those whose problem only the engine knows */
export async function tunnelsWithProblems(reader: HotReader, ids: readonly number[]): Promise<number[]> {
  const closed = await reader.rows<{ id: number }>({ text: `SELECT "id" FROM "Tunnel" WHERE ${lists.closedTunnels.where}`, values: [] });
  return ascending(new Set([...closed.map(({ id }) => id), ...ids]));
}

function ascending(ids: ReadonlySet<number>): number[] {
  return Array.from(ids).toSorted((one, other) => one - other);
}

/** Selects the clients with problems. */
export function troubledClients({ brokenIds, soonIds, since, until }: ClientTroubles): Condition {
  const sql = [...clientLists.broken, ...clientLists.soon].map((name) => `(${lists[name].where})`).join(' OR ');
  return {
    sql: `${sql} OR "id" IN (SELECT "clientId" FROM "Tunnel" WHERE ${lists.closedTunnels.where})`,
    values: [storedTime(since), storedTime(until)],
    orIds: [...brokenIds, ...soonIds],
  };
}

/** Selects the tunnels with problems. @param ids those whose problem only the engine knows */
export function troubledTunnels(ids: readonly number[]): Condition {
  return { sql: lists.closedTunnels.where, orIds: ids };
}

/** The name of a list. */
export type ProblemListName = keyof typeof lists;

/** The rows of a list. */
export type ProblemRow<Name extends ProblemListName> = ProblemRows[typeof lists[Name]['table']];

/** Which records are wanted. `moment`: of lists that have one. */
export interface ProblemQuery {
  readonly scope: CountScope;
  readonly moment?: Date;
  readonly offset: number;
  readonly limit: number;
}

/** A range of the records with a problem, whole rows. Running state is the last saved one. */
export async function problemRows<Name extends ProblemListName>(reader: HotReader, name: Name, query: ProblemQuery): Promise<Array<ProblemRow<Name>>> {
  return await reader.rows(problemQuery(reader, name, query));
}

/** The number of records with a problem: counted in an index that holds such records only. */
export async function problemCount(reader: HotReader, name: ProblemListName, query: Pick<ProblemQuery, 'scope' | 'moment'>): Promise<number> {
  const [row] = await reader.rows<{ total: number | bigint }>(problemQuery(reader, name, query));
  return Number(row?.total ?? 0);
}

/** The query for the rows or, without a range, for their number. Exported for the test that checks its query plan. */
export function problemQuery(
  { dialect }: Pick<HotReader, 'dialect'>,
  name: ProblemListName,
  { scope, moment, ...range }: Pick<ProblemQuery, 'scope' | 'moment'> & Partial<ProblemQuery>,
): HotQuery {
  const { table, where, order } = lists[name];
  const binder = new Binder(dialect);
  const conditions = [...scopeOf(binder, table, scope), where.replace('?', () => binder.bind(storedTime(moment ?? new Date())))].join(' AND ');
  const { offset, limit } = range;
  if (offset === undefined || limit === undefined) return { text: `SELECT count(*) AS total FROM "${table}" WHERE ${conditions}`, values: binder.values };
  const text = `SELECT * FROM "${table}" WHERE ${conditions} ORDER BY ${order} LIMIT ${binder.bind(limit)} OFFSET ${binder.bind(offset)}`;
  return { text, values: binder.values, bounded: isBounded({ offset, limit }) };
}

function scopeOf(binder: Binder, table: keyof ProblemRows, { ownerId, clientId }: CountScope): string[] {
  const owner = { Client: 'userId', Tunnel: 'ownerId', User: 'id' }[table];
  const client = { Client: 'id', Tunnel: 'clientId', User: undefined }[table];
  return [
    ...(ownerId === undefined ? [] : [`"${owner}" = ${binder.bind(ownerId)}`]),
    ...(clientId === undefined || client === undefined ? [] : [`"${client}" = ${binder.bind(clientId)}`]),
  ];
}
