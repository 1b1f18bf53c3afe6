import type { TlsIdentity } from '../wire/socket.ts';
import { AgentReports } from './agent-reports.ts';
import { Bridge, type BridgeAddress } from './bridge/bridge.ts';
import { probeThrough } from './bridge/probe.ts';
import { ClientChanges } from './client-changes.ts';
import type { EngineOptions, StoredState } from './engine-options.ts';
import { Environment } from './environment.ts';
import type {
  CertificateState,
  ClientState,
  ConnectionsPage,
  ConnectionState,
  Declarations,
  EngineChange,
  EngineEvent,
  HostState,
  PortLease,
  PortRequest,
  RefusalCount,
  RowRange,
  StateBatch,
  Traffic,
  TunnelState,
  WantedIds,
} from './face.ts';
import { countOut } from './health/reported-health.ts';
import { NodeRequests } from './nodes/node-requests.ts';
import { Nodes } from './nodes/nodes.ts';
import { overviewOf } from './overview.ts';
import { StateBatches } from './state-batches.ts';
import { tunnelModes } from './tunnels/registry.ts';
import { Tunnels } from './tunnels/tunnels.ts';
import type { Certificates } from './vhost/tls/certificates.ts';
import { HostPolicy } from './vhost/host-policy.ts';
import { VHOST_TIMING } from './vhost/slow-visitors.ts';
import { VHOST_SHARES, type VhostPlaces, VhostServer } from './vhost/vhost-server.ts';
import { applyChange, loadStored, openTunnels, wantedIds, type Parts } from './wanted-state.ts';

/**
 * Runs the wanted state: the bridge that agents connect to, and a listener for every enabled tunnel. Order: `load`, `listen`, any number
 * of `apply`, then `drain` or `close`.
 */
export class Engine {
  readonly modes: readonly string[] = [...tunnelModes.keys()];
  readonly #environment: Environment;
  readonly #tunnels: Tunnels;
  readonly #parts: Parts;
  readonly #vhost: VhostServer;
  readonly #bridge: Bridge;
  readonly #nodes: Nodes | undefined;
  #declarations: Declarations | undefined;

  constructor(options: EngineOptions) {
    const environment = new Environment(options);
    const { hosts, sockets, halfClosedMs, agentSockets, clients, attempts, now, log, visitors: { trace } } = environment;
    this.#environment = environment;
    const tunnels = this.#tunnels = new Tunnels(environment);
    this.#parts = { environment, tunnels, clients: new ClientChanges(environment, tunnels), batches: new StateBatches(environment, tunnels) };
    environment.onExpired = (entry) => this.#parts.clients.sync(entry);
    const timing = { ...VHOST_TIMING, ...options.vhostTiming };
    this.#vhost = new VhostServer({ log, sockets, halfClosedMs, hosts, timing, shares: VHOST_SHARES, trace }, new HostPolicy(environment));
    const reports = new AgentReports(environment, tunnels);
    const admission = { now, clients, attempts, trusts: environment.trusts };
    this.#bridge = new Bridge({
      sockets: agentSockets,
      log: options.bridgeLog ?? log,
      ...admission,
      timing: options.bridgeTiming ?? {},
      declarations: () => this.#declarations,
      visited: (keyId) => tunnels.visited(keyId),
      overview: (entry) => overviewOf(entry, hosts, (id) => this.hostState(id)),
      onTraffic: (entry, tunnelId, bytes) => reports.onTraffic(entry, tunnelId, bytes),
      onHealth: (entry, message) => reports.onHealth(entry, message),
      onSeen: (entry) => reports.onSeen(entry),
      nodes: () => this.#nodes,
    });
    this.#nodes = environment.nodes = options.node && new Nodes(options.node, {
      environment,
      requests: new NodeRequests(environment, tunnels, this),
      onSeen: (entry) => reports.onMoved(entry),
      onHealth: (entry, report) => reports.useHealth(entry, report),
      bridge: this.#bridge,
    });
  }

  /** Loads the stored state at boot and opens the listeners. Those that fail are retried; see the tunnel's state. */
  load(stored: StoredState): Promise<void> {
    return loadStored(this.#parts, stored);
  }

  /** Opens the bridge; resolves to its address. @throws the system's error when a port cannot be bound */
  listen(): Promise<BridgeAddress> {
    return this.#bridge.listen(this.#environment.bridgePlaces);
  }

  /** The other servers; undefined = this is the only one. */
  get nodes(): Nodes | undefined {
    return this.#nodes;
  }

  /** Replaces the certificate for agents that connect over TLS. @throws OpenSSL's error when it can't be used; the previous one stays in use */
  renewBridge(identity: TlsIdentity): BridgeAddress {
    return this.#bridge.renew(identity);
  }

  /** Reloads the certificate files of the hosts; unusable files are logged, and the previous certificate stays in use. */
  reloadCertificates(): Promise<void> {
    return this.#environment.certificates.lookAtAll(true);
  }

  /** Replaces the keys that encrypt session tickets of the hosts' TLS. */
  sealTickets(secret: Buffer): void {
    this.#environment.certificates.tickets.use(secret);
  }

  /** Sets where the records of agents in configuration-file mode are kept; until then such agents are refused with a retry time. */
  keepDeclared(declarations: Declarations): void {
    this.#declarations = declarations;
  }

  /** Opens the ports of the hosts, and of tunnels that `load` has left closed; resolves to those of the hosts. @throws the system's error when one cannot be bound */
  async listenHosts(places: VhostPlaces): ReturnType<VhostServer['listen']> {
    const ports = await this.#vhost.listen({ ...places, shared: this.#environment.options.shared });
    await openTunnels(this.#parts);
    this.#environment.certificates.start();
    this.#environment.acme?.start();
    return ports;
  }

  /** Binds a port now. @throws {PortUnavailableError} */
  reservePort(request: PortRequest): Promise<PortLease> {
    return this.#environment.inOrder(() => this.#tunnels.reservePort(request));
  }

  /** Releases the port of a lease; does nothing if a tunnel has taken it over. */
  releasePort(leaseId: number): Promise<void> {
    return this.#tunnels.releasePort(leaseId);
  }

  /** Resolves when the change was applied to listeners and sessions. */
  apply(change: EngineChange): Promise<void> {
    return applyChange(this.#parts, change);
  }

  /** @see EngineFace.wanted */
  wanted(): WantedIds {
    return wantedIds(this.#parts);
  }

  /** undefined = no such client */
  clientState(id: number): ClientState | undefined {
    return this.#environment.clients.get(id)?.state(this.#environment.now());
  }

  /** undefined = no such tunnel */
  tunnelState(id: number): TunnelState | undefined {
    return this.#tunnels.get(id)?.state;
  }

  /** @see EngineFace.connections */
  connections(clientId: number, range: RowRange): ConnectionsPage {
    return this.#environment.clients.get(clientId)?.connections(range) ?? { rows: [], total: 0 };
  }

  /** Closes a connection. @returns its last state; undefined = the client has none of that id */
  closeConnection(clientId: number, id: number): ConnectionState | undefined {
    return this.#environment.clients.get(clientId)?.closeConnection(id);
  }

  /** undefined = no such host */
  hostState(id: number): HostState | undefined {
    return this.#environment.hosts.state(id, (host) => this.#environment.unserved(host));
  }

  /** @see EngineFace.hostCertificates */
  hostCertificate(id: number, name?: string): Promise<CertificateState | undefined> {
    return this.#environment.hosts.certificate(id, name);
  }

  /** The records, for parts of the face that need them all, or more of them than their state. */
  get records() {
    return { clients: this.#environment.clients, tunnels: this.#tunnels, hosts: this.#environment.hosts, now: this.#environment.now() };
  }

  /** Totals over all clients, or those whose home is here. Takes time in proportion to their number. */
  traffic(): Traffic {
    const { clients, nodes } = this.#environment;
    return nodes ? clients.traffic((id) => nodes.isHome(id)) : clients.traffic();
  }

  /** @see EngineFace.probe */
  async probe(clientId: number, target: string, timeoutMs: number): Promise<string> {
    return probeThrough(this.#environment.clients.get(clientId)?.session, target, timeoutMs);
  }

  /** The client that accepts visitors by a password and whose key has this digest (contract 3.2); undefined = there is none. */
  clientOfVisitors(keyDigest: string): number | undefined {
    return this.#environment.clients.byVisitorKey(keyDigest)?.wanted.id;
  }

  /** Allows the visitors of an address for two hours, even if they are not on the client's allowlist. @returns false when the password is wrong */
  allowByPassword(clientId: number, address: string, password: string): boolean {
    return this.#environment.allowByPassword(clientId, address, password);
  }

  /** Whether an address was allowed by the password and that has not expired. */
  isAllowedByPassword(clientId: number, address: string): boolean {
    return this.#environment.clients.get(clientId)?.isAllowedByPassword(address, this.#environment.now()) === true;
  }

  /** Calls `listener` synchronously for every event; it must not throw. @returns a function that unsubscribes */
  watch(listener: (event: EngineEvent) => void): () => void {
    return this.#environment.watch(listener);
  }

  /** What changed since the last call. When it could not be stored, give it back with `restoreDirty`. */
  takeDirty(): Promise<StateBatch> {
    return this.#parts.batches.take();
  }

  /** The refused connections since the last call. */
  takeRefusals(): RefusalCount[] {
    return this.#environment.ticker.refusals.take();
  }

  /** The batch was not stored: the next `takeDirty` holds its clients and tunnels again. */
  restoreDirty(batch: StateBatch): void {
    this.#parts.batches.restore(batch);
  }

  /** Cuts off the clients that have expired since the last call. */
  sweep(): Promise<void> {
    return this.#environment.inOrder(() => this.#parts.clients.sweep());
  }

  /** Connected agents, and open connections of visitors. Takes no time. */
  get served(): { readonly agents: number; readonly connections: number } {
    return { agents: this.#bridge.counts.sessions, connections: this.#environment.visitors.open };
  }

  /** Current and total numbers of handshakes, sessions and visitors; for health and metrics. */
  get counts(): Bridge['counts'] & Certificates['counts'] & ReturnType<typeof countOut> & { readonly visitors: number; readonly hostConnections: number } {
    const { hosts, certificates, visitors } = this.#environment;
    const out = countOut(this.#tunnels.all(), hosts.all());
    return { ...out, ...this.#bridge.counts, ...certificates.counts, visitors: visitors.open, hostConnections: this.#vhost.connections };
  }

  /**
   * Stops gracefully: no new connections, agents are notified, open connections get up to `ms` to end by themselves.
   * Resolves to the number of connections that had to be closed.
   */
  async drain(ms: number): Promise<number> {
    this.#environment.closing = true;
    this.#bridge.drain();
    await this.#environment.acme?.stop();
    await this.#environment.inOrder(() => this.#tunnels.drain());
    await this.#vhost.drain();
    await this.#environment.visitors.gone(ms);
    const cut = this.#environment.visitors.open;
    await this.close();
    return cut;
  }

  /** Stops immediately: listeners, sessions and connections are closed when it resolves. */
  async close(): Promise<void> {
    this.#environment.closing = true;
    this.#parts.batches.stop();
    this.#parts.clients.stop();
    this.#nodes?.close();
    this.#environment.certificates.stop();
    await this.#environment.acme?.stop();
    await this.#vhost.close();
    await this.#bridge.close();
    await this.#environment.stunServer.close();
    await this.#environment.inOrder(() => this.#tunnels.close());
    this.#environment.ticker.stop();
  }
}
