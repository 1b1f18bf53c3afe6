import { Turns } from './turns.ts';

/** A session whose control messages wait. */
export interface QueuedSession {
  /** Its messages wait for the most memory of all, and together they wait for too much: it has to end. */
  onQueueFull(): void;
}

/** The costs of waiting messages (`controlCost`) beyond which nothing more is read, a session ends, and the session with the most waiting messages ends. */
const MOST = { reading: 256 * 1024, ofSession: 4 * 1024 * 1024, inAll: 64 * 1024 * 1024 } as const;
/** How long messages of all sessions may take in one iteration of the event loop, in ms. */
const ITERATION_MS = 4;

/**
 * Begins the control messages of many sessions, a few in each iteration of the event loop: what their JSON and their validation cost depends on the peers. One read brings
 * thousands of messages, so pausing the peer doesn't bound what waits; the caps per session and for all sessions do.
 */
export class ControlQueue {
  readonly #turns: Turns;
  /** The cost of what waits, by session. */
  readonly #waiting = new Map<QueuedSession, number>();
  #total = 0;

  /** @param ms how long messages may take in one iteration of the event loop */
  constructor(ms = ITERATION_MS) {
    this.#turns = new Turns({ ms, waiting: Number.POSITIVE_INFINITY });
  }

  /**
   * Begins a message, now or later. Those of one session begin in their order.
   * @param cost its `controlCost`
   * @returns false = so much of the session waits that it has to end
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

  /** Forgets what waits of a session that is over. */
  drop(session: QueuedSession): void {
    this.#total -= this.#waiting.get(session) ?? 0;
    this.#waiting.delete(session);
    this.#turns.drop(session);
  }

  /** Whether messages of a session wait. */
  holds(session: QueuedSession): boolean {
    return this.#waiting.has(session);
  }

  /** Whether so much of a session waits that nothing more should be read from its peer. */
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
