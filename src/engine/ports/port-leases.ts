import type { HeldPort } from './reserve-port.ts';

/** The content of a lease. */
interface Held {
  /** undefined = the tunnel's present listener is the right one already */
  readonly port: HeldPort | undefined;
  /** Restores what was released for it. */
  readonly restore: () => Promise<void>;
}

/** Bound ports that wait for their tunnels, by the id of their lease. */
export class PortLeases {
  readonly #held = new Map<number, Held>();
  #lastId = 0;

  /** Keeps a port until it is taken or released. @returns the id of its lease */
  add(held: Held): number {
    this.#held.set(++this.#lastId, held);
    return this.#lastId;
  }

  /** Hands the listener over and ends the lease. */
  take(id: number): HeldPort | undefined {
    const held = this.#held.get(id);
    this.#held.delete(id);
    return held?.port;
  }

  /** Closes a listener that no tunnel has taken. */
  async release(id: number): Promise<void> {
    const held = this.#held.get(id);
    this.#held.delete(id);
    if (!held?.port) return;
    await held.port.close();
    await held.restore();
  }

  /** Closes all that no tunnel has taken. */
  async close(): Promise<void> {
    const held = [...this.#held.values()];
    this.#held.clear();
    await Promise.all(held.map(async ({ port }) => port?.close()));
  }
}
