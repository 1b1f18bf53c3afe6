import type { Http2Session } from './request/http2-session.ts';
import type { WaitState } from './wait-state.ts';

/** Timeouts of visitors and targets, in ms. */
export interface VhostTiming {
  /** From the first byte of a request, or the connection, to the end of its head. */
  readonly headMs: number;
  /** Between two requests. */
  readonly idleMs: number;
  /** From the end of the request to the head of the response. */
  readonly responseMs: number;
  /** A body has to deliver `BODY_FLOOR` bytes per second, measured over this time; a waiting response must be read within it. */
  readonly stallMs: number;
  /** Keep-alive of a connection to a target: how long it may wait for the visitor's next request. */
  readonly targetIdleMs: number;
}

/** The default timeouts. */
export const VHOST_TIMING: VhostTiming = { headMs: 10_000, idleMs: 60_000, responseMs: 60_000, stallMs: 20_000, targetIdleMs: 15_000 };
/** The minimum rate of a body while the visitor is read, in bytes per second. */
const BODY_FLOOR = 500;
/** How often all connections are checked, in ms: cheaper than a timer for each. */
const LOOK_MS = 1000;

/** Something with timeouts: a connection, or a request over HTTP/2. */
export interface TimedVisitor {
  readonly waitState: WaitState;
  /** Bytes of the response that wait for the visitor. */
  readonly pending: number;
  /** Called when a timeout expires. */
  expire(): void;
}

/** Applies the timeouts: every connection holds a file descriptor and memory. */
export class SlowVisitors {
  readonly #visitors: ReadonlySet<TimedVisitor>;
  readonly #sessions: ReadonlySet<Http2Session>;
  readonly #timing: VhostTiming;
  #timer: NodeJS.Timeout | undefined;

  constructor(visitors: ReadonlySet<TimedVisitor>, sessions: ReadonlySet<Http2Session>, timing: VhostTiming) {
    this.#visitors = visitors;
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
    for (const visitor of this.#visitors) {
      if (this.#isLate(visitor, now)) visitor.expire();
    }
    for (const session of this.#sessions) session.look(now, this.#timing.stallMs);
  }

  #isLate({ waitState, pending }: TimedVisitor, now: number): boolean {
    const { headMs, idleMs, responseMs, stallMs } = this.#timing;
    const { waiting, since, drainedAt } = waitState;
    const waited = now - since;
    switch (waiting) {
      case 'first':
      case 'head':
        return waited > headMs;
      case 'idle':
        return waited > idleMs;
      case 'response':
        return waited > responseMs;
      case 'body':
        return waited > stallMs && waitState.tooSlow(waited / 1000 * BODY_FLOOR);
      case 'nothing':
        return now - drainedAt > stallMs && pending > 0;
    }
  }
}
