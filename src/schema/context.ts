import type { Logger } from 'pino';
import type { EngineFace } from '../engine/face.ts';
import type { Attempts } from '../rules/attempts.ts';
import type { Caller } from '../rules/caller.ts';
import type { Store } from '../store/store.ts';
import type { WriteOptions } from '../store/transaction.ts';
import { Loaders } from './loaders.ts';
import type { SchemaSettings, Services } from './services.ts';
import type { Live } from './subscriptions/live.ts';
import type { Work } from './writes.ts';

/** What a resolver gets. Made for each request, the legacy ones included, so it holds nothing that isn't asked for. */
export class Context {
  readonly caller: Caller;
  /** Names the request in the log. */
  readonly requestId: string;
  readonly store: Store;
  readonly engine: EngineFace;
  readonly settings: SchemaSettings;
  /** Slows down guessing. */
  readonly attempts: Attempts;
  readonly #services: Services;
  #loaders: Loaders | undefined;
  #log: Logger | undefined;

  constructor(services: Services, caller: Caller, requestId: string) {
    this.#services = services;
    this.caller = caller;
    this.requestId = requestId;
    this.store = services.store;
    this.engine = services.engine;
    this.settings = services.settings;
    this.attempts = services.attempts;
  }

  /** Batches and remembers look-ups for this request. */
  get loaders(): Loaders {
    return this.#loaders ??= new Loaders(this.store, this.engine);
  }

  /**
   * Writes, as this caller: see {@link Writes.run}. What the request has looked up before is forgotten, since an operation may hold
   * several mutations.
   */
  async write<T>(work: Work<T>, options?: Pick<WriteOptions<T>, 'alone' | 'ended'>): Promise<T> {
    try {
      return await this.#services.writes.run(this.caller, work, options);
    } finally {
      this.#loaders = undefined;
    }
  }

  /** ms since the epoch */
  now(): number {
    return this.#services.now();
  }

  /** What subscribers listen to. */
  get live(): Live {
    return this.#services.live;
  }

  /** Forgets what was looked up, since the next event of a subscription comes later. @returns the event */
  forgetLookups<T>(event: T): T {
    this.#loaders = undefined;
    return event;
  }

  /** Resolves when the store knows the engine's state of at most a second ago. */
  freshState(): Promise<void> {
    return this.#services.freshState();
  }

  /** Writes with the request's id. */
  get log(): Logger {
    return this.#log ??= this.#services.log.child({ requestId: this.requestId });
  }
}

/** The context of one request. */
export function createContext(services: Services, caller: Caller, requestId: string): Context {
  return new Context(services, caller, requestId);
}
