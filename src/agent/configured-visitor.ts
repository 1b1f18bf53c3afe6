import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../wire/system-error.ts';
import { logState } from './state-change.ts';
import { Visitor, type VisitorOptions } from './visitor.ts';
import { formatHostPort } from '../rules/host-port.ts';

/** Waits before a local port that can't be opened is tried again, in ms: doubling from the first to the longest. */
const RETRY = { first: 500, longest: 30_000 } as const;

/** A visitor of the configuration file. If its local port is taken, it keeps trying. */
export class ConfiguredVisitor {
  readonly visitor: Visitor;
  readonly #options: VisitorOptions;
  readonly #stopped = new AbortController();
  #address = '';
  #error = '';

  constructor(options: VisitorOptions) {
    this.#options = options;
    this.visitor = new Visitor(options);
  }

  /** Its listen address; "" = the port isn't open. */
  get address(): string {
    return this.#address;
  }

  /** Why its port isn't open; "" = no problem. */
  get error(): string {
    return this.#error;
  }

  /** Resolves some time after `stop`. Never rejects. */
  async run(): Promise<void> {
    const { signal } = this.#stopped;
    for (let wait: number = RETRY.first; !signal.aborted; wait = Math.min(wait * 2, RETRY.longest)) {
      try {
        this.#address = formatHostPort(await this.visitor.listen());
        this.#error = '';
        break;
      } catch (error) {
        this.#error = messageOf(error);
        logState(
          this.#options.log,
          'warn',
          { event: 'not listening', error: this.#error, retryMs: wait },
          `the local port cannot be opened: ${this.#error}; trying again in ${wait / 1000} s`,
        );
        await delay(wait, undefined, { signal }).catch(() => undefined); // rejects when stopped
      }
    }
    if (!signal.aborted) await this.visitor.run();
  }

  /** Logs why it stops. @param again a new visitor replaces it */
  tellOfEnd(again: boolean): void {
    const { log } = this.#options;
    if (again) {
      logState(
        log,
        'info',
        { event: 'restarted', reason: 'visitor' },
        'the configuration file has another visitor of this name, or another server: it restarts',
      );
    } else logState(log, 'info', { event: 'stopped' }, 'stopped: the configuration file has it no more');
  }

  /** Stops gracefully. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.visitor.stop();
  }
}
