import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Engine } from './engine/engine.ts';

/**
 * The way of a server out of service. If there are others, `/readyz` fails first, so that load balancers send no more visitors and calls, and the agents go to the others; only
 * later the ports close. So nothing fails while servers are replaced one after another.
 */
export class Departure {
  readonly #engine: Pick<Engine, 'nodes'>;
  readonly #log: Logger;
  readonly #stopping = new AbortController();
  #stops = false;

  constructor(engine: Pick<Engine, 'nodes'>, log: Logger) {
    this.#engine = engine;
    this.#log = log;
  }

  /** Aborted when the ports are about to close. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Why other servers should be used instead; "" = there is no reason. */
  get problem(): string {
    return this.#stops ? 'the server is stopping' : '';
  }

  /** The server ends. Resolves when its ports may close. @param ms how long others get to notice, if there are any */
  async stop(ms: number): Promise<void> {
    this.#stops = true;
    if ((this.#engine.nodes?.others.length ?? 0) > 0) {
      this.#log.info(`stopping: load balancers and agents have ${ms / 1000} s to go to other servers`);
      this.#engine.nodes?.leave(true);
      await delay(ms);
    }
    this.#stopping.abort();
  }
}
