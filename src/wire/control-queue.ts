import { Turns } from './turns.ts';

/** A session with queued control messages. */
export interface QueuedSession {
  /** The queue is over its total limit and this session's messages use the most of it: the session has to end. */
  onQueueFull(): void;
}

/** Limits for the costs (`controlCost`) of queued messages: beyond them reading stops, a session ends, or the session with the most queued messages ends. */
const MOST = { reading: 256 * 1024, ofSession: 4 * 1024 * 1024, inAll: 64 * 1024 * 1024 } as const;
/** How long messages of all sessions may take in one iteration of the event loop, in ms. */
const ITERATION_MS = 4;

/**
 * Processes the control messages of many sessions, a few in each iteration of the event loop, because peers determine the cost of parsing and
 * validating them. One read can bring thousands of messages, so pausing the peer doesn't limit the queue; the caps per session and in total do.
 */
export class ControlQueue {
  readonly #turns: Turns;
  /** The cost of the queued messages, by session. */
  readonly #waiting = new Map<QueuedSession, number>();
  #total = 0;

  /** @param ms how long messages may take in one iteration of the event loop */
  constructor(ms = ITERATION_MS) {
    this.#turns = new Turns({ ms, waiting: Number.POSITIVE_INFINITY });
  }

  /**
   * Processes a message, now or later. Messages of one session are processed in order.
   * @param cost its `controlCost`
   * @returns false = the queue is over its limit: the session has to end
   */
  add(session: QueuedSession, cost: number, begin: () => void): boolean {
    const waiting = (this.#waiting.get(session) ?? 0) + cost;
    if (waiting > MOST.ofSession) return false;
    this.#waiting.set(session, waiting);
    this.#total += cost;
    this.#turns.add(session, () => {
      this.#taken(session, cost);
      begin();
    });
    if (this.#total > MOST.inAll) this.#largest()?.onQueueFull();
    return true;
  }

  /** Drops the queued messages of a session that is over. */
  drop(session: QueuedSession): void {
    this.#total -= this.#waiting.get(session) ?? 0;
    this.#waiting.delete(session);
    this.#turns.drop(session);
  }

  /** Whether a session has queued messages. */
  holds(session: QueuedSession): boolean {
    return this.#waiting.has(session);
  }

  /** Whether a session has so many queued messages that reading from its peer should stop. */
  isFull(session: QueuedSession): boolean {
    return (this.#waiting.get(session) ?? 0) > MOST.reading;
  }

  #taken(session: QueuedSession, cost: number): void {
    this.#total -= cost;
    const left = (this.#waiting.get(session) ?? cost) - cost;
    if (left > 0) this.#waiting.set(session, left);
    else this.#waiting.delete(session);
  }

  #largest(): QueuedSession | undefined {
    let [largest, most]: [QueuedSession | undefined, number] = [undefined, 0];
    for (const [session, cost] of this.#waiting) if (cost > most) [largest, most] = [session, cost];
    return largest;
  }
}
