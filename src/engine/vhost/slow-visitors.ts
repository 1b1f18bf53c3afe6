import type { VhostConnection } from './connection.ts';
import type { Http2Session } from './http2-session.ts';

/** How long a visitor and a target may take, in ms. */
export interface VhostTiming {
  /** From the first byte of a request, or the connection, to the end of its head. */
  readonly headMs: number;
  /** Between two requests. */
  readonly idleMs: number;
  /** From the end of the request to the head of the response. */
  readonly responseMs: number;
  /** A body has to bring `BODY_FLOOR` bytes a second, measured over this long; an answer that waits must be taken in it. */
  readonly stallMs: number;
  /** A connection to a target may wait so long for the visitor's next request. */
  readonly targetIdleMs: number;
}

/** The times in use. */
export const VHOST_TIMING: VhostTiming = { headMs: 10_000, idleMs: 60_000, responseMs: 60_000, stallMs: 20_000, targetIdleMs: 15_000 };
/** The least that a visitor has to send of a body while he is listened to, in bytes a second. */
const BODY_FLOOR = 500;
/** How often all connections are looked at: cheaper than a timer for each. */
const LOOK_MS = 1000;

/** Ends the connections that take too long: every one holds a file descriptor and memory. */
export class SlowVisitors {
  readonly #connections: ReadonlySet<VhostConnection>;
  readonly #sessions: ReadonlySet<Http2Session>;
  readonly #timing: VhostTiming;
  #timer: NodeJS.Timeout | undefined;

  constructor(connections: ReadonlySet<VhostConnection>, sessions: ReadonlySet<Http2Session>, timing: VhostTiming) {
    this.#connections = connections;
    this.#sessions = sessions;
    this.#timing = timing;
  }

  start(): void {
    const least = Math.min(this.#timing.headMs, this.#timing.idleMs, this.#timing.responseMs, this.#timing.stallMs, LOOK_MS * 2);
    this.#timer = setInterval(() => this.look(performance.now()), least / 2).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** @param now by the monotonic clock */
  look(now: number): void {
    for (const connection of this.#connections) {
      if (this.#isLate(connection, now)) connection.expire();
    }
    for (const session of this.#sessions) session.look(now, this.#timing.stallMs);
  }

  #isLate(connection: VhostConnection, now: number): boolean {
    const { headMs, idleMs, responseMs, stallMs } = this.#timing;
    const { patience } = connection;
    const { waiting, since, drainedAt } = patience;
    const waited = now - since;
    switch (waiting) {
      case 'first': case 'head': return waited > headMs;
      case 'idle': return waited > idleMs;
      case 'response': return waited > responseMs;
      case 'body': return waited > stallMs && patience.tooSlow(waited / 1000 * BODY_FLOOR);
      case 'nothing': return now - drainedAt > stallMs && connection.pending > 0;
    }
  }
}
