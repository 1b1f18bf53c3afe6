import type { Mux } from '../../wire/mux.ts';
import type { Ping } from '../../wire/standby-messages.ts';

/** After this time without anything from the agent, in ms, it is asked; after as much again, it is in doubt. */
const ANSWER_MS = 500;
/** An agent is in doubt at most this often, in ms. */
const AGAIN_MS = 5000;

const PING: Ping = { type: 'ping' };

/** Notices that an agent answers neither to a stream that was opened nor to a ping: most likely it is cut off. It costs a timer while streams are opened. */
export class AnswerWatch {
  readonly #mux: Pick<Mux, 'silence' | 'sendControl'>;
  readonly #onDoubt: () => void;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(mux: Pick<Mux, 'silence' | 'sendControl'>, onDoubt: () => void) {
    this.#mux = mux;
    this.#onDoubt = onDoubt;
  }

  /** A stream was opened, to which the agent should answer. */
  asked(): void {
    this.#timer ??= this.#after(ANSWER_MS, () => {
      this.#mux.sendControl(PING);
      this.#timer = this.#after(ANSWER_MS, () => {
        this.#onDoubt();
        this.#timer = setTimeout(() => this.#rest(), AGAIN_MS).unref();
      });
    });
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  /** Calls `next` unless something comes from the agent within `ms`. */
  #after(ms: number, next: () => void): NodeJS.Timeout {
    const from = performance.now();
    return setTimeout(() => {
      // If this process itself was late, the next read delivers what arrived in the meantime.
      setImmediate(() => {
        if (this.#stopped) return;
        if (this.#mux.silence >= performance.now() - from) next();
        else this.#rest();
      });
    }, ms).unref();
  }

  #rest(): void {
    this.#timer = undefined;
  }
}
