import type { CountedBytes, WantedClient } from '../face.ts';
import { Meter, type StoredBytes, type Ticker } from './meter.ts';
import { type OpenConnection, OpenConnections } from './open-connections.ts';
import { RateLimit } from './rate-limit.ts';

/** What a client has used and may use. */
export class ClientUsage extends Meter {
  /** What its connections share; undefined = unlimited. */
  rateLimit: RateLimit | undefined;
  /** Its visitors' connections. */
  readonly open = new OpenConnections();
  readonly #onExhausted: () => void;
  #flowLimit = 0;
  #maxConnections = 0;
  #reported = false;

  /** @param onExhausted the flow limit is passed: its connections have to be closed; called once until the limits change or the traffic is reset */
  constructor(ticker: Ticker, wanted: WantedClient, stored: StoredBytes, onExhausted: () => void) {
    super(ticker, 'client', wanted.id, stored);
    this.#onExhausted = onExhausted;
    this.setLimits(wanted);
  }

  /** Replaces the limits, from the next byte on. */
  setLimits({ rateLimit, flowLimit, maxConnections }: Pick<WantedClient, 'rateLimit' | 'flowLimit' | 'maxConnections'>): void {
    this.#flowLimit = flowLimit;
    this.#maxConnections = maxConnections;
    this.#reported = false;
    if (rateLimit === 0) {
      const lifted = this.rateLimit;
      this.rateLimit = undefined;
      lifted?.lift();
    } else if (this.rateLimit) this.rateLimit.bytesPerSecond = rateLimit;
    else this.rateLimit = new RateLimit(rateLimit);
  }

  override reset(bytes: CountedBytes): void {
    super.reset(bytes);
    this.#reported = false;
  }

  /** The connection limit is reached. */
  get full(): boolean {
    return this.#maxConnections > 0 && this.connections >= this.#maxConnections;
  }

  /** The connections beyond the limit: the newest. */
  get excess(): OpenConnection[] {
    return this.#maxConnections > 0 && this.connections > this.#maxConnections ? [...this.open].slice(this.#maxConnections) : [];
  }

  /** The flow limit is exceeded (contract 4.9). */
  get exhausted(): boolean {
    return this.#flowLimit > 0 && this.inlet + this.export > this.#flowLimit;
  }

  /** Whether the bytes that were counted last may still pass. */
  mayPass(): boolean {
    if (!this.exhausted) return true;
    if (!this.#reported) {
      this.#reported = true;
      this.#onExhausted();
    }
    return false;
  }
}
