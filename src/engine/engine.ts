import type { Logger } from 'pino';
import { Attempts } from '../rules/attempts.ts';
import { type AddressSet, addressSet } from '../rules/ip-access.ts';
import type { ShareLimits } from '../rules/connection-shares.ts';
import type { HealthMessage } from '../wire/health.ts';
import { netBackend } from '../wire/net-socket.ts';
import { HALF_CLOSED_MS, type SocketBackend, type TlsIdentity } from '../wire/socket.ts';
import { Acme } from './acme/acme.ts';
import { Bridge, type BridgeAddress } from './bridge/bridge.ts';
import { probeThrough } from './bridge/probe.ts';
import { ClientChanges } from './client-changes.ts';
import { Clients } from './clients.ts';
import type { EngineOptions, StoredState } from './engine-options.ts';
import {
  type CertificateState, type ClientState, type ConnectionState, type Declarations, type EngineChange, type EngineEvent, type HostState, type PortLease, type PortRequest, type RefusalCause, type Refusals, type StateBatch,
  type TunnelState, type Traffic, type WantedHost, type WantedTunnel,
} from './face.ts';
import { countOut } from './health/reported-health.ts';
import { HEAD_LIMITS } from './http/head.ts';
import { Admission } from './limits/admission.ts';
import { ClientLogins } from './limits/client-logins.ts';
import { type Meter, Ticker } from './limits/meter.ts';
import { VisitorTrace } from './limits/visitor-trace.ts';
import { Visitors } from './limits/visitors.ts';
import { LocalSession } from './local-session.ts';
import { overviewOf } from './overview.ts';
import { refusalsOf, trafficOf } from './sums.ts';
import { StateBatches } from './state-batches.ts';
import { Rendezvous } from './rendezvous.ts';
import { tunnelModes } from './tunnels/registry.ts';
import { PROXY_TIMING } from './tunnels/proxy-timing.ts';
import type { Carrier } from './tunnels/tunnel-mode.ts';
import { TunnelRunner } from './tunnels/tunnel-runner.ts';
import { Tunnels } from './tunnels/tunnels.ts';
import { Certificates } from './vhost/certificates.ts';
import { dialHost } from './vhost/dial.ts';
import { type GateContext, gateOf } from './vhost/gate.ts';
import { Hosts } from './vhost/hosts.ts';
import { VHOST_TIMING } from './vhost/slow-visitors.ts';
import { type VhostPlaces, VhostServer } from './vhost/vhost-server.ts';

/** How often "last online" of connected clients goes to the store, in ms: after a crash it is at most this old. */
const ONLINE_MS = 10 * 60_000;
/** Most connections of visitors to hosts. */
const HOST_SHARES: ShareLimits = { total: 50_000, perAddress: 6250 };
/** How long a visitor's UDP session may be idle unless the settings say otherwise, in ms. */
const UDP_IDLE_MS = 60_000;

/**
 * Runs what is wanted: the bridge that agents connect to, and a listener for every enabled tunnel. Order: `load`, `listen`, any number
 * of `apply`, then `drain` or `close`.
 */
export class Engine {
  readonly modes: readonly string[] = [...tunnelModes.keys()];
  readonly #clients = new Clients();
  readonly #changes: ClientChanges;
  readonly #tunnels: Tunnels;
  readonly #ticker = new Ticker();
  readonly #batches: StateBatches;
  readonly #trusted: AddressSet;
  readonly #visitors: Visitors;
  readonly #admission: Admission;
  readonly #acme: Acme | undefined;
  readonly #certificates: Certificates;
  readonly #hosts: Hosts;
  readonly #attempts: Attempts;
  readonly #logins: ClientLogins;
  readonly #vhost: VhostServer;
  readonly #bridge: Bridge;
  readonly #rendezvous: Rendezvous;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #options: EngineOptions;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #watchers = new Set<(event: EngineEvent) => void>();
  /** Changes happen one after another. */
  #turn: Promise<unknown> = Promise.resolve();
  #closing = false;
  #declarations: Declarations | undefined;

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#log = options.log;
    this.#now = options.now ?? Date.now;
    this.#trusted = addressSet(options.trustedProxies ?? []);
    this.#visitors = new Visitors(options.visitorShares, (address) => this.#trusted.has(address), VisitorTrace.of(options.visitorLog));
    this.#acme = options.acme && new Acme(options.acme, options.log, this.#now);
    this.#certificates = new Certificates(options.log, this.#now, this.#acme);
    this.#hosts = new Hosts(this.#ticker, this.#visitors, this.#certificates, { ...PROXY_TIMING, ...options.proxyTiming }.dialMs, (id) => this.#tell('host', id), options.publicUrl);
    this.#attempts = options.attempts ?? new Attempts();
    this.#logins = new ClientLogins((id) => this.#clients.get(id)?.wanted, this.#attempts, this.#now);
    const sockets = options.sockets ?? netBackend;
    this.#admission = new Admission(this.#visitors, this.#now, options.allowLocalProxy ? new LocalSession(sockets, options.log) : undefined);
    const halfClosedMs = options.halfClosedMs ?? HALF_CLOSED_MS;
    const forVisitors: SocketBackend = { ...sockets, listen: (place) => sockets.listen({ ...place, halfClosedMs }) };
    this.#tunnels = this.#makeTunnels(forVisitors, options);
    this.#changes = new ClientChanges({
      clients: this.#clients, tunnels: this.#tunnels, hosts: this.#hosts, ticker: this.#ticker, admission: this.#admission, now: this.#now,
      inBackground: (work) => this.#inBackground(work),
    });
    this.#batches = new StateBatches(this.#ticker, this.#clients, this.#tunnels, this.#hosts, this.#now);
    this.#vhost = this.#makeVhost(forVisitors, halfClosedMs, options);
    this.#rendezvous = new Rendezvous({ sockets, log: options.log, host: options.bridgeHost, port: options.p2pPort });
    this.#bridge = new Bridge({
      sockets, log: options.bridgeLog ?? options.log, now: this.#now, clients: this.#clients, attempts: this.#attempts, timing: options.bridgeTiming ?? {},
      declarations: () => this.#declarations,
      overview: (entry) => overviewOf(entry, this.#hosts, (id) => this.hostState(id)),
      visited: (keyId) => this.#tunnels.visited(keyId),
      onTraffic: (entry, tunnelId, reported) => {
        const runner = this.#tunnels.get(tunnelId);
        const bytes = runner?.wanted.clientId === entry.wanted.id ? runner.believable(reported) : undefined;
        if (!runner || !bytes) return;
        for (const meter of [runner.meter, entry.meter]) {
          meter.countInlet(bytes.inlet);
          meter.countExport(bytes.exported);
        }
        // Cuts the client off, direct paths too, when its limit is passed.
        entry.meter.mayPass();
      },
      onHealth: (entry, message) => this.#onHealth(entry.wanted.id, message),
      onSeen: (entry) => {
        this.#changed(entry.meter);
        for (const runner of entry.tunnels) {
          runner.forgetHealth();
          runner.clientChanged();
        }
        for (const id of this.#hosts.forgetHealth(entry.wanted.id)) this.#tell('host', id);
      },
    });
  }

  #onHealth(clientId: number, message: HealthMessage): void {
    const checked = message.of === 'tunnel' ? this.#tunnels.get(message.id) : this.#hosts.get(message.id);
    // Of another client, or gone meanwhile.
    if (checked?.wanted.clientId !== clientId) return;
    if (checked instanceof TunnelRunner) checked.onHealth(message, this.#now());
    else {
      this.#hosts.onHealth(message, this.#now());
      this.#changed(checked.meter);
    }
  }

  #makeTunnels(sockets: SocketBackend, { log, allowPorts, udpIdleMs = UDP_IDLE_MS, proxyTiming }: EngineOptions): Tunnels {
    return new Tunnels({
      log, sockets, allowPorts, udpIdleMs,
      ticker: this.#ticker, clients: this.#clients, visitors: this.#visitors, logins: this.#logins, timing: { ...PROXY_TIMING, ...proxyTiming },
      inTurn: (work) => this.#inTurn(work),
      blocked: (clientId) => this.#blocked(clientId),
      admit: (tunnel, address) => this.#admit(tunnel, address),
      stunPorts: () => this.#rendezvous.ports(),
      isOwn: (host) => this.#hosts.isOwn(host),
      changed: (meter) => this.#changed(meter),
      later: (ms, attempt) => setTimeout(() => this.#inBackground(attempt), ms).unref(),
    });
  }

  #makeVhost(sockets: SocketBackend, halfClosedMs: number, { vhostTiming, vhostHead = HEAD_LIMITS, log }: EngineOptions): VhostServer {
    const letsIn = (clientId: number): boolean => this.#clients.get(clientId)?.letsVisitorsIn === true;
    const gate: GateContext = { logins: this.#logins, admit: (host, address) => this.#admit(host, address), letsIn, refused: (clientId, cause) => this.#clients.get(clientId)?.meter.countRefusal(cause) };
    return new VhostServer({
      log, sockets, halfClosedMs, hosts: this.#hosts, timing: { ...VHOST_TIMING, ...vhostTiming }, headLimits: vhostHead, shares: HOST_SHARES, trace: this.#visitors.trace,
      trusts: (address) => this.#trusted.has(address),
      challenge: (host, token) => this.#acme?.answer(host, token),
      gate: (entry, visit) => gateOf(gate, entry, visit),
      letsIn: ({ wanted }) => letsIn(wanted.clientId),
      letIn: ({ id, wanted: { clientId } }, address, password) => {
        const guess = this.#attempts.guess('ipWhitePassword', address, `client ${clientId}`, this.#now(), () => this.letIn(clientId, address, password));
        if (guess === 'right') log.info({ clientId, hostId: id, address }, 'a visitor let himself in by the password');
        return guess;
      },
      dial: (entry, visitor) => dialHost(entry, entry.targets, visitor, gate.admit, this.#visitors.trace),
      dialSecure: (entry, visitor) => dialHost(entry, entry.secureTargets, visitor, gate.admit, this.#visitors.trace),
    });
  }

  /** Takes the stored state at boot and opens the listeners. One that cannot be opened is tried again; see its tunnel's state. */
  async load(stored: StoredState): Promise<void> {
    await this.#admission.setBlackIpList(stored.blackIpList);
    this.#hosts.serverName = stored.serverName;
    for (const client of stored.clients) await this.#changes.add(client, client);
    for (const tunnel of stored.tunnels) this.#tunnels.add(tunnel, tunnel);
    for (const host of stored.hosts) this.#hosts.set(host, host);
    const unserved = this.#hosts.withOwnName();
    if (unserved.length > 0) this.#log.warn({ hosts: unserved.slice(0, 20), count: unserved.length }, "hosts are not served: their names are the server's own, and no administrator named them");
    await this.#tunnels.sync();
    this.#timers.push(setInterval(() => this.#batches.markOnline(), ONLINE_MS).unref());
    this.#changes.awaitExpiries();
  }

  /**
   * Opens the bridge; resolves to its address.
   * @throws the system's error when an address cannot be bound
   */
  listen(): Promise<BridgeAddress> {
    const { bridgeHost, bridgePort, bridgeTls } = this.#options;
    return this.#bridge.listen({ host: bridgeHost, port: bridgePort, tls: bridgeTls });
  }

  /** Shows another certificate to agents that connect over TLS from now on. @throws OpenSSL's error when it can't be used: the one before stays */
  renewBridge(identity: TlsIdentity): BridgeAddress {
    return this.#bridge.renew(identity);
  }

  /** Takes up what the certificate files of the hosts hold now; one that can't be used leaves the one before in use, and is logged. */
  reloadCertificates(): Promise<void> {
    return this.#certificates.lookAtAll(true);
  }

  /** What session tickets of the hosts' TLS are sealed with from now on. */
  sealTickets(secret: Buffer): void {
    this.#certificates.tickets.use(secret);
  }

  /** Where agents in configuration-file mode keep what they bring along; until then they are told to come back. */
  keepDeclared(declarations: Declarations): void {
    this.#declarations = declarations;
  }

  /**
   * Opens the ports of the hosts; resolves to them.
   * @throws the system's error when one cannot be bound
   */
  async listenHosts(places: VhostPlaces): ReturnType<VhostServer['listen']> {
    const ports = await this.#vhost.listen(places);
    this.#certificates.start();
    this.#acme?.start();
    return ports;
  }

  /** Binds a port now. @throws {PortUnavailableError} */
  reservePort(request: PortRequest): Promise<PortLease> {
    return this.#inTurn(() => this.#tunnels.reservePort(request));
  }

  /** Gives the port of a lease back; nothing happens when a tunnel has taken it over. */
  releasePort(leaseId: number): Promise<void> {
    return this.#tunnels.releasePort(leaseId);
  }

  /** Resolves when listeners and sessions agree with the change. */
  apply(change: EngineChange): Promise<void> {
    return this.#inTurn(async () => {
      switch (change.kind) {
        case 'client': return this.#changes.apply(change.client);
        case 'clientRemoved': return this.#changes.remove(change.id);
        case 'tunnel': return this.#tunnels.apply(change.tunnel, change.lease);
        case 'tunnelRemoved': return this.#tunnels.remove(change.id);
        case 'host': return this.#hosts.set(change.host);
        case 'hostRemoved': return this.#hosts.remove(change.id);
        case 'blackIpList':
          await this.#admission.setBlackIpList(change.list);
          for (const entry of this.#clients.all()) this.#admission.enforce(entry);
          return;
        case 'serverName':
          this.#hosts.serverName = change.name;
      }
    });
  }

  /** undefined = no such client */
  clientState(id: number): ClientState | undefined {
    return this.#clients.get(id)?.state(this.#now());
  }

  /** undefined = no such tunnel */
  tunnelState(id: number): TunnelState | undefined {
    return this.#tunnels.get(id)?.state;
  }

  /** The open connections of a client's visitors, the oldest first. */
  connections(clientId: number): ConnectionState[] {
    return Array.from(this.#clients.get(clientId)?.meter.open ?? [], ({ state }) => state);
  }

  /** Cuts a connection. @returns it as it was; undefined = the client has none of that id */
  closeConnection(clientId: number, id: number): ConnectionState | undefined {
    for (const connection of this.#clients.get(clientId)?.meter.open ?? []) {
      const { state } = connection;
      if (state.id !== id) continue;
      connection.cut();
      return state;
    }
    return undefined;
  }

  /** undefined = no such host */
  hostState(id: number): HostState | undefined {
    return this.#hosts.state(id, (host) => this.#unserved(host));
  }

  /**
   * How the certificate of a host stands, looked at now; undefined = its TLS is passed through to the target, or it is for HTTP only.
   * @param name the very name that is asked for, where the host is a wildcard
   */
  hostCertificate(id: number, name?: string): Promise<CertificateState | undefined> {
    return this.#hosts.certificate(id, name);
  }

  /** Of all clients together. Costs a look at each. */
  traffic(): Traffic {
    return trafficOf(this.#clients.all());
  }

  /** @see EngineFace.probe */
  async probe(clientId: number, target: string, timeoutMs: number): Promise<string> {
    const session = this.#clients.get(clientId)?.session;
    return session ? probeThrough(session, target, timeoutMs) : 'the agent is not connected';
  }

  /** The client that lets visitors in by a password and whose key has this digest (contract 3.2); undefined = there is none. */
  clientOfVisitors(keyDigest: string): number | undefined {
    return this.#clients.byVisitorKey(keyDigest)?.wanted.id;
  }

  /** Lets the visitors of an address in for two hours, whatever the client's whitelist says. @returns false when the password is another */
  letIn(clientId: number, address: string, password: string): boolean {
    return this.#clients.get(clientId)?.letIn(address, password, this.#now()) === true;
  }

  /** Whether a visitor was let in by the password and may still come. */
  isLetIn(clientId: number, address: string): boolean {
    return this.#clients.get(clientId)?.isLetIn(address, this.#now()) === true;
  }

  /** Calls `listener` at once for every event; it must not throw. @returns the way to stop */
  watch(listener: (event: EngineEvent) => void): () => void {
    this.#watchers.add(listener);
    return () => this.#watchers.delete(listener);
  }

  /** Its state is another one: the store is to know, and whoever watches. */
  #changed(meter: Meter): void {
    this.#ticker.mark(meter);
    this.#tell(meter.owner, meter.id);
  }

  #tell(kind: EngineEvent['kind'], id: number): void {
    for (const watcher of this.#watchers) watcher({ kind, id });
  }

  /** What changed since the last call. When it could not be stored, give it back with `restoreDirty`. */
  takeDirty(): Promise<StateBatch> {
    return this.#batches.take();
  }

  /** The batch was not stored: the next `takeDirty` holds its clients and tunnels again. */
  restoreDirty(batch: StateBatch): void {
    this.#batches.restore(batch);
  }

  /** Cuts off the clients that have expired since the last time. */
  sweep(): Promise<void> {
    return this.#inTurn(() => this.#changes.sweep());
  }

  /** How many handshakes, sessions and visitors there are and were; for health and metrics. */
  get counts(): Bridge['counts'] & Certificates['counts'] & ReturnType<typeof countOut> & { readonly visitors: number; readonly hostConnections: number } {
    const out = countOut([...this.#tunnels.all(), ...this.#hosts.all()]);
    return { ...out, ...this.#bridge.counts, ...this.#certificates.counts, visitors: this.#visitors.open, hostConnections: this.#vhost.connections };
  }

  /** Refused connections since the start by cause, over all clients that there are now. */
  refusals(): Refusals {
    return refusalsOf(this.#clients.all());
  }

  /**
   * Ends in good order: no new connections, agents told, open connections get up to `ms` to end by themselves.
   * Resolves to how many had to be cut.
   */
  async drain(ms: number): Promise<number> {
    this.#closing = true;
    this.#bridge.drain();
    await this.#acme?.stop();
    await this.#inTurn(() => this.#tunnels.drain());
    await this.#vhost.drain();
    await this.#visitors.gone(ms);
    const cut = this.#visitors.open;
    await this.close();
    return cut;
  }

  /** Ends at once: listeners, sessions and connections are closed when it resolves. */
  async close(): Promise<void> {
    this.#closing = true;
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
    this.#changes.stop();
    this.#certificates.stop();
    await this.#acme?.stop();
    await this.#vhost.close();
    await this.#bridge.close();
    await this.#rendezvous.close();
    await this.#inTurn(() => this.#tunnels.close());
    this.#ticker.stop();
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }

  #inBackground(work: () => Promise<void>): void {
    this.#inTurn(work).catch((error: unknown) => this.#log.error({ err: error }, 'the engine failed to follow a change'));
  }

  /** Why a host can't be served; "" = it can. */
  #unserved({ clientId, localProxy }: WantedHost): string {
    const blocked = this.#blocked(clientId);
    if (blocked !== '') return blocked;
    if (localProxy) return this.#options.allowLocalProxy ? '' : 'the server is to dial the target itself, which its settings do not allow';
    return this.#clients.get(clientId)?.session ? '' : 'the agent is not connected';
  }

  #blocked(clientId: number): string {
    if (this.#closing) return 'the server is shutting down';
    const entry = this.#clients.get(clientId);
    if (!entry) return 'its client does not exist';
    const blocked = entry.blocked(this.#now());
    return blocked === 'disabled' ? 'the client is disabled' : blocked === 'expired' ? 'the client has expired' : '';
  }

  #admit({ clientId, localProxy }: Pick<WantedTunnel, 'clientId' | 'localProxy'>, address: string): Carrier | RefusalCause {
    const entry = this.#clients.get(clientId);
    if (!entry) return 'disabled';
    const admitted = this.#admission.admit(entry, address, localProxy);
    // The sweep is late, or the clock was set.
    if (admitted === 'expired') this.#inBackground(() => this.#changes.sync(entry));
    return admitted;
  }
}
