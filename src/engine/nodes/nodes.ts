import type { Bridge } from '../bridge/bridge.ts';
import type { NodeHandlers } from '../bridge/node-session.ts';
import type { ClientEntry } from '../clients.ts';
import type { Environment } from '../environment.ts';
import type { EngineEvent } from '../face.ts';
import type { HealthMessage } from '../../wire/health.ts';
import type { Stream } from '../../wire/mux.ts';
import type { Opener } from '../../wire/stream.ts';
import { decodeNodeRequest, type NodeInfo, type NodeMessage } from '../../wire/node-messages.ts';
import type { OtherServer } from '../../wire/other-servers.ts';
import { ask } from './ask.ts';
import { Acquaintance } from './acquaintance.ts';
import { AwaitedHomes } from './awaited-homes.ts';
import { type ChangedRecord, ChangedRecords } from './changed-records.ts';
import { HealthNews } from './health-news.ts';
import { HomeNews } from './home-news.ts';
import { HomeOpener } from './home-opener.ts';
import { type Home, Homes } from './homes.ts';
import type { NodeOptions, OtherNodes } from '../other-nodes.ts';
import { KnownCounters } from './known-counters.ts';
import { totalsAnswer } from './node-answers.ts';
import type { NodeAddress, NodeLink, NodePeer } from './node-link.ts';
import { NodeLinks } from './node-links.ts';
import type { NodeRequests } from './node-requests.ts';
import { OtherPlaces } from './other-places.ts';
import { chosenNode } from './rank.ts';

/** What the nodes use of the rest of the engine. */
export interface NodesParts {
  readonly environment: Environment;
  readonly requests: NodeRequests;
  /** The agent of a client connected or disconnected, here or at another node. */
  readonly onSeen: (entry: ClientEntry) => void;
  /** An agent's report on health, which another node has received. */
  readonly onHealth: (entry: ClientEntry, report: HealthMessage) => void;
  /** Tells agents and visitor programs of the servers that they can go to, and sends them there. */
  readonly bridge: Pick<Bridge, 'tellServers' | 'leave'>;
}

/**
 * The other servers of the installation. The home of a client is the node that its agent is connected to: all traffic of the client goes through it, so that it
 * alone counts and limits. Without an agent (local_proxy), it is a node that all nodes choose alike.
 */
export class Nodes implements OtherNodes, NodeHandlers {
  readonly #options: NodeOptions;
  readonly #parts: NodesParts;
  readonly #links: NodeLinks;
  readonly #homes = new Homes();
  readonly #awaited: AwaitedHomes;
  readonly #counters: KnownCounters;
  readonly #news: HomeNews;
  readonly #changed: ChangedRecords;
  readonly #health: HealthNews;
  readonly #places: OtherPlaces;
  readonly #acquaintance = new Acquaintance();

  constructor(options: NodeOptions, parts: NodesParts) {
    this.#options = options;
    this.#parts = parts;
    const { agentSockets: sockets, log } = parts.environment;
    this.#links = new NodeLinks({ ...options, sockets, log, onUp: (link) => this.#onUp(link), onDown: (node) => this.#onReachable(node) });
    this.#places = new OtherPlaces(options.name, (others) => parts.bridge.tellServers(others));
    this.#counters = new KnownCounters({
      environment: parts.environment,
      amongOthers: options.amongOthers ?? false,
      stored: options.storedTotals ?? (() => Promise.resolve(undefined)),
      counted: async (clientId, node) => {
        const link = this.#links.get(node);
        return link && await ask(link, { kind: 'totals', clientId }, totalsAnswer) || undefined;
      },
    });
    this.#awaited = new AwaitedHomes((clientId, ...given) => {
      const link = this.linkTo(clientId);
      return link ? new HomeOpener(link, clientId).open(...given) : parts.requests.open(clientId, ...given);
    }, log);
    this.#news = new HomeNews(options.name, this.#homes, (message) => this.#links.send(message));
    this.#changed = new ChangedRecords(parts.environment, (records) => this.#sendChanged(records));
    this.#health = new HealthNews(parts.requests, (clientId) => this.isHome(clientId));
  }

  /** The name of this node. */
  get name(): string {
    return this.#options.name;
  }

  /** @see NodeOptions */
  get key(): string {
    return this.#options.key;
  }

  open(own: NodeAddress): void {
    this.#links.open(own);
  }

  /** The nodes that there are now. Others are no longer dialed when they are lost. */
  use(nodes: readonly NodePeer[]): void {
    this.#links.use(nodes);
    this.#places.use(nodes);
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

  /** Where agents and visitor programs find the other nodes. */
  get others(): readonly OtherServer[] {
    return this.#places.others;
  }

  close(): void {
    this.#awaited.close();
    this.#news.stop();
    this.#changed.stop();
    this.#health.stop();
    this.#links.close();
  }

  /** The session with the client's home; undefined = that is this node, or it can't be reached. */
  linkTo(clientId: number): NodeLink | undefined {
    const home = this.#homes.get(clientId);
    return home?.connected === true && home.node !== this.name ? this.#links.get(home.node) : undefined;
  }

  reaches(clientId: number): boolean {
    return this.linkTo(clientId) !== undefined;
  }

  openerTo(clientId: number, localProxy: boolean): Opener | undefined {
    const link = this.linkTo(clientId) ?? (localProxy && this.#homes.get(clientId)?.connected !== true ? this.#links.get(this.#chosen(clientId)) : undefined);
    if (link) return new HomeOpener(link, clientId);
    return localProxy || this.#parts.environment.clients.get(clientId)?.session ? undefined : this.#awaited.opener(clientId);
  }

  isHome(clientId: number): boolean {
    return this.#homeOf(clientId) === this.name;
  }

  /** The other nodes that may have counted for a client until now: the one that its agent was connected to, and the one that was its home without an agent. */
  #before(clientId: number): string[] {
    return [...new Set([this.#homes.get(clientId)?.node ?? this.name, this.#homeOf(clientId)])].filter((node) => node !== this.name);
  }

  #homeOf(clientId: number): string {
    const home = this.#homes.get(clientId);
    return home?.connected === true && (home.node === this.name || this.#links.get(home.node) !== undefined) ? home.node : this.#chosen(clientId);
  }

  /** Whether this node stores the counters of a client: it is the home, and knows what was counted before. */
  counts(clientId: number): boolean {
    if (!this.isHome(clientId)) return false;
    this.#counters.learn(clientId, this.#before(clientId));
    return this.#counters.has(clientId);
  }

  /** The node that is home of a client without an agent: the same for all nodes that reach each other. */
  #chosen(clientId: number): string {
    const reached = [this.name, ...Array.from(this.#links.all(), ({ peer }) => peer.name)];
    return chosenNode(reached.filter((name) => !this.#places.isLeaving(name)), clientId) ?? this.name;
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
    this.#homes.learn(clientId, { node: this.name, epoch: this.#homes.nextEpoch(clientId, this.#parts.environment.now()), connected: true, ended: false });
    this.#news.moved(clientId);
    this.#awaited.found(clientId);
  }

  agentDisconnected(clientId: number, ended: boolean): void {
    const home = this.#homes.get(clientId);
    if (home?.node !== this.name || !this.#homes.learn(clientId, { ...home, connected: false, ended })) return;
    this.#news.moved(clientId);
    this.#await(clientId);
  }

  forget(clientId: number): void {
    this.#homes.forget(clientId);
  }

  #learn(clientId: number, home: Home): void {
    if (!this.#homes.learn(clientId, home)) return;
    this.#counters.lose(clientId);
    this.#await(clientId);
    const entry = this.#parts.environment.clients.get(clientId);
    if (!entry) return;
    // What is left here of a session that the agent has given up would never end by itself, unless the agent was sent away.
    if (this.#places.isLeaving(this.name)) entry.letGo(this.#parts.environment.now());
    else entry.session?.close('replaced', 'an agent with the same vkey connected to another server of the installation');
    this.#changed.hear(() => this.#parts.onSeen(entry));
  }

  /** Where the client's agent is has changed: connections wait for an agent that is nowhere, unless it has ended. */
  #await(clientId: number): void {
    const home = this.#homes.get(clientId);
    const nowhere = home && (home.connected ? home.node !== this.name && !this.#links.get(home.node) : !home.ended);
    if (nowhere && this.others.length > 0) this.#awaited.lost(clientId);
    else this.#awaited.found(clientId);
  }

  /** This node has added to the log of changes. */
  committed(): void {
    this.#links.send({ type: 'committed' });
  }

  allowed(clientId: number, address: string): void {
    this.#links.send({ type: 'allowed', clientId, address });
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
    for (const message of this.#news.all()) link.send(message);
    this.#health.up(link);
    this.#onReachable(link.peer.name);
  }

  /** The node can be reached from now on, or no longer. */
  #onReachable(node: string): void {
    this.#acquaintance.reached(node, this.#links.get(node) !== undefined);
    this.#counters.loseOthers();
    if (!this.#links.get(node)) this.#health.down(node);
    for (const [clientId, { connected }] of this.#homes.of(node)) {
      if (connected) this.#await(clientId);
      const entry = connected ? this.#parts.environment.clients.get(clientId) : undefined;
      if (entry) this.#changed.hear(() => this.#parts.onSeen(entry));
    }
  }

  onNode(info: NodeInfo): void {
    this.#acquaintance.reported(info.name, false);
    this.#places.leaves(info.name, false);
    this.#links.add(info);
    this.#places.add(info);
  }

  onStream(stream: Stream, payload: Buffer): void {
    const decoded = decodeNodeRequest(payload);
    if (decoded) this.#parts.requests.take(stream, decoded.request, decoded.rest);
    else stream.reset();
  }

  onMessage(node: string, message: NodeMessage): void {
    const { clients, now } = this.#parts.environment;
    switch (message.type) {
      case 'homes':
        for (const [clientId, epoch, connected, ended] of message.homes) this.#learn(clientId, { node, epoch, connected, ended });
        break;
      case 'changed':
        this.#changed.hear(() => message.records.forEach(([kind, id]) => this.#parts.environment.tell(kind, id)));
        break;
      case 'health': {
        const entry = clients.get(message.clientId);
        if (entry && this.#homes.get(message.clientId)?.node === node) this.#changed.hear(() => this.#parts.onHealth(entry, message.report));
        break;
      }
      case 'allowed':
        clients.get(message.clientId)?.allow(message.address, now());
        break;
      case 'allHomes':
        this.#acquaintance.reported(node, true);
        break;
      case 'leaving':
        if (this.#places.leaves(node, message.on)) this.#counters.loseOthers();
        break;
      case 'committed':
        this.#options.onCommitted?.();
    }
  }
}
