import type { Logger } from 'pino';
import { Attempts } from '../rules/attempts.ts';
import { AddressSet } from '../rules/ip-access.ts';
import { netBackend } from '../wire/net-socket.ts';
import type { SharedPorts } from '../wire/shared-ports.ts';
import { HALF_CLOSED_MS, type SocketBackend } from '../wire/socket.ts';
import type { BridgePlaces } from './bridge/bridge.ts';
import { Acme } from './acme/acme.ts';
import { Clients } from './client-index.ts';
import type { ClientEntry } from './clients.ts';
import type { EngineOptions } from './engine-options.ts';
import type { EngineEvent, RefusalCause, WantedHost, WantedTunnel } from './face.ts';
import { Admission, type Carrier } from './limits/admission.ts';
import { ClientLogins } from './limits/client-logins.ts';
import { Ticker } from './limits/meter.ts';
import { VisitorTrace } from './limits/visitor-trace.ts';
import { Visitors } from './limits/visitors.ts';
import { LocalSession } from './local-session.ts';
import type { OtherNodes } from './other-nodes.ts';
import { PortBook } from './ports/port-book.ts';
import type { PortReserver } from './ports/reserve-port.ts';
import { StunServer } from './stun-server.ts';
import { PROXY_TIMING, type ProxyTiming } from './tunnels/proxy-timing.ts';
import { Certificates } from './vhost/tls/certificates.ts';
import { Hosts } from './vhost/hosts.ts';

/** How long a visitor's UDP session may be idle unless the settings say otherwise, in ms. */
const UDP_IDLE_MS = 60_000;

/**
 * Shared by all parts of the engine: the settings, the clients and hosts, admission, the queue of changes, and the
 * events. Created once by the engine.
 */
export class Environment implements PortReserver {
  readonly options: EngineOptions;
  readonly log: Logger;
  /** ms since the epoch. */
  readonly now: () => number;
  /** For agents, and for dialing. */
  readonly agentSockets: SocketBackend;
  /** For visitors: listeners apply the half-close timeout `halfClosedMs`. */
  readonly sockets: SocketBackend;
  readonly halfClosedMs: number;
  readonly timing: ProxyTiming;
  /** How long a visitor's UDP session may be idle, in ms. */
  readonly udpIdleMs: number;
  /** @see EngineOptions.shared */
  readonly shared: SharedPorts | undefined;
  /** @see EngineOptions.tunnelHost */
  readonly tunnelHost: string;
  /** Which tunnel has which port. */
  readonly book: PortBook;
  readonly clients = new Clients();
  readonly ticker = new Ticker();
  readonly attempts: Attempts;
  readonly logins: ClientLogins;
  readonly visitors: Visitors;
  readonly admission: Admission;
  /** undefined = no certificates are ordered. */
  readonly acme: Acme | undefined;
  readonly certificates: Certificates;
  readonly hosts: Hosts;
  readonly stunServer: StunServer;
  /** Whether an address is that of a trusted proxy. */
  readonly trusts: (address: string) => boolean;
  /** The other servers of the installation; undefined = this is the only one. Set by the engine, whose parts it uses. */
  nodes: OtherNodes | undefined;
  /** The server does not know yet where agents are: no tunnel is opened before the ports of the hosts. */
  starting: boolean;
  /** The stored records are being loaded: nobody knows them yet, so no event is published. */
  loading = false;
  /** The server is stopping: nothing is opened any more. */
  closing = false;
  /** Called, in the queue of changes, when a client is found expired before the sweep. */
  onExpired: (entry: ClientEntry) => Promise<void> = () => Promise.resolve();
  readonly #watchers = new Set<(event: EngineEvent) => void>();
  /** The queue of changes, which are applied one after another. */
  #queue: Promise<unknown> = Promise.resolve();

  constructor(options: EngineOptions) {
    const { log, bridgeHost, p2pPort, allowPorts, sockets = netBackend, halfClosedMs = HALF_CLOSED_MS } = options;
    this.options = options;
    this.log = log;
    this.now = options.now ?? Date.now;
    this.agentSockets = sockets;
    this.sockets = { ...sockets, listen: (place) => sockets.listen({ ...place, halfClosedMs }) };
    this.halfClosedMs = halfClosedMs;
    this.timing = { ...PROXY_TIMING, ...options.proxyTiming };
    this.udpIdleMs = options.udpIdleMs ?? UDP_IDLE_MS;
    this.shared = options.shared;
    this.starting = options.shared !== undefined;
    this.tunnelHost = options.tunnelHost ?? '';
    this.book = new PortBook(allowPorts);
    const trusted = AddressSet.of(options.trustedProxies ?? []);
    this.trusts = (address) => trusted.has(address);
    this.attempts = options.attempts ?? new Attempts();
    this.logins = new ClientLogins((id) => this.clients.get(id)?.wanted, this.attempts, this.now);
    this.visitors = new Visitors(options.visitorShares, this.trusts, VisitorTrace.of(options.visitorLog));
    this.admission = new Admission(this.visitors, this.now, options.allowLocalProxy ? new LocalSession(sockets, log) : undefined);
    this.acme = options.acme && new Acme(options.acme, log, this.now);
    this.certificates = new Certificates(log, this.now, this.acme, options.acme?.ownName);
    this.hosts = new Hosts(this.clients, this.ticker, this.visitors, this.certificates, this.timing.dialMs, (id) => this.tell('host', id), options.publicUrl);
    this.stunServer = new StunServer({ sockets, log, host: bridgeHost, port: p2pPort, owned: options.shared?.owned });
  }

  /** Where the bridge listens. */
  get bridgePlaces(): BridgePlaces {
    const { bridgeHost: host, bridgePort: port, bridgeTls: tls, shared, link } = this.options;
    return { host, port, tls, among: shared && { shared, host, port: 0, ...link } };
  }

  /** Why a client's tunnels and hosts may not be served at the moment ("the client is disabled", say); "" = they may. */
  blocked(clientId: number): string {
    if (this.closing) return 'the server is shutting down';
    if (this.starting) return 'the server is starting';
    return this.clientBlocked(clientId);
  }

  /** As {@link blocked}, but only for reasons of the client itself, not because the server starts or stops. */
  clientBlocked(clientId: number): string {
    const entry = this.clients.get(clientId);
    if (!entry) return 'its client does not exist';
    const blocked = entry.blocked(this.now());
    return blocked === 'disabled' ? 'the client is disabled' : blocked === 'expired' ? 'the client has expired' : '';
  }

  /** Why a host can't be served; "" = it can. */
  unserved({ clientId, localProxy }: Pick<WantedHost, 'clientId' | 'localProxy'>): string {
    const blocked = this.blocked(clientId);
    if (blocked !== '') return blocked;
    if (localProxy) return this.options.allowLocalProxy ? '' : 'the server would have to dial the target itself, but its settings do not allow that';
    return this.online(clientId) ? '' : 'the agent is not connected';
  }

  /** Whether the client's agent is connected, to this server or to another one. */
  online(clientId: number): boolean {
    return this.clients.get(clientId)?.session !== undefined || this.nodes?.reaches(clientId) === true;
  }

  /** Allows the visitors of an address for two hours, even if they are not on the client's allowlist. @returns false when the password is wrong */
  allowByPassword(clientId: number, address: string, password: string): boolean {
    const allowed = this.clients.get(clientId)?.allowByPassword(address, password, this.now()) === true;
    if (allowed) this.nodes?.allowed(clientId, address);
    return allowed;
  }

  /** Admits a new connection of a visitor. @returns the session that carries it, or the cause of refusal @param address the visitor's, IPv4-mapped ones as IPv4 */
  admit({ clientId, localProxy }: Pick<WantedTunnel, 'clientId' | 'localProxy'>, address: string): Carrier | RefusalCause {
    const entry = this.clients.get(clientId);
    if (!entry) return 'disabled';
    const admitted = this.admission.admit(entry, address, localProxy, this.nodes?.openerTo(clientId, localProxy));
    // The sweep is late, or the clock was set.
    if (admitted === 'expired') this.inBackground(() => this.onExpired(entry));
    return admitted;
  }

  /** A connection of the client's visitors was refused. */
  refused(clientId: number, cause: RefusalCause): void {
    this.clients.get(clientId)?.meter.countRefusal(cause);
  }

  /** The state of a record has changed: marks it for the store, and emits an event. */
  changed(kind: EngineEvent['kind'], id: number): void {
    this.ticker.mark(kind, id);
    if (!this.loading) this.tell(kind, id);
  }

  /** Emits an event to all listeners. */
  tell(kind: EngineEvent['kind'], id: number): void {
    for (const watcher of this.#watchers) watcher({ kind, id });
  }

  /** Calls `listener` synchronously for every event; it must not throw. @returns a function that unsubscribes */
  watch(listener: (event: EngineEvent) => void): () => void {
    this.#watchers.add(listener);
    return () => this.#watchers.delete(listener);
  }

  /** Runs `work` after all changes that were queued earlier. */
  inOrder<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#queue.then(work);
    this.#queue = result.catch(() => undefined);
    return result;
  }

  /** Like `inOrder`, but without waiting; a failure is logged. */
  inBackground(work: () => Promise<void>): void {
    this.inOrder(work).catch((error: unknown) => this.log.error({ err: error }, 'the engine failed to apply a change'));
  }
}
