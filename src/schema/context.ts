import type { Logger } from 'pino';
import type { EngineFace } from '../engine/face.ts';
import type { Attempts } from '../rules/attempts.ts';
import { shareOf, type Caller } from '../rules/caller.ts';
import { hostOfUrl } from '../rules/host-name.ts';
import type { Counts } from '../store/hot/counts.ts';
import type { Page } from '../store/hot/page.ts';
import type { Store } from '../store/store.ts';
import type { WriteOptions } from '../store/transaction.ts';
import { ListWalk } from './list-walk.ts';
import { Loaders } from './loaders.ts';
import type { ResultLimits } from './result-limits.ts';
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
  /** Holds the lists of an operation that a caller has written. Absent where the program itself has. */
  readonly results: ResultLimits | undefined;
  readonly #services: Services;
  #loaders: Loaders | undefined;
  #walk: ListWalk | undefined;
  #log: Logger | undefined;
  #serverName: Promise<string> | undefined;
  #counts: Promise<Counts> | undefined;

  constructor(services: Services, caller: Caller, requestId: string, results?: ResultLimits) {
    this.#services = services;
    this.results = results;
    this.caller = caller;
    this.requestId = requestId;
    this.store = services.store;
    this.engine = services.engine;
    this.settings = services.settings;
    this.attempts = services.attempts;
  }

  /** Batches and remembers look-ups for this request. */
  get loaders(): Loaders {
    return this.#loaders ??= new Loaders(this.store, this.engine, this.results);
  }

  /**
   * Writes, as this caller: see {@link Writes.run}. What the request has looked up before is forgotten, since an operation may hold
   * several mutations.
   */
  async write<T>(work: Work<T>, options?: Pick<WriteOptions<T>, 'alone' | 'ended'>): Promise<T> {
    try {
      return await this.#services.writes.run(this.caller, work, options);
    } finally {
      this.#loaders = this.#serverName = this.#counts = undefined;
    }
  }

  /** The name or address by which agents and visitors reach the server, as somebody has told it; '' = nobody has. Looked up once. */
  serverName(): Promise<string> {
    return this.#serverName ??= serverNameOf(this.settings, this.store);
  }

  /** How many records there are of those that the caller sees. Counted once. */
  counts(): Promise<Counts> {
    return this.#counts ??= this.#count();
  }

  async #count(): Promise<Counts> {
    const { caller } = this;
    await this.freshState();
    return this.store.counts(caller.kind === 'user' ? { ownerId: caller.userId } : caller.kind === 'client' ? { clientId: caller.clientId } : {});
  }

  /** From now on each run of the operation returns the next rows of its list. @param most rows of all runs; undefined = all */
  walk(most: number | undefined): ListWalk {
    return this.#walk = new ListWalk(most);
  }

  /** A page of a list, or the next rows of a walk. */
  async list<Row extends Readonly<Record<string, unknown>>, Query extends { readonly limit: number; readonly search?: string }>(
    query: Query, page: (query: Query) => Promise<Page<Row>>, pages: (query: Omit<Query, 'limit'> & { readonly limit?: number }) => AsyncGenerator<Page<Row>, void, undefined>,
  ): Promise<Page<Row>> {
    const end = query.search ? await this.#services.searches.take(shareOf(this.caller)) : undefined;
    try {
      if (this.#walk === undefined) return await page(query);
      // A long list would otherwise fill the memory with what it has looked up.
      this.#loaders = undefined;
      return await this.#walk.next({ page: (limit) => page({ ...query, limit }), pages: (limit) => pages({ ...query, limit }) }, query.limit);
    } finally {
      end?.();
    }
  }

  /** Asks for another part of the event loop's time, before work that may take long. @returns undefined = go on at once */
  turn(): Promise<void> | undefined {
    return this.#services.turns.next(shareOf(this.caller));
  }

  /** Waits until the caller may begin another long operation. @returns ends it @throws {AditError} TOO_MANY_OPERATIONS */
  takeSlot(): Promise<() => void> {
    return this.#services.slots.take(shareOf(this.caller));
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

async function serverNameOf({ publicUrl }: SchemaSettings, { db }: Store): Promise<string> {
  const global = await db.globalSettings.findUnique({ where: { id: 1 }, select: { serverUrl: true } });
  return hostOfUrl(global?.serverUrl ?? '') || hostOfUrl(publicUrl);
}

/** The context of one request. @param results absent = the operation is one of the program's own */
export function createContext(services: Services, caller: Caller, requestId: string, results?: ResultLimits): Context {
  return new Context(services, caller, requestId, results);
}
