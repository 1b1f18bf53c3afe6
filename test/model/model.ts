/*
 * What an installation should contain after a series of operations, by the rules of docs/contract.md (2.2 to 2.5, 4.4, 4.7, 4.9, 8), written again and as simply as
 * possible: nothing here is shared with the program.
 */

/** A user. */
export interface User {
  readonly username: string;
  readonly enabled: boolean;
  readonly maxClients: number | null;
  readonly maxTunnels: number | null;
  readonly expiresAt: string | null;
}

/** A client. */
export interface Client {
  readonly ownerId: number | null;
  /** null = the server generated it */
  readonly verifyKey: string | null;
  readonly enabled: boolean;
  readonly disabledByAdmin: boolean;
  readonly maxTunnels: number | null;
  readonly expiresAt: string | null;
}

/** The types of tunnels that the model knows: two with a port, two with a password. */
export type Mode = 'TCP' | 'UDP' | 'SECRET' | 'P2P';

/** A tunnel. */
export interface Tunnel {
  readonly clientId: number;
  readonly mode: Mode;
  readonly port: number | null;
  readonly password: string | null;
  readonly enabled: boolean;
}

/** A host. */
export interface Host {
  readonly clientId: number;
  readonly host: string;
  readonly location: string;
  readonly scheme: 'HTTP' | 'HTTPS' | 'ALL';
  readonly enabled: boolean;
}

/** Who calls: null = the administrator, otherwise the user with this id. */
export type Caller = number | null;

/** Codes of the rules that an operation breaks; none = it succeeds. */
export type Problems = readonly string[];

/** The records of each kind, and the rules. Records never change: a change replaces them. */
export class Model {
  readonly users: Map<number, User>;
  readonly clients: Map<number, Client>;
  readonly tunnels: Map<number, Tunnel>;
  readonly hosts: Map<number, Host>;
  /** All that tunnels may use. */
  readonly ports: readonly number[];

  constructor(ports: readonly number[], from?: Model) {
    this.ports = ports;
    this.users = new Map(from?.users);
    this.clients = new Map(from?.clients);
    this.tunnels = new Map(from?.tunnels);
    this.hosts = new Map(from?.hosts);
  }

  copy(): Model {
    return new Model(this.ports, this);
  }

  /** Whether a caller's token is accepted (D13). */
  accepts(caller: Caller): boolean {
    if (caller === null) return true;
    const user = this.users.get(caller);
    return user !== undefined && user.enabled && !isPast(user.expiresAt);
  }

  /** Callers learn nothing about records that are not theirs (D25). */
  #missing(caller: Caller): Problems {
    return [caller === null ? 'NOT_FOUND' : 'FORBIDDEN'];
  }

  /** For calls about a client. */
  clientProblems(caller: Caller, id: number): Problems {
    const client = this.clients.get(id);
    return client === undefined || (caller !== null && client.ownerId !== caller) ? this.#missing(caller) : [];
  }

  /** For calls about a tunnel or host. */
  recordProblems(caller: Caller, record: Tunnel | Host | undefined): Problems {
    return record === undefined ? this.#missing(caller) : this.clientProblems(caller, record.clientId);
  }

  clientsOf(userId: number): Array<readonly [number, Client]> {
    return [...this.clients].filter(([, { ownerId }]) => ownerId === userId);
  }

  /** How many tunnels and hosts a client has: they count together (4.9). */
  recordsOf(clientId: number): number {
    return [...this.tunnels.values(), ...this.hosts.values()].filter((record) => record.clientId === clientId).length;
  }

  recordsOfUser(userId: number): number {
    return this.clientsOf(userId).reduce((sum, [id]) => sum + this.recordsOf(id), 0);
  }

  /** Whether one more tunnel or host fits (4.9). @param from its owner until now */
  roomProblems(clientId: number, from?: number | null): Problems {
    const client = this.clients.get(clientId);
    if (client === undefined) return [];
    const owner = client.ownerId === null ? undefined : this.users.get(client.ownerId);
    const more = owner !== undefined && client.ownerId === from ? 0 : 1;
    return [
      ...(client.maxTunnels !== null && this.recordsOf(clientId) >= client.maxTunnels ? ['CLIENT_TUNNEL_QUOTA'] : []),
      ...(owner !== undefined && owner.maxTunnels !== null && this.recordsOfUser(Number(client.ownerId)) + more > owner.maxTunnels
        ? ['USER_TUNNEL_QUOTA']
        : []),
    ];
  }

  /** Whether an owner has room for one more client (4.9). */
  clientRoomProblems(ownerId: number | null): Problems {
    const owner = ownerId === null ? undefined : this.users.get(ownerId);
    return owner !== undefined && owner.maxClients !== null && this.clientsOf(Number(ownerId)).length >= owner.maxClients ? ['OWNER_CLIENT_QUOTA'] : [];
  }

  /** Whether a client's owner exists, and its own expiry is not later than the owner's (2.2). */
  ownerProblems(ownerId: number | null, expiresAt: string | null): Problems {
    if (ownerId === null) return [];
    const owner = this.users.get(ownerId);
    if (owner === undefined) return ['OWNER_NOT_FOUND'];
    return expiresAt !== null && owner.expiresAt !== null && expiresAt > owner.expiresAt ? ['CLIENT_EXPIRES_AFTER_OWNER'] : [];
  }

  /** The started tunnel that has a port (4.4): TCP and UDP have ports of their own. */
  #holder(mode: Mode, port: number, except?: number): number | undefined {
    return [...this.tunnels].find(([id, tunnel]) => id !== except && tunnel.enabled && tunnel.mode === mode && tunnel.port === port)?.[0];
  }

  /** Whether a tunnel can have a port. @param port null = any */
  portProblems(mode: Mode, port: number | null, except?: number, taken = 'PORT_UNAVAILABLE'): Problems {
    if (!hasPort(mode)) return [];
    if (port === null) return this.freePorts(mode, except).length === 0 ? ['PORT_UNAVAILABLE'] : [];
    return this.#holder(mode, port, except) === undefined ? [] : [taken];
  }

  /** The ports that may be assigned: those of stopped tunnels only when there are no others. */
  freePorts(mode: Mode, except?: number): number[] {
    const free = this.ports.filter((port) => this.#holder(mode, port) === undefined);
    const unused = free.filter((port) => ![...this.tunnels].some(([id, tunnel]) => id !== except && tunnel.mode === mode && tunnel.port === port));
    return unused.length > 0 ? unused : free;
  }

  /** Whether a password is unique among secret and p2p tunnels (2.4). */
  passwordProblems(mode: Mode, password: string | null, except?: number): Problems {
    if (hasPort(mode) || password === null) return [];
    return [...this.tunnels].some(([id, tunnel]) => id !== except && !hasPort(tunnel.mode) && tunnel.password === password) ? ['TUNNEL_KEY_DUPLICATE'] : [];
  }

  /** Whether a rule may stand beside the others (4.7). @param ownerId of its client */
  routeProblems(route: Pick<Host, 'clientId' | 'host' | 'location' | 'scheme'>, except?: number): Problems {
    const others = [...this.hosts].filter(([id, other]) => id !== except && schemesMeet(route.scheme, other.scheme)).map(([, other]) => other);
    return [
      ...(others.some((other) => other.host === route.host && other.location === route.location) ? ['HOST_EXISTS'] : []),
      ...(others.some((other) => !this.sameOwner(other.clientId, route.clientId) && serveTheSame(other, route)) ? ['HOST_OVERLAP'] : []),
    ];
  }

  /** Whether hosts of a client would overlap those of its former owner's other clients. */
  partedProblems(clientId: number, ownerId: number | null): Problems {
    const before = this.clients.get(clientId)?.ownerId ?? null;
    if (before === null || before === ownerId) return [];
    const [own, others] = [true, false].map((own) =>
      [...this.hosts.values()].filter((host) => (host.clientId === clientId) === own && this.clients.get(host.clientId)?.ownerId === before)
    );
    return own?.some((host) => others?.some((other) => schemesMeet(host.scheme, other.scheme) && serveTheSame(host, other))) === true ? ['HOST_OVERLAP'] : [];
  }

  /** A client without an owner is an owner itself (4.7). */
  sameOwner(one: number, other: number): boolean {
    const owner = this.clients.get(one)?.ownerId ?? null;
    return one === other || (owner !== null && owner === this.clients.get(other)?.ownerId);
  }

  /** Whether a client is enabled, and neither it nor its owner has expired. */
  isEnabled(clientId: number): boolean {
    const client = this.clients.get(clientId);
    const owner = this.users.get(client?.ownerId ?? 0);
    return client !== undefined && client.enabled && !isPast(client.expiresAt) && !isPast(owner?.expiresAt ?? null);
  }

  /** Whether a client serves visitors, as far as its settings and its owner's say (D13). */
  serves(clientId: number): boolean {
    return this.isEnabled(clientId) && this.accepts(this.clients.get(clientId)?.ownerId ?? null);
  }

  /** Whether a rule serves HTTP requests with this name and path (4.7). */
  routes(name: string, path: string): boolean {
    return [...this.hosts.values()].some((host) => host.enabled && host.scheme !== 'HTTPS' && matches(host.host, name) && contains(host.location, path));
  }

  removeClient(id: number): void {
    this.clients.delete(id);
    for (const records of [this.tunnels, this.hosts]) for (const [record, { clientId }] of records) if (clientId === id) records.delete(record);
  }
}

/** Whether a type of tunnel listens on a port; the others have a password. */
export function hasPort(mode: Mode): boolean {
  return mode === 'TCP' || mode === 'UDP';
}

/** Whether an expiry has passed; null = never. Expiries are years away from now. */
function isPast(expiresAt: string | null): boolean {
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now();
}

/** Names that requests may have, with labels enough to tell the patterns of the operations apart. */
export const requestNames = [
  'example.org',
  'a.example.org',
  'b.example.org',
  'x.a.example.org',
  'y.a.example.org',
  'x.b.example.org',
  'x.y.a.example.org',
  'other.example.org',
];
/** The paths of requests. */
export const requestPaths = ['/', '/x', '/x/y', '/x/y/z', '/xy'];

/** Whether a request could match both rules, their schemes aside. */
function serveTheSame(one: Pick<Host, 'host' | 'location'>, other: Pick<Host, 'host' | 'location'>): boolean {
  return [one, other].every(({ host }) => requestNames.some((name) => matches(host, name)))
    && requestNames.some((name) => matches(one.host, name) && matches(other.host, name))
    && requestPaths.some((path) => contains(one.location, path) && contains(other.location, path));
}

function matches(pattern: string, name: string): boolean {
  return pattern.startsWith('*') ? name.endsWith(pattern.slice(1)) : name === pattern;
}

function contains(location: string, path: string): boolean {
  return location === '/' || path === location || path.startsWith(`${location}/`);
}

function schemesMeet(one: Host['scheme'], other: Host['scheme']): boolean {
  return one === other || one === 'ALL' || other === 'ALL';
}
