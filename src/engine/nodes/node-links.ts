import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { NODE_QUIET_MS, type NodeInfo, type NodeLinkKind, type NodeMessage } from '../../wire/node-messages.ts';
import type { SocketBackend } from '../../wire/socket.ts';
import { cleanText } from '../../wire/peer-text.ts';
import { messageOf } from '../../wire/system-error.ts';
import type { LinkKeys } from '../bridge/link-keys.ts';
import { type NodeAddress, NodeLink, type NodePeer } from './node-link.ts';

/** Between attempts to dial a node, in ms: from the first, doubling, to the longest. */
const RETRY = { first: 100, longest: 2000 } as const;

/** Between looks for nodes from which nothing is heard, in ms. */
const LOOK_MS = 100;

/** Most characters of the reason why a node can't be reached. */
const MOST_PROBLEM = 200;

/** A node that can't be reached: since when, in ms since the epoch, and why. */
export interface UnreachedNode {
  readonly name: string;
  readonly since: number;
  readonly problem: string;
}

/** What the links need. */
export interface NodeLinksParts {
  readonly sockets: SocketBackend;
  readonly log: Logger;
  /** The secrets of the links. */
  readonly keys: LinkKeys;
  readonly linkKind: NodeLinkKind;
  readonly name: string;
  readonly version: string;
  /** ms since the epoch by a clock that all nodes have in common. */
  readonly clock: () => number;
  /** A node can be reached from now on, or no longer. */
  readonly onUp: (link: NodeLink) => void;
  readonly onDown: (node: string) => void;
  /** Nothing is heard of a node that can be reached, or something again: it seems to be frozen, or no longer. */
  readonly onQuiet: (node: string, quiet: boolean) => void;
}

/** The sessions that this node has dialed: one with every other node, dialed again whenever it is lost. */
export class NodeLinks {
  readonly #parts: NodeLinksParts;
  readonly #up = new Map<string, NodeLink>();
  /** Those of them of which nothing is heard. */
  readonly #quiet = new WeakSet<NodeLink>();
  #look: NodeJS.Timeout | undefined;
  /** The nodes that are dialed, by name. */
  readonly #peers = new Map<string, NodePeer>();
  readonly #kept = new Set<string>();
  /** Those of the dialed nodes that can't be reached, by name. */
  readonly #unreached = new Map<string, UnreachedNode>();
  readonly #closed = new AbortController();
  #own: NodeInfo | undefined;

  constructor(parts: NodeLinksParts) {
    this.#parts = parts;
  }

  /** From now on other nodes are dialed, and notified of the address of this one. */
  open(own: NodeAddress): void {
    const { name, version } = this.#parts;
    this.#own = { name, version, ...own };
    for (const peer of this.#peers.values()) this.#keep(peer);
    this.#look = setInterval(() => this.#lookForQuiet(), LOOK_MS).unref();
  }

  /** The nodes that there are now. Others are no longer dialed when they are lost. */
  use(peers: readonly NodePeer[]): void {
    this.#peers.clear();
    for (const peer of peers) this.add(peer);
  }

  /** One more node. */
  add(peer: NodePeer): void {
    if (peer.name === this.#parts.name) return;
    this.#peers.set(peer.name, peer);
    this.#keep(peer);
  }

  get(node: string): NodeLink | undefined {
    return this.#up.get(node);
  }

  /** Whether a node can be reached, and something is heard of it. */
  answers(node: string): boolean {
    const link = this.#up.get(node);
    return link !== undefined && !this.#quiet.has(link);
  }

  /** The nodes that can be reached. */
  all(): IterableIterator<NodeLink> {
    return this.#up.values();
  }

  /** The nodes that there are, but that can't be reached. */
  get unreached(): readonly UnreachedNode[] {
    return [...this.#unreached.values()];
  }

  send(message: NodeMessage): void {
    for (const link of this.#up.values()) link.send(message);
  }

  close(): void {
    this.#closed.abort();
    clearInterval(this.#look);
    for (const link of this.#up.values()) link.close();
  }

  #lookForQuiet(): void {
    for (const link of this.#up.values()) {
      // If this process itself was late, the next read delivers what arrived in the meantime.
      if (link.silence > NODE_QUIET_MS !== this.#quiet.has(link)) setImmediate(() => this.#compare(link));
    }
  }

  #compare(link: NodeLink): void {
    const { name } = link.peer;
    const quiet = link.silence > NODE_QUIET_MS;
    if (this.#up.get(name) !== link || quiet === this.#quiet.has(link)) return;
    if (quiet) this.#quiet.add(link);
    else this.#quiet.delete(link);
    this.#parts.log[quiet ? 'warn' : 'info']({ node: name }, quiet ? 'another node does not answer' : 'another node answers again');
    this.#parts.onQuiet(name, quiet);
  }

  #keep({ name }: NodePeer): void {
    if (this.#own === undefined || this.#kept.has(name) || this.#closed.signal.aborted) return;
    this.#kept.add(name);
    void this.#dialAgainAndAgain(name, this.#own).finally(() => {
      this.#kept.delete(name);
      this.#unreached.delete(name);
    });
  }

  async #dialAgainAndAgain(name: string, info: NodeInfo): Promise<void> {
    const { log } = this.#parts;
    let wait: number = RETRY.first;
    for (let failures = 0;; failures++) {
      const peer = this.#peers.get(name);
      if (peer === undefined || this.#closed.signal.aborted) return;
      try {
        const reason = await this.#use(await NodeLink.open({ ...this.#parts, peer, info }));
        if (this.#closed.signal.aborted) return;
        log.warn({ node: name, reason }, 'the session with another node was lost');
        this.#lacks(name, reason);
        wait = RETRY.first;
      } catch (error) {
        this.#lacks(name, messageOf(error));
        log[failures === 0 ? 'warn' : 'debug'](
          { node: name, host: peer.host, port: peer.port },
          `another node cannot be reached: ${messageOf(error)}; if it runs, check its ADIT_NODE_ADDRESS, and the firewall`,
        );
      }
      await delay(wait, undefined, { signal: this.#closed.signal, ref: false }).catch(() => undefined);
      wait = Math.min(wait * 2, RETRY.longest);
    }
  }

  /** Notes why a node can't be reached, now or still. */
  #lacks(name: string, problem: string): void {
    const since = this.#unreached.get(name)?.since ?? Math.round(this.#parts.clock());
    this.#unreached.set(name, { name, since, problem: cleanText(problem, MOST_PROBLEM) });
  }

  /** @returns why it has ended */
  async #use(link: NodeLink): Promise<string> {
    const { name } = link.peer;
    if (this.#closed.signal.aborted) {
      link.close();
      return link.ended;
    }
    this.#up.set(name, link);
    this.#unreached.delete(name);
    this.#parts.log.info({ node: name }, 'connected to another node');
    this.#parts.onUp(link);
    const reason = await link.ended;
    this.#up.delete(name);
    this.#parts.onDown(name);
    return reason;
  }
}
