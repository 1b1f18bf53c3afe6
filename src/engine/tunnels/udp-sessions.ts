import type { DatagramSocket } from '../../wire/datagram-socket.ts';
import type { UdpAddress } from '../../wire/udp-socket.ts';

/**
 * Most sessions of one tunnel. Beyond it one that was not used lately makes room: to refuse new ones would let anybody who forges
 * addresses lock the tunnel, and what asks from a new port each time (DNS) leaves many behind that nobody needs.
 */
const MAX_SESSIONS = 4096;
/** How often idle sessions are looked for, as a part of what they may be idle. */
const LOOKS = 12;

interface Entry {
  readonly session: DatagramSocket;
  usedAt: number;
  /** Since it was put where it is in the order of those that make room. */
  used: boolean;
}

/** The sessions of a UDP tunnel by the visitors' addresses, each ended when it was idle for too long. */
export class UdpSessions {
  readonly #idleMs: number;
  readonly #max: number;
  /** In the order in which they make room; whoever was used since goes behind all others when it is his turn. So a datagram changes no order. */
  readonly #entries = new Map<string, Entry>();
  #timer: NodeJS.Timeout | undefined;

  /** @param idleMs how long a session may be idle */
  constructor(idleMs: number, max: number = MAX_SESSIONS) {
    this.#idleMs = idleMs;
    this.#max = max;
  }

  /** The visitor's session, which is in use now; undefined = he has none. */
  use(visitor: UdpAddress): DatagramSocket | undefined {
    const entry = this.#entries.get(keyOf(visitor));
    if (!entry) return undefined;
    touch(entry);
    return entry.session;
  }

  /**
   * Adds a visitor's session; another one may have to end for it.
   * @returns says that it is in use now, without having to look it up
   */
  add(visitor: UdpAddress, session: DatagramSocket): () => void {
    if (this.#entries.size >= this.#max) this.#makeRoom();
    const entry = { session, usedAt: performance.now(), used: false };
    this.#entries.set(keyOf(visitor), entry);
    this.#timer ??= setInterval(() => this.#sweep(), this.#idleMs / LOOKS).unref();
    return () => touch(entry);
  }

  /** The session is over. */
  remove(visitor: UdpAddress, session: DatagramSocket): void {
    const key = keyOf(visitor);
    if (this.#entries.get(key)?.session === session) this.#entries.delete(key);
    this.#restIfEmpty();
  }

  /** Ends every session. */
  closeAll(): void {
    for (const { session } of this.#entries.values()) session.destroy();
  }

  #sweep(): void {
    const latest = performance.now() - this.#idleMs;
    for (const [key, entry] of this.#entries) {
      if (entry.usedAt < latest) this.#end(key, entry);
    }
    this.#restIfEmpty();
  }

  #makeRoom(): void {
    for (const [key, entry] of this.#entries) {
      if (!entry.used) {
        this.#end(key, entry);
        return;
      }
      entry.used = false;
      this.#entries.delete(key);
      this.#entries.set(key, entry);
    }
  }

  #end(key: string, { session }: Entry): void {
    this.#entries.delete(key);
    session.close();
  }

  #restIfEmpty(): void {
    if (this.#entries.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

function touch(entry: Entry): void {
  entry.usedAt = performance.now();
  entry.used = true;
}

function keyOf({ address, port }: UdpAddress): string {
  return `${address} ${port}`;
}
