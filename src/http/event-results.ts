import { setTimeout as wait } from 'node:timers/promises';
import type { Response } from 'express';
import type { ExecutionResult } from 'graphql';
import { EventQueue } from '../schema/subscriptions/event-queue.ts';

/** What the events of one caller's subscriptions may cost in a second, in the units of graphql-cost.ts. */
export const eventCostPerSecond = 10_000;

/** Holds the subscriptions of each caller to what their events may cost. */
export class EventRate {
  /** By caller: until when what was sent is paid for, in ms. */
  readonly #paid = new Map<string, number>();

  /** Waits until another event may be sent. @param cost of the event */
  async wait(caller: string, cost: number): Promise<void> {
    const now = performance.now();
    for (const [other, until] of this.#paid) if (until < now) this.#paid.delete(other);
    const from = this.#paid.get(caller) ?? now;
    this.#paid.set(caller, from + cost / eventCostPerSecond * 1000);
    if (from > now) await wait(from - now);
  }
}

/** How the results of a subscription are made. */
interface EventResultsOptions {
  /** Where they go. */
  readonly response: Response;
  /** A reader that takes nothing for so long is cut off, in ms. Comments are sent more often than that, so one that reads is never idle. */
  readonly stalledMs: number;
  /** Resolves when the next one may be made. */
  readonly before: () => Promise<void>;
  readonly run: (event: unknown) => Promise<ExecutionResult>;
}

/**
 * The results of a subscription's events, each made when the reader has taken the one before. Ends with its response, and cuts the response of a
 * reader that takes nothing, or lets too many events wait.
 */
export class EventResults implements AsyncIterableIterator<ExecutionResult> {
  readonly #events: AsyncIterator<unknown>;
  readonly #options: EventResultsOptions;

  constructor(events: AsyncIterable<unknown>, options: EventResultsOptions) {
    this.#events = events[Symbol.asyncIterator]();
    this.#options = options;
    const { response, stalledMs } = options;
    response.once('close', () => void this.return());
    // Whoever doesn't take what was sent would not get the error either.
    if (events instanceof EventQueue) events.onOverflow = () => { if (response.writableNeedDrain) response.destroy(); };
    // Yoga switches it off when it begins to write.
    setImmediate(() => response.socket?.setTimeout(stalledMs));
  }

  async next(): Promise<IteratorResult<ExecutionResult, undefined>> {
    const event = await this.#events.next();
    if (event.done === true) return { value: undefined, done: true };
    await this.#options.before();
    return { value: await this.#options.run(event.value), done: false };
  }

  async return(): Promise<IteratorResult<ExecutionResult, undefined>> {
    await this.#events.return?.();
    return { value: undefined, done: true };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
