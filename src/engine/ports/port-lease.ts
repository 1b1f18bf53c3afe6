import type { PortLease } from '../face.ts';
import type { HeldPort } from './held-port.ts';

/** A bound port on its way to a tunnel. */
export class BoundLease implements PortLease {
  readonly port: number;
  #held: HeldPort | undefined;
  readonly #onRelease: () => Promise<void>;

  /**
   * @param held undefined = the tunnel's present listener is the right one already
   * @param onRelease restores what was given up for it
   */
  constructor(port: number, held: HeldPort | undefined, onRelease: () => Promise<void>) {
    this.port = port;
    this.#held = held;
    this.#onRelease = onRelease;
  }

  /** Hands the listener over; the lease is spent. */
  take(): HeldPort | undefined {
    const held = this.#held;
    this.#held = undefined;
    return held;
  }

  async release(): Promise<void> {
    const held = this.take();
    if (!held) return;
    await held.close();
    await this.#onRelease();
  }
}
