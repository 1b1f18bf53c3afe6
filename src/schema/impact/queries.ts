import { mayUseClient } from '../../rules/ownership.ts';
import type { Client, Prisma } from '../../store/generated/sqlite/client.ts';
import { aliveAt } from '../access/active.ts';
import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import { AditError, invalidInput } from '../errors.ts';
import { rowLimits } from '../lists/page.ts';
import { enumOf } from '../values/enum.ts';
import { idOf } from '../values/ids.ts';

/** How many ports and names are listed. */
const mostListed = 20;

/** What else is affected when records are stopped or deleted. */
interface Impact {
  readonly clients: number;
  readonly agents: number;
  readonly tunnels: number;
  readonly hosts: number;
  readonly connections: number;
  readonly ports: readonly number[];
  readonly hostNames: readonly string[];
  readonly sessions: number;
  readonly tokens: number;
}

const nothing: Impact = { clients: 0, agents: 0, tunnels: 0, hosts: 0, connections: 0, ports: [], hostNames: [], sessions: 0, tokens: 0 };

type Kind = 'client' | 'tunnel' | 'host' | 'user' | 'platformDomain';

const ImpactResource = enumOf<Kind>('ImpactResource', 'The kind of the records that you stop or delete.', {
  client: 'Clients, with their tunnels and hosts.',
  tunnel: 'Tunnels.',
  host: 'Hosts.',
  user: 'Users, with their clients. For administrators.',
  platformDomain: 'Platform domains, which can only be removed without hosts below them: the hosts that are in the way. For administrators.',
});

const ImpactType = builder.objectRef<Impact>('Impact').implement({
  description: 'What is affected when records are stopped or deleted, as of now.',
  fields: (t) => ({
    clients: t.exposeInt('clients', { description: 'The clients: they stop.' }),
    agents: t.exposeInt('agents', { description: 'Connected agents: they are disconnected.' }),
    tunnels: t.exposeInt('tunnels', { description: 'Tunnels, including stopped ones.' }),
    hosts: t.exposeInt('hosts', { description: 'Hosts, including stopped ones.' }),
    connections: t.exposeInt('connections', { description: "Visitors' open connections: they end." }),
    ports: t.field({
      type: ['Port'],
      extensions: { items: mostListed },
      description: `Ports that close, at most ${mostListed} of them.`,
      resolve: ({ ports }) => [...ports],
    }),
    hostNames: t.stringList({
      description: `Names that are no longer served, at most ${mostListed} of them.`,
      resolve: ({ hostNames }) => [...hostNames],
    }),
    sessions: t.exposeInt('sessions', { description: 'Logins in browsers: they end. Only counted for users and clients.' }),
    tokens: t.exposeInt('tokens', { description: 'Tokens of programs: they are deleted with their user, and refused while the user is disabled.' }),
  }),
});

builder.queryField('impact', (t) =>
  t.field({
    type: ImpactType,
    authScopes: { clientLogin: true },
    description:
      'What is affected when these records are stopped or deleted. Ask before you do so. Records that do not exist, and those that the caller may not see, do not count.',
    args: {
      resource: t.arg({ type: ImpactResource, required: true, description: 'The kind of records.' }),
      ids: t.arg.idList({ required: true, description: `Their ids, at most ${rowLimits.most}. Duplicates count once.` }),
    },
    resolve: async (_root, { resource, ids: given }, context) => {
      if (resource === 'platformDomain') return ofDomains(context, mostIds(given));
      return impacts[resource](context, mostIds(given.map((id, index) => idOf(`ids.${index}`, id))));
    },
  }));

/** Each of the ids once. @throws {AditError} INVALID_INPUT if there are too many */
function mostIds<Id>(given: readonly Id[]): Id[] {
  const ids = [...new Set(given)];
  if (ids.length > rowLimits.most) throw invalidInput('ids', `at most ${rowLimits.most} records at a time`, { most: rowLimits.most });
  return ids;
}

const impacts: Readonly<Record<Exclude<Kind, 'platformDomain'>, (context: Context, ids: readonly number[]) => Promise<Impact>>> = {
  async client(context, ids) {
    const clients = (await context.loaders.clients.loadMany(ids)).filter((row) => isTheirs(context, row));
    const of = { clientId: { in: clients.map(({ id }) => id) } };
    return { ...await ofClients(context, clients, of), sessions: await sessionsOf(context, of) };
  },
  async tunnel(context, ids) {
    const tunnels = await theirs(context, await context.loaders.tunnels.loadMany(ids));
    const states = await context.engine.tunnelStates(tunnels.map(({ id }) => id));
    return {
      ...nothing,
      tunnels: tunnels.length,
      connections: connectionsOf(states),
      ports: tunnels.filter(({ enabled, port }) => enabled && port > 0).map(({ port }) => port).slice(0, mostListed),
    };
  },
  async host(context, ids) {
    const hosts = await theirs(context, await context.loaders.hosts.loadMany(ids));
    const states = await context.engine.hostStates(hosts.map(({ id }) => id));
    return {
      ...nothing,
      hosts: hosts.length,
      connections: connectionsOf(states),
      hostNames: hosts.filter(({ enabled }) => enabled).map(({ host, location }) => host + location).slice(0, mostListed),
    };
  },
  async user(context, ids) {
    if (context.caller.kind !== 'admin') throw new AditError('FORBIDDEN');
    const { db } = context.store;
    const of = { userId: { in: [...ids] } };
    const clients = await db.client.findMany({ where: of, select: { id: true, tunnelCount: true, hostCount: true } });
    const [sessions, tokens] = await Promise.all([
      // The web logins of a disabled or deleted user's clients are refused, too.
      sessionsOf(context, { OR: [of, { client: of }] }),
      db.apiToken.count({ where: of }),
    ]);
    return { ...await ofClients(context, clients, { client: of }), sessions, tokens };
  },
};

/** The hosts below platform domains. Their names are counted, and the states of the listed ones are asked for. */
async function ofDomains({ caller, engine, store: { db } }: Context, ids: readonly string[]): Promise<Impact> {
  if (caller.kind !== 'admin') throw new AditError('FORBIDDEN');
  const where = { platformDomainId: { in: ids.filter((id) => !id.includes('\0')) } };
  const [total, rows] = await Promise.all([
    db.host.count({ where }),
    db.host.findMany({ where, select: { id: true, host: true, location: true }, orderBy: { id: 'asc' }, take: rowLimits.most }),
  ]);
  const states = await engine.hostStates(rows.map(({ id }) => id));
  return { ...nothing, hosts: total, connections: connectionsOf(states), hostNames: rows.map(({ host, location }) => host + location).slice(0, mostListed) };
}

/** Some clients, and what is connected and served through them. @param of selects their tunnels and hosts */
async function ofClients(
  { engine, store: { db } }: Context,
  clients: readonly Pick<Client, 'id' | 'tunnelCount' | 'hostCount'>[],
  of: { readonly clientId: { in: number[] } } | { readonly client: { readonly userId: { in: number[] } } },
): Promise<Impact> {
  const [states, ports, hosts] = await Promise.all([
    engine.clientStates(clients.map(({ id }) => id)),
    db.tunnel.findMany({ where: { ...of, enabled: true, port: { gt: 0 } }, select: { port: true }, orderBy: { id: 'asc' }, take: mostListed }),
    db.host.findMany({ where: { ...of, enabled: true }, select: { host: true, location: true }, orderBy: { id: 'asc' }, take: mostListed }),
  ]);
  const sum = (column: 'tunnelCount' | 'hostCount'): number => clients.reduce((total, client) => total + client[column], 0);
  return {
    ...nothing,
    clients: clients.length,
    agents: states.filter((state) => state?.connected === true).length,
    // The stored count of tunnels includes the hosts.
    tunnels: sum('tunnelCount') - sum('hostCount'),
    hosts: sum('hostCount'),
    connections: connectionsOf(states),
    ports: ports.map(({ port }) => port),
    hostNames: hosts.map(({ host, location }) => host + location),
  };
}

/** The logins that are still valid: rows of those that have ended are kept until somebody logs in. */
function sessionsOf(context: Context, of: Prisma.SessionWhereInput): Promise<number> {
  return context.store.db.session.count({ where: { AND: [of, aliveAt(context.now())] } });
}

function connectionsOf(states: readonly ({ readonly connections: number } | undefined)[]): number {
  return states.reduce((sum, state) => sum + (state?.connections ?? 0), 0);
}

/** The records whose client the caller may use. */
async function theirs<Row extends { readonly clientId: number }>(context: Context, found: readonly (Row | Error | undefined)[]): Promise<Row[]> {
  const rows = found.filter((row): row is Row => isRow(row));
  const clients = await context.loaders.clients.loadMany(rows.map(({ clientId }) => clientId));
  return rows.filter((_row, index) => isTheirs(context, clients[index]));
}

function isTheirs(context: Context, row: Client | Error | undefined): row is Client {
  return isRow(row) && mayUseClient(context.caller, row);
}

/** A failed lookup fails the whole call. @throws the error */
function isRow<Row>(row: Row | Error | undefined): row is Row {
  if (row instanceof Error) throw row;
  return row !== undefined;
}
