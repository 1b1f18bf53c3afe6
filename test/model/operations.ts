// Longer than 300 lines: all operations stand together, since one table at the end says how often each is chosen.
import type { Parameters } from '../support/processes.ts';
import { hasPort, type Caller, type Client, type Host, type Mode, type Model, type Problems, type Tunnel, type User } from './model.ts';
import type { Random } from './random.ts';

/** What the answer to a successful operation says that the model can't know. */
export interface Made {
  /** Of a new record; otherwise the record's. */
  readonly id: number;
  /** Of a tunnel. */
  readonly port: number | null;
  readonly password: string | null;
}

/** An operation, as both APIs spell it, and what it means for the model. */
export interface Operation {
  readonly name: string;
  readonly caller: Caller;
  /** The mutation's fields; `id` (and for tunnels port and password) is what they return. */
  readonly graphql: { readonly text: string; readonly variables: Readonly<Record<string, unknown>> };
  readonly legacy: { readonly route: string; readonly parameters: Parameters };
  readonly problems: (model: Model) => Problems;
  /** Called if there are no problems. */
  readonly apply: (model: Model, made: Made) => void;
}

type Choose = (model: Model, random: Random, caller: Caller) => Operation;

const names = ['ada', 'bob', 'cleo', 'dan', 'eve', 'fay'];
/** Generated keys begin otherwise. */
export const chosenKey = /^(the|a) key/;
const keys = Array.from({ length: 12 }, (_, n) => `the key number ${n}`);
const passwords = ['the first password', 'the second password', 'the third password'];
const times = ['2001-02-03T04:05:06.000Z', '2080-01-01T00:00:00.000Z', '2090-01-01T00:00:00.000Z'];
const hostNames = ['example.org', 'a.example.org', 'b.example.org', 'x.a.example.org', '*.a.example.org', '*.example.org', 'other.example.org'];
const locations = ['/', '/x', '/x/y'];
const schemes: readonly Host['scheme'][] = ['HTTP', 'HTTPS', 'ALL'];

/** A limit, with null as often as a number. */
const limits = (...some: number[]) => [...some, ...some.map(() => null)];
const orNull = <T>(values: readonly T[]) => [...values, null];

/** One of the records there are; now and then one that is not there. */
function known(records: ReadonlyMap<number, unknown>, random: Random): number {
  const ids = [...records.keys()];
  return ids.length === 0 || random.once(15) ? 900_000 + random.below(10) : random.of(ids);
}

/** A client: if a user calls, mostly one of their own. */
function knownClient(model: Model, random: Random, caller: Caller): number {
  const own = caller === null ? [] : model.clientsOf(caller).map(([id]) => id);
  return own.length > 0 && !random.once(5) ? random.of(own) : known(model.clients, random);
}

/** A tunnel or host, in the same way. */
function knownRecord(model: Model, records: ReadonlyMap<number, Tunnel | Host>, random: Random, caller: Caller): number {
  const own = caller === null ? [] : [...records].filter(([, { clientId }]) => model.clients.get(clientId)?.ownerId === caller).map(([id]) => id);
  return own.length > 0 && !random.once(5) ? random.of(own) : known(records, random);
}

/** The fields that are there. */
function given<T extends object>(fields: T): Partial<T> {
  const present: Partial<T> = { ...fields };
  for (const name in present) if (present[name] === undefined) delete present[name];
  return present;
}

/** As the legacy API spells values: blank and 0 mean none. */
function spelled(fields: Readonly<Record<string, string | number | null | undefined>>): Parameters {
  return Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => value === undefined ? [] : [[name, value ?? '']]));
}

/** The legacy API has no fractions of a second. */
const legacyTime = (time: string | null | undefined) => time?.replace('.000Z', 'Z') ?? time;
const legacyModes: Readonly<Record<Mode, string>> = { TCP: 'tcp', UDP: 'udp', SECRET: 'secret', P2P: 'p2p' };

function change<T>(records: Map<number, T>, id: number, fields: Partial<T>): void {
  const before = records.get(id);
  if (before === undefined) throw new Error(`the model has no record ${id} to change`);
  records.set(id, { ...before, ...fields });
}

/** Users are for administrators only (2.3). */
const forAdministrators = (caller: Caller, problems: () => Problems): Problems => caller === null ? problems() : ['FORBIDDEN'];
const nameProblems = ({ users }: Model, name: string | undefined, except?: number): Problems =>
  name === 'admin' || [...users].some(([id, user]) => id !== except && user.username === name) ? ['USERNAME_DUPLICATE'] : [];

const createUser: Choose = (_model, random, caller) => {
  const input = {
    username: random.once(12) ? 'admin' : random.of(names),
    maxClients: random.maybe(limits(1, 2, 4)) ?? null,
    maxTunnels: random.maybe(limits(2, 5, 9)) ?? null,
    expiresAt: random.maybe(orNull(times), 4) ?? null,
  };
  return {
    name: 'createUser',
    caller,
    graphql: { text: 'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }', variables: { input: { ...input, password: 'a password' } } },
    legacy: {
      route: '/user/add/',
      parameters: {
        ...spelled({ username: input.username, max_client: input.maxClients, max_tunnel: input.maxTunnels, expire_time: legacyTime(input.expiresAt) }),
        password: 'a password',
      },
    },
    problems: (model) => forAdministrators(caller, () => nameProblems(model, input.username)),
    apply: ({ users }, { id }) => {
      users.set(id, { ...input, enabled: true });
    },
  };
};

const updateUser: Choose = (model, random, caller) => {
  const id = known(model.users, random);
  const input = given({
    username: random.maybe(names, 4),
    maxClients: random.maybe(limits(1, 2, 4), 3),
    maxTunnels: random.maybe(limits(2, 5, 9), 3),
    expiresAt: random.maybe(orNull(times), 3),
  });
  return {
    name: 'updateUser',
    caller,
    graphql: { text: 'mutation ($id: ID!, $input: UpdateUserInput!) { updateUser(id: $id, input: $input) { id } }', variables: { id, input } },
    legacy: {
      route: '/user/edit/',
      parameters: {
        id,
        ...spelled({ username: input.username, max_client: input.maxClients, max_tunnel: input.maxTunnels, expire_time: legacyTime(input.expiresAt) }),
      },
    },
    problems: (model) =>
      forAdministrators(caller, () => {
        const before = model.users.get(id);
        if (before === undefined) return ['NOT_FOUND'];
        const { maxClients, expiresAt } = input;
        const owned = model.clientsOf(id);
        return [
          ...nameProblems(model, input.username, id),
          ...(typeof maxClients === 'number' && maxClients !== before.maxClients && owned.length > maxClients ? ['USER_CLIENTS_ABOVE_QUOTA'] : []),
          ...(typeof expiresAt === 'string' && expiresAt !== before.expiresAt
              && owned.some(([, client]) => client.expiresAt !== null && client.expiresAt > expiresAt)
            ? ['USER_EXPIRES_BEFORE_CLIENT']
            : []),
        ];
      }),
    apply: ({ users }) => change<User>(users, id, input),
  };
};

const setUserEnabled: Choose = (model, random, caller) => {
  const [id, enabled] = [known(model.users, random), !random.once(3)];
  return {
    name: 'setUserEnabled',
    caller,
    graphql: { text: 'mutation ($id: ID!, $enabled: Boolean!) { setUserEnabled(id: $id, enabled: $enabled) { id } }', variables: { id, enabled } },
    legacy: { route: '/user/changestatus/', parameters: { id, status: enabled } },
    problems: ({ users }) => forAdministrators(caller, () => users.has(id) ? [] : ['NOT_FOUND']),
    apply: ({ users }) => change<User>(users, id, { enabled }),
  };
};

const deleteUser: Choose = (model, random, caller) => {
  const id = known(model.users, random);
  return {
    name: 'deleteUser',
    caller,
    graphql: { text: 'mutation ($id: ID!) { deleteUser(id: $id) }', variables: { id } },
    legacy: { route: '/user/del/', parameters: { id } },
    problems: ({ users }) => forAdministrators(caller, () => users.has(id) ? [] : ['NOT_FOUND']),
    apply: (model) => {
      for (const [client] of model.clientsOf(id)) change<Client>(model.clients, client, { ownerId: null, enabled: false, disabledByAdmin: true });
      model.users.delete(id);
    },
  };
};

const keyProblems = ({ clients }: Model, key: string | undefined, except?: number): Problems =>
  key !== undefined && [...clients].some(([id, client]) => id !== except && client.verifyKey === key) ? ['VKEY_DUPLICATE'] : [];

const createClient: Choose = (model, random, caller) => {
  const input = {
    verifyKey: random.once(3) ? random.of(keys) : `a key of its own: ${random.below(2 ** 30)}`,
    ownerId: random.once(3) ? null : known(model.users, random),
    maxTunnels: random.maybe(limits(1, 3, 6)) ?? null,
    expiresAt: random.maybe(orNull(times), 4) ?? null,
  };
  // Of what a user sends, only what owners may set counts; the key is generated (2.2).
  const counts = caller === null ? input : { ...input, ownerId: caller, maxTunnels: null, expiresAt: null };
  return {
    name: 'createClient',
    caller,
    graphql: { text: 'mutation ($input: CreateClientInput!) { createClient(input: $input) { id verifyKey } }', variables: { input } },
    legacy: {
      route: '/client/add/',
      parameters: spelled({ vkey: input.verifyKey, user_id: input.ownerId ?? 0, max_tunnel: input.maxTunnels, expire_time: legacyTime(input.expiresAt) }),
    },
    problems: (
      model,
    ) => [
      ...model.ownerProblems(counts.ownerId, counts.expiresAt),
      ...model.clientRoomProblems(counts.ownerId),
      ...(caller === null ? keyProblems(model, input.verifyKey) : []),
    ],
    apply: ({ clients }, { id }) => {
      clients.set(id, { ...counts, verifyKey: caller === null ? input.verifyKey : null, enabled: true, disabledByAdmin: false });
    },
  };
};

const updateClient: Choose = (model, random, caller) => {
  const id = knownClient(model, random, caller);
  const input = given({
    verifyKey: random.maybe(keys, 6),
    ownerId: random.maybe([null, known(model.users, random), known(model.users, random)], 3),
    maxTunnels: random.maybe(limits(1, 3, 6), 3),
    expiresAt: random.maybe(orNull(times), 4),
  });
  const counts: typeof input = caller === null ? input : {};
  return {
    name: 'updateClient',
    caller,
    graphql: { text: 'mutation ($id: ID!, $input: UpdateClientInput!) { updateClient(id: $id, input: $input) { id } }', variables: { id, input } },
    legacy: {
      route: '/client/edit/',
      parameters: {
        id,
        ...spelled({
          vkey: input.verifyKey,
          user_id: input.ownerId === null ? 0 : input.ownerId,
          max_tunnel: input.maxTunnels,
          expire_time: legacyTime(input.expiresAt),
        }),
      },
    },
    problems: (model) => {
      const theirs = model.clientProblems(caller, id);
      const before = model.clients.get(id);
      if (theirs.length > 0 || before === undefined) return theirs;
      const ownerId = counts.ownerId === undefined ? before.ownerId : counts.ownerId;
      const moved = ownerId !== before.ownerId;
      const owner = ownerId === null ? undefined : model.users.get(ownerId);
      const tooMany = owner !== undefined && owner.maxTunnels !== null && model.recordsOfUser(Number(ownerId)) + model.recordsOf(id) > owner.maxTunnels;
      return [
        ...(counts.expiresAt !== undefined || moved ? model.ownerProblems(ownerId, counts.expiresAt === undefined ? before.expiresAt : counts.expiresAt) : []),
        ...(moved ? [...model.clientRoomProblems(ownerId), ...(tooMany ? ['USER_TUNNEL_QUOTA'] : []), ...model.partedProblems(id, ownerId)] : []),
        ...keyProblems(model, counts.verifyKey, id),
      ];
    },
    apply: ({ clients }) => change<Client>(clients, id, counts),
  };
};

const setClientEnabled: Choose = (model, random, caller) => {
  const [id, enabled] = [knownClient(model, random, caller), !random.once(3)];
  return {
    name: 'setClientEnabled',
    caller,
    graphql: { text: 'mutation ($id: ID!, $enabled: Boolean!) { setClientEnabled(id: $id, enabled: $enabled) { id } }', variables: { id, enabled } },
    legacy: { route: '/client/changestatus/', parameters: { id, status: enabled } },
    problems: (model) => {
      const theirs = model.clientProblems(caller, id);
      const client = model.clients.get(id);
      if (theirs.length > 0 || client === undefined || caller === null || !enabled) return theirs;
      // What an administrator or an expiry disabled, only an administrator enables (D12). The owner, who calls, has not expired.
      return client.disabledByAdmin || (client.expiresAt !== null && Date.parse(client.expiresAt) <= Date.now()) ? ['FORBIDDEN'] : [];
    },
    apply: ({ clients }) =>
      change<Client>(clients, id, { enabled, disabledByAdmin: !enabled && (caller === null || clients.get(id)?.disabledByAdmin === true) }),
  };
};

const deleteClient: Choose = (model, random, caller) => {
  const id = knownClient(model, random, caller);
  return {
    name: 'deleteClient',
    caller,
    graphql: { text: 'mutation ($id: ID!) { deleteClient(id: $id) }', variables: { id } },
    legacy: { route: '/client/del/', parameters: { id } },
    problems: (model) => model.clientProblems(caller, id),
    apply: (model) => model.removeClient(id),
  };
};

/** Guessed passwords are throttled for users, so they choose none (limits.md); the server generates those of p2p tunnels. */
const createTunnel: Choose = (model, random, caller) => {
  const mode: Mode = random.of(caller === null ? ['TCP', 'TCP', 'UDP', 'SECRET', 'P2P'] : ['TCP', 'TCP', 'UDP', 'P2P']);
  const input = given({
    clientId: knownClient(model, random, caller),
    mode,
    port: random.maybe(orNull(model.ports)),
    password: caller === null && !hasPort(mode) ? random.maybe(passwords) : undefined,
  });
  const { clientId, port = null, password = null } = { clientId: 0, ...input };
  return {
    name: 'createTunnel',
    caller,
    graphql: {
      text: `mutation ($input: CreateTunnelInput!) { createTunnel(input: $input) { ${tunnelFields} } }`,
      variables: { input: { ...input, serverIp } },
    },
    legacy: {
      route: '/index/add/',
      parameters: { ...spelled({ client_id: clientId, port: input.port, password: input.password }), type: legacyModes[mode], server_ip: serverIp },
    },
    problems: (model) => [
      ...(mode === 'SECRET' && password === null ? ['INVALID_INPUT'] : []),
      ...model.portProblems(mode, port),
      ...model.clientProblems(caller, clientId),
      ...model.roomProblems(clientId),
      ...model.passwordProblems(mode, password),
    ],
    apply: (model, made) => {
      if (hasPort(mode) && port === null) expectAssigned(model, mode, made.port);
      model.tunnels.set(made.id, { clientId, mode, port: hasPort(mode) ? port ?? made.port : null, password: password ?? made.password, enabled: true });
    },
  };
};

const copyTunnel: Choose = (model, random, caller) => {
  const id = knownRecord(model, model.tunnels, random, caller);
  return {
    name: 'copyTunnel',
    caller,
    graphql: { text: `mutation ($id: ID!) { copyTunnel(id: $id) { ${tunnelFields} } }`, variables: { id } },
    legacy: { route: '/index/copy/', parameters: { id } },
    problems: (model) => {
      const source = model.tunnels.get(id);
      const theirs = model.recordProblems(caller, source);
      if (theirs.length > 0 || source === undefined) return theirs;
      return [...model.portProblems(source.mode, null), ...model.roomProblems(source.clientId), ...model.passwordProblems(source.mode, source.password)];
    },
    apply: (model, made) => {
      const source = model.tunnels.get(id);
      if (source === undefined) throw new Error('the model has no tunnel to copy');
      if (hasPort(source.mode)) expectAssigned(model, source.mode, made.port);
      model.tunnels.set(made.id, { ...source, port: hasPort(source.mode) ? made.port : null, enabled: true });
    },
  };
};

const updateTunnel: Choose = (model, random, caller) => {
  const id = knownRecord(model, model.tunnels, random, caller);
  const input = given({
    clientId: random.maybe([knownClient(model, random, caller)], 3),
    port: random.maybe(orNull(model.ports)),
    mode: caller === null ? random.maybe<Mode>(['TCP', 'UDP', 'SECRET', 'P2P'], 4) : undefined,
    password: caller === null ? random.maybe(passwords, 4) : undefined,
  });
  const next = (before: Tunnel) => {
    const mode = input.mode ?? before.mode;
    return {
      ...before,
      ...input,
      mode,
      port: hasPort(mode) ? input.port === undefined ? before.port : input.port : null,
      password: input.password ?? before.password,
    };
  };
  return {
    name: 'updateTunnel',
    caller,
    graphql: { text: `mutation ($id: ID!, $input: UpdateTunnelInput!) { updateTunnel(id: $id, input: $input) { ${tunnelFields} } }`, variables: { id, input } },
    legacy: {
      route: '/index/edit/',
      parameters: {
        id,
        ...spelled({ client_id: input.clientId, port: input.port === null ? 0 : input.port, password: input.password }),
        ...(input.mode && { type: legacyModes[input.mode] }),
      },
    },
    problems: (model) => {
      const before = model.tunnels.get(id);
      const theirs = model.recordProblems(caller, before);
      if (theirs.length > 0 || before === undefined) return theirs;
      const after = next(before);
      const moved = after.clientId !== before.clientId;
      // A stopped tunnel keeps a port that another one uses meanwhile.
      const samePort = after.mode === before.mode && after.port === before.port && input.port !== null;
      return [
        ...(after.mode === 'SECRET' && after.password === null ? ['INVALID_INPUT'] : []),
        ...(samePort ? [] : model.portProblems(after.mode, after.port, id)),
        ...(moved ? [...model.clientProblems(caller, after.clientId), ...model.roomProblems(after.clientId, model.clients.get(before.clientId)?.ownerId)] : []),
        ...model.passwordProblems(after.mode, after.password, id),
      ];
    },
    apply: (model, made) => {
      const before = model.tunnels.get(id);
      if (before === undefined) throw new Error('the model has no tunnel to change');
      const after = next(before);
      if (hasPort(after.mode) && after.port === null) expectAssigned(model, after.mode, made.port, id);
      model.tunnels.set(id, { ...after, port: hasPort(after.mode) ? after.port ?? made.port : null, password: after.password ?? made.password });
    },
  };
};

const startTunnel: Choose = (model, random, caller) => {
  const id = knownRecord(model, model.tunnels, random, caller);
  return {
    name: 'startTunnel',
    caller,
    graphql: { text: `mutation ($id: ID!) { startTunnel(id: $id) { ${tunnelFields} } }`, variables: { id } },
    legacy: { route: '/index/start/', parameters: { id } },
    problems: (model) => {
      const tunnel = model.tunnels.get(id);
      const theirs = model.recordProblems(caller, tunnel);
      if (theirs.length > 0 || tunnel === undefined || tunnel.enabled) return theirs;
      return model.portProblems(tunnel.mode, tunnel.port, id, 'PORT_IN_USE');
    },
    apply: ({ tunnels }) => change<Tunnel>(tunnels, id, { enabled: true }),
  };
};

const stopTunnel: Choose = (model, random, caller) => {
  const id = knownRecord(model, model.tunnels, random, caller);
  return {
    name: 'stopTunnel',
    caller,
    graphql: { text: `mutation ($id: ID!) { stopTunnel(id: $id) { ${tunnelFields} } }`, variables: { id } },
    legacy: { route: '/index/stop/', parameters: { id } },
    problems: (model) => model.recordProblems(caller, model.tunnels.get(id)),
    apply: ({ tunnels }) => change<Tunnel>(tunnels, id, { enabled: false }),
  };
};

const deleteTunnel: Choose = (model, random, caller) => {
  const id = knownRecord(model, model.tunnels, random, caller);
  return {
    name: 'deleteTunnel',
    caller,
    graphql: { text: 'mutation ($id: ID!) { deleteTunnel(id: $id) }', variables: { id } },
    legacy: { route: '/index/del/', parameters: { id } },
    problems: (model) => model.recordProblems(caller, model.tunnels.get(id)),
    apply: ({ tunnels }) => {
      tunnels.delete(id);
    },
  };
};

const createHost: Choose = (model, random, caller) => {
  const route = { clientId: knownClient(model, random, caller), host: random.of(hostNames), location: random.of(locations), scheme: random.of(schemes) };
  return {
    name: 'createHost',
    caller,
    graphql: { text: 'mutation ($input: CreateHostInput!) { createHost(input: $input) { id } }', variables: { input: route } },
    legacy: {
      route: '/index/addhost/',
      parameters: spelled({ client_id: route.clientId, host: route.host, location: route.location, scheme: route.scheme.toLowerCase() }),
    },
    problems: (model) => {
      const withoutClient = [...model.clientProblems(caller, route.clientId), ...model.roomProblems(route.clientId)];
      return withoutClient.length > 0 ? withoutClient : model.routeProblems(route);
    },
    apply: ({ hosts }, { id }) => {
      hosts.set(id, { ...route, enabled: true });
    },
  };
};

const updateHost: Choose = (model, random, caller) => {
  const id = knownRecord(model, model.hosts, random, caller);
  const input = given({
    clientId: random.maybe([knownClient(model, random, caller)], 3),
    host: random.maybe(hostNames, 3),
    location: random.maybe(locations, 3),
    scheme: random.maybe(schemes, 3),
  });
  return {
    name: 'updateHost',
    caller,
    graphql: { text: 'mutation ($id: ID!, $input: UpdateHostInput!) { updateHost(id: $id, input: $input) { id } }', variables: { id, input } },
    legacy: {
      route: '/index/edithost/',
      parameters: { id, ...spelled({ client_id: input.clientId, host: input.host, location: input.location, scheme: input.scheme?.toLowerCase() }) },
    },
    problems: (model) => {
      const before = model.hosts.get(id);
      const theirs = model.recordProblems(caller, before);
      if (theirs.length > 0 || before === undefined) return theirs;
      const after = { ...before, ...input };
      const moved = after.clientId !== before.clientId
        ? [...model.clientProblems(caller, after.clientId), ...model.roomProblems(after.clientId, model.clients.get(before.clientId)?.ownerId)]
        : [];
      const same = after.clientId === before.clientId && after.host === before.host && after.location === before.location && after.scheme === before.scheme;
      return moved.length > 0 ? moved : same ? [] : model.routeProblems(after, id);
    },
    apply: ({ hosts }) => change<Host>(hosts, id, input),
  };
};

const setHostEnabled: Choose = (model, random, caller) => {
  const id = knownRecord(model, model.hosts, random, caller);
  const enabled = !random.once(3);
  const action = enabled ? 'startHost' : 'stopHost';
  return {
    name: action,
    caller,
    graphql: { text: `mutation ($id: ID!) { ${action}(id: $id) { id } }`, variables: { id } },
    legacy: { route: enabled ? '/index/hoststart/' : '/index/hoststop/', parameters: { id } },
    problems: (model) => model.recordProblems(caller, model.hosts.get(id)),
    apply: ({ hosts }) => change<Host>(hosts, id, { enabled }),
  };
};

const deleteHost: Choose = (model, random, caller) => {
  const id = knownRecord(model, model.hosts, random, caller);
  return {
    name: 'deleteHost',
    caller,
    graphql: { text: 'mutation ($id: ID!) { deleteHost(id: $id) }', variables: { id } },
    legacy: { route: '/index/delhost/', parameters: { id } },
    problems: (model) => model.recordProblems(caller, model.hosts.get(id)),
    apply: ({ hosts }) => {
      hosts.delete(id);
    },
  };
};

/** Tunnels listen here alone, where no other program does. */
export const serverIp = '127.83.5.1';
const tunnelFields = 'id port password';

function expectAssigned(model: Model, mode: Mode, port: number | null, except?: number): void {
  if (port === null || !model.freePorts(mode, except).includes(port)) {
    throw new Error(`port ${port} was assigned, and should be one of ${model.freePorts(mode, except).join(', ')}`);
  }
}

/** Each as often as it stands here, so that there are some records of every kind, and full quotas. */
const choices: readonly Choose[] = [
  createUser,
  createUser,
  updateUser,
  updateUser,
  setUserEnabled,
  setUserEnabled,
  deleteUser,
  createClient,
  createClient,
  createClient,
  createClient,
  updateClient,
  updateClient,
  updateClient,
  setClientEnabled,
  setClientEnabled,
  deleteClient,
  createTunnel,
  createTunnel,
  createTunnel,
  createTunnel,
  createTunnel,
  copyTunnel,
  updateTunnel,
  updateTunnel,
  updateTunnel,
  startTunnel,
  startTunnel,
  stopTunnel,
  stopTunnel,
  deleteTunnel,
  deleteTunnel,
  createHost,
  createHost,
  createHost,
  createHost,
  updateHost,
  updateHost,
  updateHost,
  setHostEnabled,
  setHostEnabled,
  deleteHost,
];

/** Clients from which on none are added. */
const MOST_CLIENTS = 25;

/** A random operation by the administrator or a user. */
export function chooseOperation(model: Model, random: Random): Operation {
  const caller = random.once(2) || model.users.size === 0 ? null : random.of([...model.users.keys()]);
  const choose = random.of(choices);
  return choose === createClient && model.clients.size >= MOST_CLIENTS ? deleteClient(model, random, caller) : choose(model, random, caller);
}
