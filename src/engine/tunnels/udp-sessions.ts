import { NETWORK_BITS } from '../../rules/connection-shares.ts';
import { networkOf } from '../../rules/ip-address.ts';
import { Place, UseOrder } from '../../rules/use-order.ts';
import type { DatagramSocket } from '../../wire/datagram-socket.ts';
import { unmapped } from '../../wire/mapped-address.ts';
import type { UdpAddress } from '../../wire/udp-socket.ts';

/** Most sessions of one tunnel. */
export interface UdpSessionLimits {
  /**
   * Beyond that, a new session evicts an old one. If new sessions were refused instead, anybody who forges addresses could block the tunnel; also, clients
   * that use a new port for each request (DNS) leave many unused sessions.
   */
  readonly total: number;
  /** Maximum for one address, and for one /64 of IPv6; beyond that, one of its own sessions is evicted. */
  readonly perAddress: number;
  /** Sessions of holders with more than this are evicted first; otherwise the least recently used one. */
  readonly fair: number;
}

const LIMITS: UdpSessionLimits = { total: 4096, perAddress: 1024, fair: 64 };
/** How many times per idle timeout idle sessions are searched for. */
const LOOKS = 12;

/** The sessions of an address, or of a /64 of IPv6. */
type Holder = UseOrder<Entry>;

class Entry {
  readonly key: string;
  readonly session: DatagramSocket;
  readonly network: string;
  readonly holder: Holder;
  /** Its place among all sessions. */
  readonly place = new Place<Entry>(this);
  /** Its place among its holder's sessions. */
  readonly held = new Place<Entry>(this);
  usedAt = performance.now();
  /** It was removed from all orders; answers may still arrive. */
  over = false;

  constructor(key: string, session: DatagramSocket, network: string, holder: Holder) {
    this.key = key;
    this.session = session;
    this.network = network;
    this.holder = holder;
  }
}

/** The sessions of a UDP tunnel by the visitors' addresses, each ended when it was idle for too long. */
export class UdpSessions {
  readonly #idleMs: number;
  readonly #limits: UdpSessionLimits;
  readonly #trusts: (address: string) => boolean;
  readonly #entries = new Map<string, Entry>();
  readonly #order = new UseOrder<Entry>();
  readonly #holders = new Map<string, Holder>();
  /** Holders with more than `fair` sessions: `total / fair` at most. */
  readonly #large = new Set<Holder>();
  #timer: NodeJS.Timeout | undefined;

  /** @param idleMs how long a session may be idle @param trusts whether an address is a trusted proxy's, which has no share: it carries many visitors */
  constructor(idleMs: number, trusts: (address: string) => boolean, limits: UdpSessionLimits = LIMITS) {
    this.#idleMs = idleMs;
    this.#limits = limits;
    this.#trusts = trusts;
  }

  /** The visitor's session, which is marked as used; undefined = there is none. */
  use(visitor: UdpAddress): DatagramSocket | undefined {
    const entry = this.#entries.get(keyOf(visitor));
    if (!entry) return undefined;
    this.#touch(entry);
    return entry.session;
  }

  /**
   * Adds a visitor's session; another one may be evicted for it.
   * @returns marks the session as used, without a lookup
   */
  add(visitor: UdpAddress, session: DatagramSocket): () => void {
    // Behind a proxy, each session counts as a holder of its own.
    const network = this.#trusts(unmapped(visitor.address)) ? keyOf(visitor) : networkOf(visitor.address, NETWORK_BITS);
    if ((this.#holders.get(network)?.size ?? 0) >= this.#limits.perAddress) this.#end(this.#holders.get(network)?.oldest);
    else if (this.#order.size >= this.#limits.total) this.#end((this.#largest() ?? this.#order).oldest);
    const holder = this.#holders.get(network) ?? new UseOrder();
    this.#holders.set(network, holder);
    const entry = new Entry(keyOf(visitor), session, network, holder);
    this.#entries.set(entry.key, entry);
    this.#order.add(entry.place);
    holder.add(entry.held);
    if (holder.size > this.#limits.fair) this.#large.add(holder);
    this.#timer ??= setInterval(() => this.#sweep(), this.#idleMs / LOOKS).unref();
    return () => this.#touch(entry);
  }

  /** The session is over. */
  remove(visitor: UdpAddress, session: DatagramSocket): void {
    const entry = this.#entries.get(keyOf(visitor));
    if (entry?.session === session) this.#forget(entry);
    this.#restIfEmpty();
  }

  /** Ends every session. */
  closeAll(): void {
    for (const { session } of this.#entries.values()) session.destroy();
  }

  #touch(entry: Entry): void {
    if (entry.over) return;
    entry.usedAt = performance.now();
    this.#order.use(entry.place);
    entry.holder.use(entry.held);
  }

  #sweep(): void {
    const latest = performance.now() - this.#idleMs;
    for (let { oldest } = this.#order; oldest !== undefined && oldest.usedAt < latest; { oldest } = this.#order) this.#end(oldest);
    this.#restIfEmpty();
  }

  /** The holder with the most sessions, if they are more than `fair`. */
  #largest(): Holder | undefined {
    let largest: Holder | undefined;
    for (const holder of this.#large) {
      if (holder.size > (largest?.size ?? 0)) largest = holder;
    }
    return largest;
  }

  #end(entry: Entry | undefined): void {
    if (entry === undefined) return;
    this.#forget(entry);
    entry.session.close();
  }

  #forget(entry: Entry): void {
    const { key, network, holder } = entry;
    entry.over = true;
    this.#entries.delete(key);
    this.#order.delete(entry.place);
    holder.delete(entry.held);
    if (holder.size <= this.#limits.fair) this.#large.delete(holder);
    if (holder.size === 0) this.#holders.delete(network);
  }

  #restIfEmpty(): void {
    if (this.#entries.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

function keyOf({ address, port }: UdpAddress): string {
  return `${address} ${port}`;
}
