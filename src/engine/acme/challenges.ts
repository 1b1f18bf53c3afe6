import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { AcmeOrders } from './orders.ts';

/** The shortest interval between two looks, in ms: anybody can request any token. */
const PAUSE_MS = 100;
/** How long a look may take, in ms. */
const LOOK_MS = 2000;

/**
 * The challenges of orders that another server has placed: a load balancer may lead the authority to any server. They are looked up when one is requested, so that the server that
 * orders depends on no other one. Any number of requests share one look, which begins after them, so that nobody can hide a challenge by many requests, or cause more than ten looks per second.
 */
export class SharedChallenges {
  readonly #read: () => Promise<AcmeOrders>;
  readonly #log: Logger;
  /** The look that has not begun yet. */
  #next: Promise<AcmeOrders['challenges']> | undefined;
  /** The last one. Does not reject. */
  #last: Promise<unknown> = Promise.resolve();
  #beganAt = Number.NEGATIVE_INFINITY;
  #failing = false;

  constructor(read: () => Promise<AcmeOrders>, log: Logger) {
    this.#read = read;
    this.#log = log;
  }

  /** The key authorization for a token; undefined = no order of the name has such a challenge. Does not reject. */
  async answer(name: string, token: string): Promise<string | undefined> {
    const challenges = await (this.#next ??= this.#look());
    return challenges.find((challenge) => challenge.name === name && challenge.token === token)?.answer;
  }

  async #look(): Promise<AcmeOrders['challenges']> {
    await this.#last;
    const wait = this.#beganAt + PAUSE_MS - performance.now();
    if (wait > 0) await delay(wait, undefined, { ref: false });
    this.#next = undefined;
    this.#beganAt = performance.now();
    const look = this.#lookNow();
    this.#last = look;
    return look;
  }

  async #lookNow(): Promise<AcmeOrders['challenges']> {
    const ended = new AbortController();
    try {
      const late = delay(LOOK_MS, undefined, { ref: false, signal: ended.signal }).then(() => {
        throw new Error('the database does not answer');
      });
      const { challenges } = await Promise.race([this.#read(), late]);
      this.#failing = false;
      return challenges;
    } catch (error) {
      if (!this.#failing) this.#log.warn({ err: error }, 'the challenges of other servers cannot be looked up');
      this.#failing = true;
      return [];
    } finally {
      ended.abort();
    }
  }
}
