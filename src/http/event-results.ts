import { setTimeout as wait } from 'node:timers/promises';
import type { Response } from 'express';
import type { ExecutionResult } from 'graphql';
import { EventQueue } from '../schema/subscriptions/event-queue.ts';

/** Maximum cost per second of the events of one caller's subscriptions, in the units of graphql-cost.ts. */
export const eventCostPerSecond = 10_000;

/** Limits the cost of the events of each caller's subscriptions. */
export class EventRate {
  /** For each caller, the time in ms until which the events sent so far use up the limit. */
  readonly #paid = new Map<string, number>();

  /** Waits until the next event may be sent. @param cost of the event */
  async wait(caller: string, cost: number): Promise<void> {
    const now = performance.now();
    for (const [other, until] of this.#paid) if (until < now) this.#paid.delete(other);
    const from = this.#paid.get(caller) ?? now;
    this.#paid.set(caller, from + cost / eventCostPerSecond * 1000);
    if (from > now) await wait(from - now);
  }
}

/** Options of a subscription's results. */
interface EventResultsOptions {
  /** The response that receives the results. */
  readonly response: Response;
  /** A reader that accepts no data for this many ms is disconnected. Comments are sent more often, so a working connection is never idle. */
  readonly stalledMs: number;
  /** Resolves when the next result may be computed. */
  readonly before: () => Promise<void>;
  readonly run: (event: unknown) => Promise<ExecutionResult>;
}

/**
 * The results of a subscription's events. Each is computed after the reader has received the previous one. Ends with its response, and
 * disconnects a reader that receives nothing or lets too many events queue up.
 */
export class EventResults implements AsyncIterableIterator<ExecutionResult> {
  readonly #events: AsyncIterator<unknown>;
  readonly #options: EventResultsOptions;

  constructor(events: AsyncIterable<unknown>, options: EventResultsOptions) {
    this.#events = events[Symbol.asyncIterator]();
    this.#options = options;
    const { response, stalledMs } = options;
    const end = (): void => void this.return();
    response.once('close', end);
    // The reader may have left while the subscription began.
    if (response.closed) end();
    // A reader that doesn't read would not receive the error either.
    if (events instanceof EventQueue) {
      events.onOverflow = () => {
        if (response.writableNeedDrain) response.destroy();
      };
    }
    // Yoga turns the timeout off before its first write.
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
