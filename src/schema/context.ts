import type { Logger } from 'pino';
import type { EngineFace } from '../engine/face.ts';
import type { Attempts } from '../rules/attempts.ts';
import { shareOf, type Caller } from '../rules/caller.ts';
import { hostOfUrl } from '../rules/host-name.ts';
import type { Counts } from '../store/hot/counts.ts';
import { type Page, scans } from '../store/hot/page.ts';
import type { Condition } from '../store/search/search.ts';
import type { StoreToRead } from '../store/store.ts';
import type { Transaction, WriteOptions } from '../store/transaction.ts';
import type { NameLookUps } from './diagnosis/name-look-ups.ts';
import type { ImportStage } from './import/stage.ts';
import { ListWalk } from './lists/list-walk.ts';
import { Loaders } from './lists/loaders.ts';
import type { ResultLimits } from './limits/result-limits.ts';
import type { ProblemBoard } from './problem/board.ts';
import type { SchemaSettings, Services } from './services.ts';
import type { Live } from './subscriptions/live.ts';
import type { Work } from './writes/writes.ts';

/** The context of resolvers. Created for each request, including legacy ones, so its parts are created on first use. */
export class Context {
  readonly caller: Caller;
  readonly store: StoreToRead;
  readonly engine: EngineFace;
  readonly settings: SchemaSettings;
  /** Throttles guessing. */
  readonly attempts: Attempts;
  /** Limits the lists of an operation by a caller. Absent for the program's own operations. */
  readonly results: ResultLimits | undefined;
  readonly #services: Services;
  readonly #isDryRun: boolean;
  #loaders: Loaders | undefined;
  #walk: ListWalk | undefined;
  #serverName: Promise<string> | undefined;
  #counts: Promise<Counts> | undefined;

  constructor(services: Services, caller: Caller, results?: ResultLimits, isDryRun = false) {
    this.#services = services;
    this.#isDryRun = isDryRun;
    this.results = results;
    this.caller = caller;
    this.store = services.store;
    this.engine = services.engine;
    this.settings = services.settings;
    this.attempts = services.attempts;
  }

  /** Batches and caches lookups for this request. */
  get loaders(): Loaders {
    return this.#loaders ??= new Loaders(this.store, this.engine, this.results);
  }

  /**
   * Runs a write as this caller, see {@link Writes.run}. Clears cached lookups afterwards, since an operation may contain
   * several mutations.
   */
  async write<T>(work: Work<T>, options?: Pick<WriteOptions<T>, 'alone' | 'long' | 'ended'>): Promise<T> {
    try {
      return await this.#services.writes.run(this.caller, work, { ...options, dryRun: this.#isDryRun });
    } finally {
      this.#loaders = this.#serverName = this.#counts = undefined;
    }
  }

  /** The context of a mutation with `dryRun`: its writes run all checks, and are rolled back. */
  get dryRun(): Context {
    return new Context(this.#services, this.caller, this.results, true);
  }

  /** The configured name or address of the server for agents and visitors; '' = none. Cached. */
  serverName(): Promise<string> {
    return this.#serverName ??= serverNameOf(this.settings, this.store);
  }

  /** The number of records that the caller sees, by state. Cached. */
  counts(): Promise<Counts> {
    return this.#counts ??= this.#count();
  }

  async #count(): Promise<Counts> {
    const { caller } = this;
    await this.freshState();
    return this.store.counts(caller.kind === 'user' ? { ownerId: caller.userId } : caller.kind === 'client' ? { clientId: caller.clientId } : {});
  }

  /** Makes each further run of the operation return the next rows of its list. @param most maximum rows of all runs together; undefined = all */
  walk(most: number | undefined): ListWalk {
    return this.#walk = new ListWalk(most);
  }

  /**
   * A page of a list, or the next rows of a walk.
   * @param refine adds conditions that take time to compute; as with searches, a caller can run one such list at a time
   */
  async list<
    Row extends Readonly<Record<string, unknown>>,
    Query extends { readonly limit: number; readonly search?: string; readonly conditions?: readonly Condition[] },
  >(
    wanted: Query,
    page: (query: Query) => Promise<Page<Row>>,
    pages: (query: Omit<Query, 'limit'> & { readonly limit?: number }) => AsyncGenerator<Page<Row>, void, undefined>,
    refine?: (query: Query) => Promise<Query>,
  ): Promise<Page<Row>> {
    const end = scans(wanted) || refine ? await this.#services.searches.take(shareOf(this.caller)) : undefined;
    try {
      const query = refine ? await refine(wanted) : wanted;
      if (this.#walk === undefined) return await page(query);
      // Otherwise a long list would fill the memory with cached lookups.
      this.#loaders = undefined;
      return await this.#walk.next({ page: (limit) => page({ ...query, limit }), pages: (limit) => pages({ ...query, limit }) }, query.limit);
    } finally {
      end?.();
    }
  }

  /** Runs a search of other things than a list: a caller can run one at a time. */
  async search<T>(run: () => Promise<T>): Promise<T> {
    const end = await this.#services.searches.take(shareOf(this.caller));
    try {
      return await run();
    } finally {
      end();
    }
  }

  /** Waits for the next time slice; call it before each part of long work. @returns undefined = continue immediately */
  nextSlice(): Promise<void> | undefined {
    return this.#services.timeSlices.next(shareOf(this.caller));
  }

  /** Waits until the caller may begin another long operation. @returns a function that ends it @throws {AditError} TOO_MANY_OPERATIONS */
  takeSlot(): Promise<() => void> {
    return this.#services.slots.take(shareOf(this.caller));
  }

  /** ms since the epoch */
  now(): number {
    return this.#services.now();
  }

  /** The records of an import that arrives in parts. */
  get imports(): ImportStage {
    return this.#services.imports;
  }

  /** Looks names up in the DNS for diagnoses. */
  get names(): NameLookUps {
    return this.#services.names;
  }

  /** Finds what is wrong. */
  get problems(): ProblemBoard {
    return this.#services.problems;
  }

  /** The source of events for subscriptions. */
  get live(): Live {
    return this.#services.live;
  }

  /** Resolves when the stored state of the engine is at most one second old. */
  freshState(): Promise<void> {
    return this.#services.freshState();
  }

  /** Resolves when everything that is committed is in effect on this server, also what others have committed. @param tx of a write */
  catchUp(tx: Transaction): Promise<void> {
    return this.#services.store.follower.lookIn(tx);
  }

  get log(): Logger {
    return this.#services.log;
  }
}

async function serverNameOf({ publicUrl }: SchemaSettings, { db }: StoreToRead): Promise<string> {
  const global = await db.globalSettings.findUnique({ where: { id: 1 }, select: { serverUrl: true } });
  return hostOfUrl(global?.serverUrl ?? '') || hostOfUrl(publicUrl);
}

/** Creates the context of a request. @param results absent = an operation of the program itself */
export function createContext(services: Services, caller: Caller, results?: ResultLimits): Context {
  return new Context(services, caller, results);
}
