// Longer than 300 lines: what nodes tell each other, and what follows from it, is in one place. The parts, each in a file of its own, know nothing of one another.
import type { Bridge } from '../bridge/bridge.ts';
import { LinkKeys } from '../bridge/link-keys.ts';
import type { NodeHandlers } from '../bridge/node-session.ts';
import type { ClientEntry } from '../clients.ts';
import type { Environment } from '../environment.ts';
import type { DifferentSettings, EngineEvent } from '../face.ts';
import type { HealthMessage } from '../../wire/health.ts';
import type { Stream } from '../../wire/mux.ts';
import type { Opener } from '../../wire/stream.ts';
import { decodeNodeRequest, type NodeInfo, type NodeLinkKind } from '../../wire/node-messages.ts';
import { areSeveral, type OtherServers } from '../../wire/other-servers.ts';
import { ask } from './ask.ts';
import { Absence } from './absence.ts';
import { Acquaintance } from './acquaintance.ts';
import { type ChangedRecord, ChangedRecords } from './changed-records.ts';
import { ComparedSettings } from './compared-settings.ts';
import { GuessNews } from './guess-news.ts';
import { HealthNews } from './health-news.ts';
import { HomeNews } from './home-news.ts';
import { HomePaths } from './home-paths.ts';
import { type Home, Homes } from './homes.ts';
import type { NodeOptions, OtherNodes } from '../other-nodes.ts';
import { KnownCounters } from './known-counters.ts';
import { Members } from './members.ts';
import { totalsAnswer } from './node-answers.ts';
import type { NodeAddress, NodeLink, NodePeer } from './node-link.ts';
import { NodeLinks, type UnreachedNode } from './node-links.ts';
import type { NodeRequests } from './node-requests.ts';
import { OtherPlaces } from './other-places.ts';
import { chosenNode } from './rank.ts';

/** How long the previous secret of the links is accepted, in ms: others notice within 3 s that it was replaced. */
const KEY_GRACE_MS = 10_000;

/** What the nodes use of the rest of the engine. */
export interface NodesParts {
  readonly environment: Environment;
  readonly requests: NodeRequests;
  /** The agent of a client connected or disconnected, here or at another node. */
  readonly onSeen: (entry: ClientEntry) => void;
  /** An agent's report on health, which another node has received. */
  readonly onHealth: (entry: ClientEntry, report: HealthMessage) => void;
  /** Tells agents and visitor programs of the servers that they can go to, and sends them there. Has the sessions that other nodes have dialed. */
  readonly bridge: Pick<Bridge, 'tellServers' | 'leave' | 'hasVisitors' | 'checkNodes' | 'silences'>;
}

/**
 * The other servers of the installation. The home of a client is the node that its agent is connected to: all traffic of the client goes through it, so that it
 * alone counts and limits. Without an agent (local_proxy), it is a node that all nodes choose alike, or none ({@link Members}).
 */
export class Nodes implements OtherNodes, NodeHandlers {
  readonly #options: NodeOptions;
  /** The secrets of the links. */
  readonly keys: LinkKeys;
  readonly linkKind: NodeLinkKind;
  readonly #parts: NodesParts;
  readonly #links: NodeLinks;
  readonly #homes = new Homes();
  readonly #paths: HomePaths;
  readonly #counters: KnownCounters;
  readonly #news: HomeNews;
  readonly #changed: ChangedRecords;
  readonly #health: HealthNews;
  readonly #guesses: GuessNews;
  readonly #places: OtherPlaces;
  readonly #acquaintance = new Acquaintance();
  readonly #absence: Absence;
  readonly #members = new Members();
  /** The clients whose homes a node has reported since its session began, until it has reported all. */
  readonly #reported = new Map<string, Set<number>>();
  #closed = false;
  /** Until the previous secret of the links is no longer accepted. */
  #replacing: NodeJS.Timeout | undefined;
  /** Set when others can reach this node. */
  #settings: ComparedSettings | undefined;

  constructor(options: NodeOptions, parts: NodesParts) {
    this.#options = options;
    this.keys = new LinkKeys(options.key);
    this.#parts = parts;
    const { agentSockets: sockets, log } = parts.environment;
    this.linkKind = options.links ?? 'tls';
    this.#links = new NodeLinks({
      ...options,
      linkKind: this.linkKind,
      keys: this.keys,
      clock: options.clock ?? parts.environment.now,
      sockets,
      log,
      onUp: (link) => this.#onUp(link),
      onDown: (node) => this.#onReachable(node),
      onQuiet: (node, quiet) => this.#paths.quiet(node, quiet),
    });
    this.#places = new OtherPlaces(options.name, options.siblings ?? new Set(), (others) => parts.bridge.tellServers(others));
    this.#counters = new KnownCounters({
      environment: parts.environment,
      amongOthers: options.amongOthers ?? false,
      stored: options.storedTotals ?? (() => Promise.resolve(undefined)),
      counted: async (clientId, node) => {
        const link = this.#links.get(node);
        return link && await ask(link, { kind: 'totals', clientId }, totalsAnswer) || undefined;
      },
    });
    this.#paths = new HomePaths({
      ...parts,
      own: options.name,
      homes: this.#homes,
      links: this.#links,
      homeOf: (clientId) => this.#homeOf(clientId),
      isHome: (clientId) => this.isHome(clientId),
      hasOthers: () => areSeveral(this.others),
    });
    this.#absence = new Absence(() => new Map(Array.from(parts.bridge.silences()).filter(([node]) => !this.#reported.has(node))));
    this.#news = new HomeNews(options.name, this.#homes, (message) => this.#links.send(message));
    this.#changed = new ChangedRecords(parts.environment, (records) => this.#sendChanged(records));
    this.#guesses = new GuessNews(parts.environment.attempts, parts.environment.now, (message) => this.#links.send(message));
    this.#health = new HealthNews(parts.requests, (clientId) => this.isHome(clientId));
  }

  /** The name of this node. */
  get name(): string {
    return this.#options.name;
  }

  /**
   * Replaces the secret of the links, without ending a session with a node that has the new one, too.
   * @param current used from now on @param next accepted, too, since it replaces the other one soon @param graceMs how long other nodes may take to prove that they have the new one
   */
  useKey(current: string, next?: string, graceMs = KEY_GRACE_MS): void {
    const before = this.keys.current;
    if (current === before) {
      // Without a next one, the previous one stays accepted for its time.
      if (next !== undefined || this.#replacing === undefined) this.keys.use(current, next);
      return;
    }
    this.keys.use(current, before);
    for (const link of this.#links.all()) link.proveKey();
    clearTimeout(this.#replacing);
    this.#replacing = setTimeout(() => {
      this.#replacing = undefined;
      this.keys.forget(before);
      for (const link of this.#links.all()) link.checkSecret();
      this.#parts.bridge.checkNodes();
    }, graceMs).unref();
  }

  /** The other nodes that are processes on the same machine. */
  get siblings(): ReadonlySet<string> {
    return this.#options.siblings ?? new Set();
  }

  /** One of them serves: what comes to the ports is served, whatever this one does. */
  get siblingServes(): boolean {
    return this.#places.others.here && Array.from(this.#links.all()).some(({ peer }) => this.siblings.has(peer.name) && !this.#places.isLeaving(peer.name));
  }

  /** @param startedAt when this node was started, by the database's clock, in ms since the epoch */
  open(own: NodeAddress, startedAt: number): void {
    this.#settings = new ComparedSettings(this.name, { startedAt, settings: this.#options.settings ?? {} }, this.#parts.environment.log);
    this.#links.open(own);
  }

  /** The settings of nodes that can be reached and are not leaving, as far as they differ from those of this one although they must not. */
  get differentSettings(): readonly DifferentSettings[] {
    return this.#settings?.differences((node) => this.#links.get(node) !== undefined && !this.#places.isLeaving(node)) ?? [];
  }

  /** The nodes that are alive now by the database. Others are no longer dialed when they are lost. @param reportedAt when the report of this node began that came before, by {@link awakeNow} */
  use(nodes: readonly NodePeer[], reportedAt: number): void {
    this.#links.use(nodes);
    const changed = this.#places.use(nodes);
    const gap = this.#members.read(reportedAt);
    // Another node may have been home meanwhile.
    if (changed || gap && this.#places.names.length > 0) this.#counters.loseOthers();
    this.#paths.again();
  }

  /** The other nodes that this one can't reach, although the database says that they run. */
  get unreached(): readonly UnreachedNode[] {
    return this.#links.unreached;
  }

  /** Resolves when all other nodes have reported their agents. @returns the names of those that have not within `ms` */
  acquainted(ms: number): Promise<readonly string[]> {
    return this.#acquaintance.with(this.#places.names, ms);
  }

  /** Other nodes take over the clients of this one, or no longer. Open connections go on. */
  leave(on: boolean): void {
    this.#parts.bridge.leave(on);
    this.#places.leaves(this.name, on);
    this.#links.send({ type: 'leaving', on });
  }

  /** There are agents that have this node as home. */
  get hasAgents(): boolean {
    for (const [, { connected }] of this.#homes.of(this.name)) if (connected) return true;
    return false;
  }

  /** There are visitor programs that open connections here, and have not gone to another node. */
  get hasVisitors(): boolean {
    return this.#parts.bridge.hasVisitors;
  }

  /** Where agents and visitor programs find the other nodes. */
  get others(): OtherServers {
    return this.#places.others;
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#replacing);
    this.#paths.close();
    this.#absence.stop();
    this.#news.stop();
    this.#changed.stop();
    this.#health.stop();
    this.#guesses.stop();
    this.#links.close();
  }

  /** The session with the client's home; undefined = that is this node, or it can't be reached. */
  linkTo(clientId: number): NodeLink | undefined {
    return this.#paths.linkTo(clientId);
  }

  reaches(clientId: number): boolean {
    return this.linkTo(clientId) !== undefined;
  }

  openerTo(clientId: number, localProxy: boolean): Opener | undefined {
    return this.#paths.openerTo(clientId, localProxy);
  }

  isHome(clientId: number): boolean {
    if (this.#homeOf(clientId) !== this.name) return false;
    const home = this.#homes.get(clientId);
    if (home?.connected === true && home.node === this.name) return true;
    return this.#members.seen || this.#places.names.every((node) => this.#links.get(node) !== undefined || this.#places.isLeaving(node));
  }

  /** The other nodes that may have counted for a client until now: the one that its agent was connected to, and the one that was its home without an agent. */
  #before(clientId: number): string[] {
    return [...new Set([this.#homes.get(clientId)?.node ?? this.name, this.#homeOf(clientId)])].filter((node) => node !== this.name);
  }

  #homeOf(clientId: number): string {
    const home = this.#homes.get(clientId);
    return home?.connected === true && this.#candidates().has(home.node) ? home.node : this.#chosen(clientId);
  }

  upToDate(ms: number): Promise<boolean> {
    return this.#absence.over(ms);
  }

  /** The node that the client's agent is connected to; undefined = it is not connected, or there is no other node. */
  nodeOf(clientId: number): string | undefined {
    const home = this.#homes.get(clientId);
    const reached = home?.connected === true && (home.node === this.name || this.#links.get(home.node) !== undefined);
    return reached && this.#places.names.length > 0 ? home.node : undefined;
  }

  /** Whether this node stores the counters of a client: it is the home, and knows what was counted before. */
  counts(clientId: number): boolean {
    // The others cannot be reached any more: what this node has counted as the home is stored a last time.
    if (this.#closed) return this.#counters.has(clientId);
    if (!this.isHome(clientId)) return false;
    this.#counters.learn(clientId, this.#before(clientId));
    return this.#counters.has(clientId);
  }

  /** The node that is home of a client without an agent: the same for all nodes that read the same database, even if they do not reach each other. */
  #chosen(clientId: number): string {
    return chosenNode([...this.#candidates()].filter((name) => !this.#places.isLeaving(name)), clientId) ?? this.name;
  }

  /** The nodes that may be home of a client. */
  #candidates(): Set<string> {
    return new Set([this.name, ...this.#places.names, ...Array.from(this.#links.all(), ({ peer }) => peer.name)]);
  }

  /** The client of a record; undefined = there is no such record. */
  clientOf(kind: EngineEvent['kind'], id: number): number | undefined {
    return this.#parts.requests.clientOf(kind, id);
  }

  /** The sessions with all nodes that can be reached. */
  links(): IterableIterator<NodeLink> {
    return this.#links.all();
  }

  /** A client's agent has connected to this node, which is its home from now on. */
  agentConnected(clientId: number): void {
    if (!this.isHome(clientId)) this.#counters.lose(clientId);
    this.#counters.learn(clientId, this.#before(clientId));
    const now = (this.#options.clock ?? this.#parts.environment.now)();
    this.#homes.learn(clientId, { node: this.name, epoch: this.#homes.nextEpoch(clientId, now), connected: true, ended: false });
    this.#news.moved(clientId);
    this.#paths.changed(clientId);
  }

  agentDisconnected(clientId: number, ended: boolean): void {
    const home = this.#homes.get(clientId);
    if (home?.node !== this.name || !this.#homes.learn(clientId, { ...home, connected: false, ended })) return;
    this.#news.moved(clientId);
    this.#paths.changed(clientId);
  }

  forget(clientId: number): void {
    this.#homes.forget(clientId);
  }

  #learn(clientId: number, home: Home): void {
    if (!this.#homes.learn(clientId, home)) return;
    this.#counters.lose(clientId);
    this.#paths.changed(clientId);
    const entry = this.#parts.environment.clients.get(clientId);
    if (!entry) return;
    // What is left here of a session that the agent has given up would never end by itself, unless the agent was sent away.
    if (this.#places.isLeaving(this.name)) entry.letGo(this.#parts.environment.now());
    else entry.session?.close('replaced', 'an agent with the same vkey connected to another server of the installation');
    this.#changed.hear(() => this.#parts.onSeen(entry));
  }

  /** This node has added to the log of changes. */
  committed(): void {
    this.#links.send({ type: 'committed' });
  }

  allowed(clientId: number, address: string): void {
    this.#links.send({ type: 'allowed', clientId, address });
  }

  /** A client's agent, which is connected here, does not answer: another node, with which it has a session in reserve, has it ask. */
  doubt(clientId: number): void {
    this.#links.send({ type: 'doubt', clientId });
  }

  health(clientId: number, report: HealthMessage): void {
    this.#health.add(clientId, report);
  }

  /** The state of clients whose home is here is news for other nodes. */
  #sendChanged(records: ChangedRecord[]): void {
    const own = records.filter(([kind, id]) => {
      const clientId = this.clientOf(kind, id);
      return clientId !== undefined && this.isHome(clientId);
    });
    if (own.length > 0) this.#links.send({ type: 'changed', records: own });
  }

  #onUp(link: NodeLink): void {
    if (this.#places.isLeaving(this.name)) link.send({ type: 'leaving', on: true });
    if (this.#settings) link.send({ type: 'settings', ...this.#settings.own });
    this.#news.tellAll(link);
    this.#health.up(link);
    this.#onReachable(link.peer.name);
  }

  /** The node can be reached from now on, or no longer. */
  #onReachable(node: string): void {
    this.#acquaintance.reached(node, this.#links.get(node) !== undefined);
    this.#counters.loseOthers();
    this.#paths.again();
    if (!this.#links.get(node)) this.#health.down(node);
    for (const [clientId, { connected }] of this.#homes.of(node)) {
      if (connected) this.#paths.changed(clientId);
      const entry = connected ? this.#parts.environment.clients.get(clientId) : undefined;
      if (entry) this.#changed.hear(() => this.#parts.onSeen(entry));
    }
  }

  onNode(info: NodeInfo): void {
    this.#acquaintance.reported(info.name, false);
    this.#reported.set(info.name, new Set());
    this.#places.leaves(info.name, false);
    this.#links.add(info);
    this.#places.add(info);
  }

  /** A node has reported all: other agents are no longer connected to it, since it was started again. */
  #forgetUnreported(node: string): void {
    const reported = this.#reported.get(node);
    this.#reported.delete(node);
    if (!reported) return;
    for (const [clientId, home] of this.#homes.of(node)) if (home.connected && !reported.has(clientId)) this.#learn(clientId, { ...home, connected: false });
  }

  onStream(stream: Stream, payload: Buffer): void {
    const decoded = decodeNodeRequest(payload);
    if (decoded) this.#parts.requests.take(stream, decoded.request, decoded.rest);
    else stream.reset();
  }

  onMessage(node: string, message: Parameters<NodeHandlers['onMessage']>[1]): void {
    const { clients, now } = this.#parts.environment;
    switch (message.type) {
      case 'homes':
        for (const [clientId, epoch, connected, ended] of message.homes) {
          this.#reported.get(node)?.add(clientId);
          this.#learn(clientId, { node, epoch, connected, ended });
        }
        break;
      case 'changed':
        this.#changed.hear(() => message.records.forEach(([kind, id]) => this.#parts.environment.tell(kind, id)));
        break;
      case 'health': {
        const entry = clients.get(message.clientId);
        if (entry && this.#homes.get(message.clientId)?.node === node) this.#changed.hear(() => this.#parts.onHealth(entry, message.report));
        break;
      }
      case 'doubt':
        if (this.#homes.get(message.clientId)?.node === node) clients.get(message.clientId)?.standby?.doubt();
        break;
      case 'allowed':
        clients.get(message.clientId)?.allow(message.address, now());
        break;
      case 'guesses':
        this.#guesses.hear(message.guesses);
        break;
      case 'freed':
        this.#guesses.hearFreed(message.source);
        break;
      case 'settings':
        this.#settings?.compare(node, message);
        break;
      case 'allHomes':
        this.#forgetUnreported(node);
        this.#acquaintance.reported(node, true);
        break;
      case 'leaving':
        if (this.#places.leaves(node, message.on)) {
          this.#counters.loseOthers();
          this.#paths.again();
        }
        break;
      case 'committed':
        this.#options.onCommitted?.();
    }
  }
}
