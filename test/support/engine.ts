import { NO_TRAFFIC, trafficSum } from '../../src/rules/traffic-sum.ts';
import type {
  CertificateQuestion,
  CertificateState,
  AgentSessionState,
  ClientState,
  ConnectionsPage,
  ConnectionState,
  DifferentSettings,
  EngineChange,
  EngineEvent,
  EngineFace,
  HealthState,
  ListedCertificate,
  PortLease,
  PortRefusal,
  HostState,
  Traffic,
  PortRequest,
  Refusals,
  RowRange,
  TunnelState,
  WantedClient,
  WantedHost,
  WantedIds,
  WantedTunnel,
  AcmeRetry,
  Troubles,
} from '../../src/engine/face.ts';
import { visitorKeyOf } from '../../src/rules/vkey.ts';

/** An engine without sockets: keeps what is wanted, lends ports, and does as the test says. */
export class FakeEngine implements EngineFace {
  modes: readonly string[] = ['tcp', 'udp', 'httpProxy', 'socks5', 'secret', 'p2p', 'file'];
  /** Ports that another program occupies. */
  readonly taken = new Set<number>();
  /** Ports that the settings allow no more. */
  readonly forbidden = new Set<number>();
  /** What the engine received about each client. */
  readonly wantedClients = new Map<number, WantedClient>();
  /** What the engine received about each tunnel. */
  readonly wantedTunnels = new Map<number, WantedTunnel>();
  /** What the engine received about each host. */
  readonly wantedHosts = new Map<number, WantedHost>();
  /** Running states of clients, as far as the test gives them. */
  readonly clients = new Map<number, ClientState>();
  /** Every change in the order it was applied. */
  readonly applied: EngineChange[] = [];
  /** Ports by lease, those that are neither released nor taken over: none may be left. */
  readonly openLeases = new Map<number, number>();
  /** Targets that no agent reaches. */
  readonly unreachable = new Set<string>();
  /** What a tunnel can't open: its state says so. */
  readonly broken = new Set<number>();
  /** What visitors of tunnels were refused for, as far as the test gives it. */
  readonly refusals = new Map<number, Refusals>();
  /** The health of targets by "tunnel 1", "host 1", as far as the test gives it. */
  readonly health = new Map<string, HealthState>();
  /** Awaited before a change is applied. */
  beforeApply: (change: EngineChange) => void | Promise<void> = () => undefined;
  /** What other servers have, as far as the test gives it. */
  different: readonly DifferentSettings[] = [];
  #nextPort = 20_000;
  #lastLease = 0;

  async reservePort({ port, replaces }: PortRequest): Promise<PortLease | PortRefusal> {
    let free = port;
    if (port === 0) {
      do free = this.#nextPort++; while (this.#isHeld(free));
    } else if (this.forbidden.has(port) || this.#isHeld(port, replaces)) {
      if (this.forbidden.has(port)) return { unavailable: `port ${port} is not among the allowed ports` };
      const holder = [...this.wantedTunnels.values()].find((tunnel) => tunnel.enabled && tunnel.port === port && tunnel.id !== replaces);
      return { unavailable: `port ${port} is occupied`, holder: holder?.id ?? null };
    }
    const lease = { id: ++this.#lastLease, port: free };
    this.openLeases.set(lease.id, lease.port);
    return lease;
  }

  async releasePort(leaseId: number): Promise<void> {
    this.openLeases.delete(leaseId);
  }

  async apply(change: EngineChange): Promise<void> {
    await this.beforeApply(change);
    this.applied.push(change);
    switch (change.kind) {
      case 'client':
        this.wantedClients.set(change.client.id, change.client);
        break;
      case 'clientRemoved':
        this.wantedClients.delete(change.id);
        for (const { id, clientId } of this.wantedTunnels.values()) if (clientId === change.id) this.wantedTunnels.delete(id);
        for (const { id, clientId } of this.wantedHosts.values()) if (clientId === change.id) this.wantedHosts.delete(id);
        break;
      case 'tunnel':
        if (change.lease) this.openLeases.delete(change.lease.id);
        this.wantedTunnels.set(change.tunnel.id, change.tunnel);
        break;
      case 'tunnelRemoved':
        this.wantedTunnels.delete(change.id);
        break;
      case 'host':
        this.wantedHosts.set(change.host.id, change.host);
        break;
      case 'hostRemoved':
        this.wantedHosts.delete(change.id);
        break;
      case 'trafficReset':
      case 'blackIpList':
      case 'serverName':
      case 'acme':
        break;
    }
  }

  async wanted(): Promise<WantedIds> {
    return { clients: [...this.wantedClients.keys()], tunnels: [...this.wantedTunnels.keys()], hosts: [...this.wantedHosts.keys()] };
  }

  /** Addresses that were allowed by the password, by client. */
  readonly letInAddresses = new Set<string>();

  async clientOfVisitors(keyDigest: string): Promise<number | undefined> {
    return [...this.wantedClients.values()].find(({ vkey, ipWhitePassword }) => ipWhitePassword !== '' && visitorKeyOf(vkey) === keyDigest)?.id;
  }

  async allowByPassword(clientId: number, address: string, password: string): Promise<boolean> {
    if (this.wantedClients.get(clientId)?.ipWhitePassword !== password) return false;
    this.letInAddresses.add(`${clientId} ${address}`);
    return true;
  }

  async isAllowedByPassword(clientId: number, address: string): Promise<boolean> {
    return this.letInAddresses.has(`${clientId} ${address}`);
  }

  readonly watchers = new Set<(events: readonly EngineEvent[]) => void>();

  watch(listener: (events: readonly EngineEvent[]) => void): () => void {
    this.watchers.add(listener);
    return () => this.watchers.delete(listener);
  }

  /** What the engine does when an agent comes or goes, or a listener opens or closes. */
  tell(kind: EngineEvent['kind'], id: number): void {
    for (const watcher of this.watchers) watcher([{ kind, id }]);
  }

  async clientStates(ids: readonly number[]): Promise<Array<ClientState | undefined>> {
    return ids.map((id) => this.clients.get(id));
  }

  /** Sessions of agents, as far as the test gives them. */
  readonly sessions = new Map<number, readonly AgentSessionState[]>();

  async agentSessions(clientId: number): Promise<readonly AgentSessionState[]> {
    return this.sessions.get(clientId) ?? [];
  }

  async tunnelStates(ids: readonly number[]): Promise<Array<TunnelState | undefined>> {
    return ids.map((id) => this.#tunnelState(id));
  }

  async hostStates(ids: readonly number[]): Promise<Array<HostState | undefined>> {
    return ids.map((id) => this.#hostState(id));
  }

  /** States of tunnels, as far as the test gives them. */
  readonly tunnels = new Map<number, TunnelState>();

  #tunnelState(id: number): TunnelState | undefined {
    const given = this.tunnels.get(id);
    if (given) return given;
    const wanted = this.wantedTunnels.get(id);
    if (wanted === undefined) return undefined;
    const broken = this.broken.has(id);
    const error = broken ? 'its port is occupied' : '';
    return {
      running: wanted.enabled && !broken,
      error,
      connections: 0,
      refusals: this.refusals.get(id) ?? {},
      rate: 0,
      inletRate: 0,
      exportRate: 0,
      inletBytes: 0,
      exportBytes: 0,
      dropped: 0,
      visitors: [],
      health: this.health.get(`tunnel ${id}`) ?? null,
    };
  }

  /** Open connections of visitors, as far as the test gives them. */
  readonly visitors: ConnectionState[] = [];
  /** Those that were cut. */
  readonly closed: number[] = [];

  /** A connection of somebody to a client's tunnel. */
  addVisitor(clientId: number, through: ConnectionState['through'], state: Partial<ConnectionState> = {}): void {
    this.visitors.push({
      id: this.visitors.length + 1,
      clientId,
      through,
      address: '192.0.2.1',
      port: 40_000,
      since: 0,
      inletBytes: 1,
      exportBytes: 2,
      rate: 3,
      ...state,
    });
  }

  async connections(clientId: number, { offset, limit }: RowRange): Promise<ConnectionsPage> {
    const open = this.visitors.filter((visitor) => visitor.clientId === clientId);
    return { rows: open.slice(offset, offset + limit), total: open.length };
  }

  async closeConnection(clientId: number, id: number): Promise<ConnectionState | undefined> {
    const found = this.visitors.find((visitor) => visitor.clientId === clientId && visitor.id === id);
    if (found) this.closed.push(id);
    return found;
  }

  /** The running state of hosts, where the test gives it. */
  readonly hosts = new Map<number, HostState>();

  #hostState(id: number): HostState | undefined {
    const given = this.hosts.get(id);
    if (given) return given;
    const host = this.wantedHosts.get(id);
    // As if the client had no other.
    const refusals = host && this.clients.get(host.clientId)?.refusals;
    return host
      ? {
        running: true,
        error: '',
        refusals: refusals ?? {},
        connections: 0,
        rate: 0,
        inletRate: 0,
        exportRate: 0,
        inletBytes: 0,
        exportBytes: 0,
        health: this.health.get(`host ${id}`) ?? null,
      }
      : undefined;
  }

  /** How certificates of hosts stand, as far as the test gives them. */
  readonly certificates = new Map<number, CertificateState>();

  async hostCertificates(questions: readonly CertificateQuestion[]): Promise<Array<CertificateState | undefined>> {
    return questions.map(({ id }) => this.certificates.get(id));
  }

  async listedCertificates(): Promise<ListedCertificate[]> {
    return Array.from(this.certificates, ([id, { status, inUse }]) => ({ id, status, until: inUse?.validTo.getTime() ?? null }));
  }

  /** Clients of hosts and tunnels are not known here: a test gives the troubles as they are. */
  troublesFound: Troubles = { certificates: [], unhealthyTunnels: [], unhealthyHosts: [] };

  async troubles(): Promise<Troubles> {
    return this.troublesFound;
  }

  /** What a retry of a host's ACME order does; absent = no order has failed. */
  readonly acmeRetries = new Map<number, AcmeRetry>();

  async retryAcme(hostId: number): Promise<AcmeRetry> {
    return this.acmeRetries.get(hostId) ?? { kind: 'notFailed' };
  }

  async traffic(): Promise<Traffic> {
    return Array.from(this.clients.values()).reduce<Traffic>(trafficSum, NO_TRAFFIC);
  }

  async differentSettings(): Promise<readonly DifferentSettings[]> {
    return this.different;
  }

  async probe(_clientId: number, target: string): Promise<string> {
    return this.unreachable.has(target) ? `${target}: connection refused` : '';
  }

  #isHeld(port: number, except?: number): boolean {
    const holders = [...this.wantedTunnels.values()].filter((tunnel) => tunnel.enabled && tunnel.port === port && tunnel.id !== except);
    return this.taken.has(port) || holders.length > 0 || Array.from(this.openLeases.values()).includes(port);
  }
}
