// Longer than 300 lines: the whole admission of a connection, from first byte to session, is in one place, so that each refusal can be seen before
// the session that it protects.
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { FairQueue } from '../../stream-handlers/fair-queue.ts';
import type { Attempts } from '../../rules/attempts.ts';
import { unlimited } from '../../wire/control-budget.ts';
import { HandshakeError, type Refusal } from '../../wire/handshake-error.ts';
import { acceptHandshake, newSessionId, refuseUnread, type Offer, type Role } from '../../wire/handshake.ts';
import type { HealthMessage } from '../../wire/health.ts';
import { NODE_SESSION, nodeInfoSchema, type NodeWelcome } from '../../wire/node-messages.ts';
import { agentInfoSchema } from '../../wire/agent-messages.ts';
import type { SessionWelcome, Welcome } from '../../wire/session-messages.ts';
import { STANDBY_BEATS_MS } from '../../wire/standby-messages.ts';
import { areSeveral, type OtherServers } from '../../wire/other-servers.ts';
import type { OverviewRow } from '../../wire/overview.ts';
import type { SharedPorts } from '../../wire/shared-ports.ts';
import type { ByteSocket, ListenOptions, SocketBackend, SocketServer, TlsIdentity } from '../../wire/socket.ts';
import { fingerprintOf } from '../../wire/tls.ts';
import { visitorInfoSchema, type VisitWelcome } from '../../wire/visit-messages.ts';
import type { Clients } from '../client-index.ts';
import type { ClientEntry } from '../clients.ts';
import { logAcceptErrors } from '../limits/accept-errors.ts';
import type { DirectBytes } from '../limits/direct-traffic.ts';
import type { Declarations } from '../face.ts';
import { AgentSession } from './agent-session.ts';
import { type BridgeSession, MAX_STREAMS } from './bridge-session.ts';
import { HandshakePlaces, type Place, PLACE_LIMITS, type PlaceLimits } from './handshake-places.ts';
import { HandshakeQueue } from '../limits/handshake-queue.ts';
import { type NodeHandlers, NodeSession } from './node-session.ts';
import { NpcNotice } from './npc-notice.ts';
import { type Reason, reasons } from './reasons.ts';
import { StandbySession } from './standby-session.ts';
import { type VisitedTunnel, VisitorSession } from './visitor-session.ts';

/** Timing that tests shorten. */
export interface BridgeTiming {
  /** The timeout for the authentication of a connection, in ms. */
  readonly handshakeMs: number;
  /** ms between keep-alive frames, on both sides; three missing ones end a session. */
  readonly heartbeatMs: number;
  /** Limits of unfinished handshakes. */
  readonly places: PlaceLimits;
}

const TIMING: BridgeTiming = { handshakeMs: 5000, heartbeatMs: 5000, places: PLACE_LIMITS };

/** Maximum connections being refused with a retry time; further ones are reset. */
const MOST_SENT_AWAY = 512;
/** The retry time of refused connections, in ms: randomized, so that they don't all reconnect at the same time. */
const CROWDED_MS = { least: 1000, most: 5000 } as const;
/** The retry time of an address that tries too many keys, in ms. */
const BUSY_MS = 5000;

/** The retry time of a client whose sessions begin too often, in ms. */
const TOO_OFTEN_MS = 5000;

/** Where the bridge listens. */
export interface BridgePlaces {
  readonly host: string;
  /** 0 = ephemeral. */
  readonly port: number;
  /** A second port, for agents that connect over TLS. */
  readonly tls: { readonly port: number; readonly identity: TlsIdentity };
  /** Other processes listen on these ports, too; this one also has a TLS port of its own, on which the other nodes reach it. Absent = this process alone listens. */
  readonly among?: { readonly shared: SharedPorts; readonly host: string; readonly port: number } | undefined;
}

/** Where agents find the bridge. */
export interface BridgeAddress {
  readonly host: string;
  readonly port: number;
  /** `fingerprint`: SHA-256 of the certificate, 64 hex digits. */
  readonly tls: { readonly port: number; readonly fingerprint: string };
  /** The TLS port on which other nodes reach this one: that of agents, unless other processes listen there, too. */
  readonly linkPort: number;
}

/** What the bridge depends on. */
export interface BridgeOptions {
  readonly sockets: SocketBackend;
  readonly log: Logger;
  readonly now: () => number;
  readonly clients: Clients;
  /** The records that agents declare; undefined = the server is just starting. */
  declarations(): Declarations | undefined;
  /** The overview of a client's tunnels and hosts for its agent. */
  overview(entry: ClientEntry): Iterable<OverviewRow>;
  /** The tunnel whose password has this key id. */
  readonly visited: (keyId: string) => VisitedTunnel | undefined;
  /** Whether an address is that of a trusted proxy, such as a load balancer. */
  trusts(address: string): boolean;
  /** Slows down the guessing of keys. */
  readonly attempts: Attempts;
  readonly timing: Partial<BridgeTiming>;
  /** Bytes that direct paths of one of the client's tunnels carried, as its agent reports them. */
  readonly onTraffic: (entry: ClientEntry, tunnelId: number, bytes: DirectBytes) => void;
  /** Results of the checks of one of the client's tunnels or hosts, as its agent reports them. */
  readonly onHealth: (entry: ClientEntry, message: HealthMessage) => void;
  /** A client's agent connected or disconnected. */
  readonly onSeen: (entry: ClientEntry) => void;
  /** The other servers of the installation; undefined = this is the only one. */
  nodes():
    | (NodeHandlers & {
      readonly name: string;
      readonly others: OtherServers;
      /** The client's agent, which is connected here, does not answer. */
      doubt(clientId: number): void;
    })
    | undefined;
}

/** The ports that agents and visitors connect to: authenticates them, and limits what unauthenticated connections cost. */
export class Bridge {
  readonly #options: BridgeOptions;
  readonly #timing: BridgeTiming;
  readonly #sessions = new Map<string, AgentSession>();
  readonly #visits = new Map<string, VisitorSession>();
  readonly #nodes = new Map<string, NodeSession>();
  readonly #standbys = new Set<StandbySession>();
  readonly #unfinished = new Set<ByteSocket>();
  readonly #places: HandshakePlaces;
  readonly #handshakeQueue = new HandshakeQueue();
  /** Connections that are being refused with a retry time. */
  #sendingAway = 0;
  /** The fair queue of visitors' connections: a visitor program can open thousands in one packet. */
  readonly #fairQueue = new FairQueue<string>(MAX_STREAMS);
  readonly #closed = new AbortController();
  readonly #npcNotice: NpcNotice;
  #servers: SocketServer[] = [];
  /** undefined = it does not listen yet. */
  #open: { readonly secure: readonly SocketServer[]; address: BridgeAddress } | undefined;
  #draining = false;
  /** Agents and visitors are to go to other servers. */
  #leaving = false;
  #garbage = 0;
  #refused = 0;
  #dataConnections = 0;
  #handshakesRefused = 0;

  constructor(options: BridgeOptions) {
    this.#options = options;
    this.#timing = { ...TIMING, ...options.timing };
    this.#places = new HandshakePlaces(this.#timing.places);
    // Every waiting handshake listens to this signal.
    setMaxListeners(0, this.#closed.signal);
    this.#npcNotice = new NpcNotice(options.log);
  }

  /** Current numbers (sessions, handshakes) and totals since the start. */
  get counts() {
    return {
      sessions: this.#sessions.size,
      /** Sessions of visitors. */
      visits: this.#visits.size,
      /** Sessions of agents that are connected to another server. */
      standbys: this.#standbys.size,
      /** Unfinished. */
      handshakes: this.#places.size,
      /** Connections with an invalid or late handshake. */
      garbage: this.#garbage,
      /** Data connections that were accepted. */
      dataConnections: this.#dataConnections,
      /** Agents, visitors and data connections that were refused. */
      refused: this.#refused,
      /** Connections closed unread because there were too many handshakes. */
      handshakesRefused: this.#handshakesRefused,
    };
  }

  /** @throws the system's error when an address cannot be bound; OpenSSL's when certificate and key don't belong together */
  async listen({ host, port, tls: { port: tlsPort, identity }, among }: BridgePlaces): Promise<BridgeAddress> {
    const own = among && await this.#listen({ host: among.host, port: among.port, identity });
    const plain = await this.#listen({ host, port, share: among?.shared.of('bridge') });
    const secure = await this.#listen({ host, port: tlsPort, identity, share: among?.shared.of('bridge over TLS') });
    const tls = { port: secure.port, fingerprint: fingerprintOf(identity.certificate) };
    const address = { host: plain.host, port: plain.port, tls, linkPort: (own ?? secure).port };
    this.#open = { secure: own ? [secure, own] : [secure], address };
    return address;
  }

  /**
   * Replaces the certificate for new connections. Agents that pin the previous one need the new fingerprint.
   * @throws OpenSSL's error when certificate and key don't belong together
   */
  renew(identity: TlsIdentity): BridgeAddress {
    if (!this.#open) throw new Error('the bridge is not open yet');
    const fingerprint = fingerprintOf(identity.certificate);
    const { secure, address } = this.#open;
    const { tls } = address;
    if (fingerprint === tls.fingerprint) return address;
    for (const server of secure) server.renew(identity);
    this.#options.log.warn(
      { was: tls.fingerprint, now: fingerprint },
      'the bridge uses a new TLS certificate: agents that pin the previous one will refuse it when they reconnect',
    );
    return this.#open.address = { ...address, tls: { ...tls, fingerprint } };
  }

  async #listen(place: Pick<ListenOptions, 'host' | 'port' | 'identity' | 'share'>): Promise<SocketServer> {
    const server = await this.#options.sockets.listen({
      ...place,
      onSocket: (socket) => this.#onSocket(socket),
      onError: logAcceptErrors(this.#options.log, place.port),
    });
    this.#servers.push(server);
    return server;
  }

  /** Sends agents and visitors to other servers, and refuses new ones; or accepts them again. Those that do not go are served. */
  leave(on: boolean): void {
    this.#leaving = on;
    if (!on) return;
    for (const session of this.#allSessions()) session.drain();
    for (const standby of this.#standbys) standby.close('shutdown');
  }

  /** There are visitor programs that may still open connections. */
  get hasVisitors(): boolean {
    for (const { leaving } of this.#visits.values()) if (!leaving) return true;
    return false;
  }

  /** Ends the sessions of nodes whose secret is no longer accepted. */
  checkNodes(): void {
    for (const session of this.#nodes.values()) session.checkSecret();
  }

  /** The other nodes that have a session with this one which they have dialed, and for how long nothing was heard of each by it, in ms. */
  *silences(): Generator<[node: string, ms: number]> {
    for (const { node, silence } of this.#nodes.values()) yield [node, silence];
  }

  /** Notifies the agents; from now on only data connections are accepted. */
  drain(): void {
    this.#draining = true;
    if (!this.#leaving) { for (const session of this.#allSessions()) session.drain(); }
  }

  /** Tells agents and visitors of all other servers that they can go to. */
  tellServers(others: OtherServers): void {
    for (const session of this.#allSessions()) session.tellServers(others);
  }

  /** Ends every session and handshake. */
  async close(): Promise<void> {
    this.#closed.abort();
    for (const socket of this.#unfinished) socket.destroy(true);
    for (const session of [...this.#allSessions(), ...this.#nodes.values(), ...this.#standbys]) session.close('shutdown');
    await Promise.all(this.#servers.map((server) => server.close()));
  }

  #allSessions(): Array<AgentSession | VisitorSession> {
    return [...this.#sessions.values(), ...this.#visits.values()];
  }

  #onSocket(socket: ByteSocket): void {
    const counted = this.#options.trusts(socket.remoteAddress) ? undefined : socket.remoteAddress;
    const place = this.#closed.signal.aborted ? undefined : this.#places.enter(counted, () => socket.destroy(true));
    if (!place) {
      this.#handshakesRefused++;
      this.#sendAway(socket);
      return;
    }
    this.#unfinished.add(socket);
    this.#handshake(socket, place)
      .catch((error: unknown) => this.#onFailure(socket, error))
      .finally(() => {
        this.#unfinished.delete(socket);
        this.#places.leave(place);
      });
  }

  /** There are too many handshakes: refuses with a retry time, or resets the connection if too many are being refused already. */
  #sendAway(socket: ByteSocket): void {
    if (this.#closed.signal.aborted || this.#sendingAway >= MOST_SENT_AWAY) {
      socket.destroy(true);
      return;
    }
    this.#sendingAway++;
    const retryAfterMs = Math.round(CROWDED_MS.least + Math.random() * (CROWDED_MS.most - CROWDED_MS.least));
    refuseUnread(socket, { code: 'crowded', text: reasons.crowded, retryAfterMs }, () => {
      this.#sendingAway--;
    });
  }

  #onFailure(socket: ByteSocket, error: unknown): void {
    const { log } = this.#options;
    if (this.#closed.signal.aborted) return;
    if (error instanceof HandshakeError) {
      this.#garbage++;
      if (error.code === 'npc') this.#npcNotice.connected(socket.remoteAddress, this.#options.now());
      log.debug({ address: socket.remoteAddress, code: error.code }, `a handshake failed: ${error.message}`);
    } else {
      socket.destroy(true);
      log.error({ address: socket.remoteAddress, err: error }, 'a handshake failed unexpectedly');
    }
  }

  async #handshake(socket: ByteSocket, place: Place): Promise<void> {
    const offer = await acceptHandshake(socket, {
      timeoutMs: this.#timing.handshakeMs,
      keyOf: (role, keyId) => this.#keyOf(role, keyId),
      queued: (role, keyId) => {
        this.#places.said(place);
        return role === 'data' ? this.#handshakeQueue.next('data', keyId) : this.#handshakeQueue.next('session', place.address);
      },
    });
    if (offer.role === 'data') this.#acceptData(socket, offer);
    // Nobody can guess the secret, so nodes need not wait behind those who guess keys at the same address.
    else if (offer.role === 'node' && offer.proven) this.#acceptNode(socket, offer);
    else if (await this.#waitForPenalty(socket, offer)) {
      if (offer.role === 'visit') this.#acceptVisit(socket, offer);
      else if (offer.role === 'standby') this.#acceptStandby(socket, offer);
      else if (offer.role === 'node') this.#refuseKey(socket, offer, 'a server offered a secret that is not that of this installation');
      else this.#acceptMux(socket, offer);
    }
  }

  #keyOf(role: Role, keyId: string): string | Buffer | undefined {
    switch (role) {
      case 'mux':
      case 'standby':
        return this.#options.clients.byKeyId(keyId)?.wanted.vkey;
      case 'visit':
        return this.#options.visited(keyId)?.password;
      case 'node':
        return this.#options.nodes()?.keys.byId(keyId);
      case 'data':
        return this.#sessionOf(keyId)?.key;
    }
  }

  #sessionOf(id: string): BridgeSession | undefined {
    return this.#sessions.get(id) ?? this.#visits.get(id) ?? this.#nodes.get(id);
  }

  #acceptData(socket: ByteSocket, offer: Offer): void {
    const session = this.#sessionOf(offer.keyId);
    if (!offer.proven || !session) {
      this.#refuse(offer, 'unknown-key');
      return;
    }
    if (!session.takesDataConnections || socket.channelSecret) {
      this.#refuse(offer, 'no-data-connections');
      return;
    }
    offer.accept({});
    this.#dataConnections++;
    session.addDataConnection(socket, offer.connection);
  }

  /**
   * Delays an address that offered wrong keys; false = it was refused. Right keys wait too, so that a quick answer reveals
   * nothing. Right keys of clients that were last seen at this address wait only if there were many wrong ones.
   */
  async #waitForPenalty(socket: ByteSocket, offer: Offer): Promise<boolean> {
    const { proven, role, keyId } = offer;
    const lastSeenAt = role === 'mux' || role === 'standby' ? this.#options.clients.byKeyId(keyId)?.lastAddress ?? '' : '';
    const wait = this.#options.attempts.queueKey(socket.remoteAddress, this.#options.now(), proven ? { lastSeenAt } : { wrong: keyId });
    if (wait === Number.POSITIVE_INFINITY) {
      this.#refuse(offer, 'busy', { retryAfterMs: BUSY_MS });
      return false;
    }
    if (wait > 0) await delay(wait, undefined, { signal: this.#closed.signal, ref: false });
    return true;
  }

  /** A connection offered an unknown key. */
  #refuseKey(socket: ByteSocket, offer: Offer, warning: string, text?: string): void {
    const news = this.#options.attempts.keyFailed(socket.remoteAddress, this.#options.now(), offer.keyId);
    this.#options.log[news ? 'warn' : 'debug']({ address: socket.remoteAddress }, warning);
    this.#refuse(offer, 'unknown-key', { text });
  }

  #acceptVisit(socket: ByteSocket, offer: Offer): void {
    const tunnel = this.#options.visited(offer.keyId);
    if (!offer.proven || !tunnel) {
      this.#refuseKey(socket, offer, 'a visitor offered a password that no tunnel has', 'no tunnel has this password');
      return;
    }
    const info = visitorInfoSchema.safeParse(offer.info);
    if (this.#closing || !info.success) {
      this.#refuse(offer, this.#closing ? 'shutdown' : 'bad-info');
      return;
    }
    const refusal = tunnel.refusal(info.data.type);
    if (refusal) {
      this.#refuse(offer, refusal.code, refusal);
      return;
    }
    const { online, crypt, compress } = tunnel.client;
    if (crypt && !socket.channelSecret) {
      this.#refuse(offer, 'tls-needed', { tls: this.#open?.address.tls });
      return;
    }
    const id = newSessionId();
    const { heartbeatMs } = this.#timing;
    const welcome: VisitWelcome = { tunnelId: tunnel.id, sessionId: id, heartbeatMs, compress, agentOnline: online };
    const key = offer.accept(welcome);
    const session = new VisitorSession({
      id,
      key,
      tunnel,
      socket,
      fairQueue: this.#fairQueue,
      since: this.#options.now(),
      log: this.#options.log,
      mux: { heartbeatMs, compress },
      onGone: () => this.#visits.delete(id),
    });
    this.#visits.set(id, session);
    this.#tellOthers(session);
  }

  /** Another server of the installation, over TLS only: both sides have proven, over this channel, that they have the secret. */
  #acceptNode(socket: ByteSocket, offer: Offer): void {
    const handlers = this.#options.nodes();
    const info = nodeInfoSchema.safeParse(offer.info);
    const secret = handlers?.keys.byId(offer.keyId);
    if (!handlers || secret === undefined || !socket.channelSecret || !info.success) {
      this.#refuse(offer, socket.channelSecret ? 'bad-info' : 'tls-needed', { tls: this.#open?.address.tls });
      return;
    }
    if (this.#draining || info.data.name === handlers.name) {
      this.#refuse(offer, this.#draining ? 'shutdown' : 'same-name');
      return;
    }
    const id = newSessionId();
    const welcome: NodeWelcome = { name: handlers.name, shortRequests: true, ...handlers.linkKind === 'plain' && { dataSession: id } };
    const key = offer.accept(welcome);
    const session = new NodeSession({
      id,
      key,
      socket,
      log: this.#options.log,
      mux: { ...NODE_SESSION, controlBudget: unlimited() },
      info: info.data,
      secret,
      handlers,
      onGone: () => this.#nodes.delete(id),
    });
    this.#nodes.set(id, session);
  }

  /** The client of an agent that may connect; undefined = it was refused. */
  #clientOf(socket: ByteSocket, offer: Offer): ClientEntry | undefined {
    const { clients, now } = this.#options;
    const entry = clients.byKeyId(offer.keyId);
    if (!offer.proven || !entry) {
      this.#refuseKey(socket, offer, 'an agent offered a vkey that no client has');
      return undefined;
    }
    const problem = this.#closing ? 'shutdown' : entry.blocked(now());
    if (problem !== '') {
      this.#refuse(offer, problem);
      return undefined;
    }
    if (entry.wanted.crypt && !socket.channelSecret) {
      this.#refuse(offer, 'tls-needed', { tls: this.#open?.address.tls });
      return undefined;
    }
    return entry;
  }

  /** An agent that is connected to another server. */
  #acceptStandby(socket: ByteSocket, offer: Offer): void {
    const entry = this.#clientOf(socket, offer);
    if (!entry) return;
    if (entry.session) {
      this.#refuse(offer, 'same-server');
      return;
    }
    if (!entry.maySession(this.#options.now())) {
      this.#refuse(offer, 'too-often', { retryAfterMs: TOO_OFTEN_MS });
      return;
    }
    const id = newSessionId();
    const welcome: SessionWelcome = { sessionId: id, heartbeatMs: STANDBY_BEATS_MS, compress: false };
    const key = offer.accept(welcome);
    entry.standby?.close('replaced');
    const session = new StandbySession({
      id,
      key,
      clientId: entry.wanted.id,
      socket,
      log: this.#options.log,
      mux: { heartbeatMs: STANDBY_BEATS_MS, controlBudget: entry.controlBudget },
      onGone: (gone, atFault) => {
        this.#standbys.delete(gone);
        if (atFault) entry.sessionBroken(this.#options.now());
        entry.standby = undefined;
      },
    });
    this.#standbys.add(session);
    entry.standby = session;
  }

  #acceptMux(socket: ByteSocket, offer: Offer): void {
    const entry = this.#clientOf(socket, offer);
    if (!entry) return;
    const { now } = this.#options;
    const info = agentInfoSchema.safeParse(offer.info);
    if (!info.success) {
      this.#refuse(offer, 'bad-info');
      return;
    }
    const nodes = this.#options.nodes();
    const declarations = this.#options.declarations();
    if (info.data.configFile && (!entry.wanted.configAllowed || !declarations)) {
      this.#refuse(offer, entry.wanted.configAllowed ? 'starting' : 'config-refused');
      return;
    }
    if (!entry.maySession(now())) {
      this.#refuse(offer, 'too-often', { retryAfterMs: TOO_OFTEN_MS });
      return;
    }
    const id = newSessionId();
    const { compress } = entry.wanted;
    const { heartbeatMs } = this.#timing;
    const welcome: Welcome = { clientId: entry.wanted.id, sessionId: id, heartbeatMs, compress, answersPings: true };
    const key = offer.accept(welcome);
    this.#replace(entry, socket);
    entry.standby?.close('same-server');
    const session = new AgentSession({
      id,
      key,
      clientId: entry.wanted.id,
      info: info.data,
      socket,
      log: this.#options.log,
      mux: { heartbeatMs, compress, controlBudget: entry.controlBudget },
      onTraffic: (tunnelId, bytes) => this.#options.onTraffic(entry, tunnelId, bytes),
      onHealth: (message) => this.#options.onHealth(entry, message),
      overview: () => this.#options.overview(entry),
      records: info.data.configFile ? declarations?.open(entry.wanted.id, socket.remoteAddress) : undefined,
      onDoubt: nodes && (() => nodes.doubt(entry.wanted.id)),
      onLeaving: (leaving) => this.#letGo(entry, leaving),
      onGone: (gone, atFault) => this.#forget(entry, gone, atFault),
    });
    this.#sessions.set(id, session);
    this.#tellOthers(session);
    entry.connected(session, now());
    this.#options.onSeen(entry);
  }

  #tellOthers(session: AgentSession | VisitorSession): void {
    const others = this.#options.nodes()?.others;
    if (others && areSeveral(others)) session.tellServers(others);
  }

  #refuse(offer: Offer, code: Reason, { text = reasons[code], ...more }: Partial<Pick<Refusal, 'text' | 'tls' | 'retryAfterMs'>> = {}): void {
    this.#refused++;
    offer.refuse({ code, text, ...more });
  }

  /** A second agent with the same vkey takes over: the connection of the first one may be dead without having been detected. */
  #replace(entry: ClientEntry, by: ByteSocket): void {
    const old = entry.session;
    if (!old) return;
    this.#options.log.warn({
      clientId: entry.wanted.id,
      was: `${old.address}:${old.port}`,
      now: `${by.remoteAddress}:${by.remotePort}`,
    }, 'a second agent with the same vkey replaces the first');
    old.close('replaced', `another agent connected with the same vkey from ${by.remoteAddress}`);
  }

  #forget(entry: ClientEntry, session: AgentSession, atFault: boolean): void {
    this.#sessions.delete(session.id);
    if (atFault) entry.sessionBroken(this.#options.now());
    if (entry.session !== session) return;
    entry.disconnected(session, this.#options.now(), session.leaving);
    this.#options.onSeen(entry);
  }

  /** An agent that was sent to another server is there, and leaves its open connections. */
  #letGo(entry: ClientEntry, session: AgentSession): void {
    if (!this.#leaving || entry.session !== session) return;
    entry.letGo(this.#options.now());
    this.#options.onSeen(entry);
  }

  /** Agents and visitors are refused. */
  get #closing(): boolean {
    return this.#draining || this.#leaving;
  }
}
