import type { DatagramSocket } from '../../wire/datagram-socket.ts';
import type { UdpAddress } from '../../wire/udp-socket.ts';

/**
 * Most sessions of one tunnel. Beyond it the one that was idle the longest makes room: to refuse new ones would let anybody who forges
 * addresses lock the tunnel, and what asks from a new port each time (DNS) leaves many behind that nobody needs.
 */
const MAX_SESSIONS = 4096;
/** How often idle sessions are looked for, as a part of what they may be idle. */
const LOOKS = 12;

interface Entry {
  readonly session: DatagramSocket;
  usedAt: number;
}

/** The sessions of a UDP tunnel by the visitors' addresses, each ended when it was idle for too long. */
export class UdpSessions {
  readonly #idleMs: number;
  readonly #max: number;
  /** The one that was idle the longest comes first. */
  readonly #entries = new Map<string, Entry>();
  #timer: NodeJS.Timeout | undefined;

  /** @param idleMs how long a session may be idle */
  constructor(idleMs: number, max: number = MAX_SESSIONS) {
    this.#idleMs = idleMs;
    this.#max = max;
  }

  /** The visitor's session, which is in use now; undefined = he has none. */
  use(visitor: UdpAddress): DatagramSocket | undefined {
    const key = keyOf(visitor);
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    entry.usedAt = performance.now();
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.session;
  }

  /** Adds a visitor's session; another one may have to end for it. */
  add(visitor: UdpAddress, session: DatagramSocket): void {
    this.#endWhile(() => this.#entries.size >= this.#max);
    this.#entries.set(keyOf(visitor), { session, usedAt: performance.now() });
    this.#timer ??= setInterval(() => this.#sweep(), this.#idleMs / LOOKS).unref();
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
    this.#endWhile(({ usedAt }) => usedAt < latest);
    this.#restIfEmpty();
  }

  /** Ends sessions, from the one that was idle the longest on. */
  #endWhile(condition: (entry: Entry) => boolean): void {
    for (const [key, entry] of this.#entries) {
      if (!condition(entry)) return;
      this.#entries.delete(key);
      entry.session.close();
    }
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
