import { setTimeout as delay } from 'node:timers/promises';
import { awakeNow } from '../../rules/awake-clock.ts';

/** Between looks at the clock, in ms. */
const LOOK_MS = 200;
/** This process was away if it has not looked for this long, in ms. Nobody takes over the clients of a node that was silent for a shorter time. */
const AWAY_MS = 1200;
/** What had arrived meanwhile is read within this time, in ms. A sign of life of a node that comes later is behind all its news. */
const READ_MS = 200;
/** A node whose session has ended meanwhile has reported all within this time in which this process runs, in ms: it dials every 2 s at least. */
const NEWS_MS = 3000;

/**
 * Whether this process did not run for a while, since it or its machine was frozen, or the machine slept: other nodes may have become homes of its clients. It knows that as soon as it has a sign of life of each of
 * the nodes that were connected before. This is a matter of a second, so that a process that stops again and again is not away all the time.
 */
export class Absence {
  readonly #silences: () => ReadonlyMap<string, number>;
  readonly #now: () => number;
  readonly #timer: NodeJS.Timeout;
  #lookedAt: number;
  #runsSince = Number.NEGATIVE_INFINITY;
  /** The nodes that were connected at the last look. */
  #connected: readonly string[];
  /** Those that this process has not heard since it runs again, and until when it waits for that. */
  readonly #awaited = new Map<string, number>();

  /** @param silences the nodes that have a session with this one, and have reported all in it: for how long nothing was heard of each, in ms @param now ms of a monotonic clock */
  constructor(silences: () => ReadonlyMap<string, number>, now: () => number = awakeNow) {
    this.#silences = silences;
    this.#now = now;
    this.#lookedAt = now();
    this.#connected = [...silences().keys()];
    this.#timer = setInterval(() => this.outdated, LOOK_MS).unref();
  }

  /** What this process knows may be outdated. It also looks: the first thing that a process does when it runs again may be to ask this. */
  get outdated(): boolean {
    const now = this.#now();
    const away = now - this.#lookedAt;
    this.#lookedAt = now;
    if (away > AWAY_MS) {
      this.#runsSince = now;
      for (const [node, until] of this.#awaited) this.#awaited.set(node, until + away);
      for (const node of this.#connected) this.#awaited.set(node, now + NEWS_MS);
    }
    const silences = this.#silences();
    this.#connected = [...silences.keys()];
    for (const [node, until] of this.#awaited) {
      const heardAt = now - (silences.get(node) ?? Number.POSITIVE_INFINITY);
      if (heardAt > this.#runsSince + READ_MS || now > until) this.#awaited.delete(node);
    }
    return this.#awaited.size > 0;
  }

  /** Resolves when nothing is outdated. @returns whether that is so within `ms` */
  async over(ms: number): Promise<boolean> {
    const until = this.#now() + ms;
    while (this.outdated) {
      if (this.#now() > until) return false;
      await delay(LOOK_MS, undefined, { ref: false });
    }
    return true;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
