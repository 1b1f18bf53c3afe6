import type { AcmeRetry } from '../face.ts';
import { type AcmeOrders, currentOrders, NO_ORDERS } from './orders.ts';

const HOUR_MS = 3_600_000;

/** What limits the orders of this server: those that have begun, and the attempts that were requested. */
export class OrderBook {
  /** What all orders have in common. Challenges of this server's orders are with their names. */
  orders: AcmeOrders = NO_ORDERS;
  /** When attempts were requested within the last hour, by name. Kept when a name is no longer wanted: a host can be stopped and started. */
  readonly #retries = new Map<string, readonly number[]>();

  /** Forgets what is over. */
  keepCurrent(now: number): void {
    this.orders = currentOrders(this.orders, now);
  }

  /** An order begins. */
  begin(now: number, clientId: number): void {
    this.orders = { ...this.orders, begun: [...this.orders.begun, { at: now, clientId }] };
  }

  /** No order begins before. */
  pauseUntil(at: number): void {
    this.orders = { ...this.orders, pausedUntil: at };
  }

  /**
   * Notes that an attempt is requested, unless there were too many, or orders are paused.
   * @param others the times of requests as they are kept @param perHour the most for a name
   */
  request(name: string, others: readonly number[], { pausedUntil }: AcmeOrders, now: number, perHour: number): AcmeRetry {
    for (const [other, times] of this.#retries) if (times.every((at) => at <= now - HOUR_MS)) this.#retries.delete(other);
    const own = this.#retries.get(name) ?? [];
    // What is kept is deleted with the next certificate.
    const recent = (others.length > own.length ? others : own).filter((at) => at > now - HOUR_MS);
    const [first = now] = recent;
    if (recent.length >= perHour) return { kind: 'later', at: first + HOUR_MS };
    if (pausedUntil > now) return { kind: 'later', at: pausedUntil };
    this.#retries.set(name, [...recent, now]);
    return { kind: 'started' };
  }

  /** When attempts for a name were requested; undefined = none were. */
  retriesOf(name: string): number[] | undefined {
    const times = this.#retries.get(name);
    return times && [...times];
  }

  /** The same as it is kept. */
  useRetries(name: string, times: readonly number[]): void {
    this.#retries.set(name, times);
  }

  /** The clock was set back: delays and limits stay as long as they were. */
  clockSetBack(ms: number): void {
    for (const [name, times] of this.#retries) this.#retries.set(name, times.map((at) => at - ms));
    const { begun, pausedUntil } = this.orders;
    this.orders = { begun: begun.map(({ at, clientId }) => ({ at: at - ms, clientId })), pausedUntil: pausedUntil - ms, challenges: [] };
  }
}
