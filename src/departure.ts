import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Nodes } from './engine/nodes/nodes.ts';
import { AditError } from './schema/errors.ts';

/** How often a server that stops looks whether its agents and visitor programs have gone, in ms. */
const LOOK_MS = 50;

/** What it needs of the engine. */
interface LeavingEngine {
  readonly nodes: Pick<Nodes, 'others' | 'leave' | 'siblingServes' | 'hasAgents' | 'hasVisitors'> | undefined;
}

/**
 * The way of a server out of service. If there are others, `/readyz` fails first, so that load balancers send no more visitors and calls, and the agents go to the others. A
 * server that drains stays like that, with all ports open, until it is stopped or is to serve again. One that stops closes its ports after that. So nothing fails while servers are replaced one after another.
 */
export class Departure {
  readonly #engine: LeavingEngine;
  readonly #log: Logger;
  readonly #stopping = new AbortController();
  #stops = false;
  #drains = false;

  constructor(engine: LeavingEngine, log: Logger) {
    this.#engine = engine;
    this.#log = log;
  }

  /** Aborted when the ports are about to close. */
  get signal(): AbortSignal {
    return this.#stopping.signal;
  }

  /** The server is stopping. */
  get stopping(): boolean {
    return this.#stops;
  }

  /** The server sends agents and visitors to others. */
  get draining(): boolean {
    return this.#drains || this.#stops;
  }

  /** @throws {AditError} if other servers should be used instead. While another process serves at the same ports, a process that drains forwards what comes to it. */
  check(): void {
    if (this.#stops || this.#drains && this.#engine.nodes?.siblingServes !== true) throw new AditError('NODE_DRAINING');
  }

  /** Sends agents and visitors to other servers, or accepts them again. Open connections go on, and so do visitors who come nevertheless. */
  drain(on: boolean): void {
    if (this.#stops || on === this.#drains) return;
    this.#drains = on;
    this.#engine.nodes?.leave(on);
    this.#log.info(
      on ? 'draining: load balancers, agents and visitors are sent to other servers' : 'no longer draining: agents and visitors are accepted again',
    );
  }

  /**
   * The server ends. Resolves when its ports may close.
   * @param ms how long others get to notice, if there are any, and at most how long agents and visitor programs get after that which have not gone yet: what comes for or from them would be reset
   */
  async stop(ms: number): Promise<void> {
    this.#stops = true;
    if ((this.#engine.nodes?.others.servers.length ?? 0) > 0) {
      this.#log.info(`stopping: load balancers, agents and visitor programs have ${ms / 1000} s to go to other servers`);
      if (!this.#drains) this.#engine.nodes?.leave(true);
      await delay(ms);
      const latest = performance.now() + ms;
      while (this.#engine.nodes?.hasAgents === true || this.#engine.nodes?.hasVisitors === true) {
        if (performance.now() >= latest) {
          this.#log.warn('some agents or visitor programs have not gone to another server: connections that are being opened through them are reset');
          break;
        }
        await delay(LOOK_MS);
      }
    }
    this.#stopping.abort();
  }
}
