import type { Logger } from 'pino';
import type { EngineFace } from '../../engine/face.ts';
import { shareOf, type Caller } from '../../rules/caller.ts';
import { mayUseClient } from '../../rules/ownership.ts';
import type { AuditEntry } from '../../store/generated/sqlite/client.ts';
import type { Store } from '../../store/store.ts';
import { type Changes, clientScope, type FollowedChange, routeScope, type Scope } from '../writes/followed-changes.ts';
import { AditError } from '../errors.ts';
import { ChangeWatch } from './change-watch.ts';
import { EventQueue } from './event-queue.ts';
import type { LiveEvent, LiveKind, LiveRows } from './live-event.ts';
import type { Subscriber } from './subscriber.ts';
import { validCallers } from './valid-callers.ts';
import { failureNote } from '../../store/database-failure.ts';

/** Limits of subscriptions. */
const limits = {
  /** Subscriptions of all callers together. */
  all: 500,
  /** Subscriptions of one user or web login; administrators are only limited by the total. */
  perCaller: 20,
  /** Queued events of one subscriber. */
  waiting: 256,
} as const;
/** Changes within this time, in ms, are published together: a thousand agents that reconnect together need one lookup. */
const GATHER_MS = 50;
const TICK_MS = 1000;
/** Ticks between checks of the subscribers' access. Changes by this server are checked immediately. */
const VALID_TICKS = 5;

/**
 * Publishes events to subscribers: states of clients, tunnels and hosts, a tick per second, audit entries. Active only while there
 * are subscribers. Each event is loaded once for all subscribers, and access is checked when it is delivered. A subscription ends when its
 * caller loses access.
 */
export class Live {
  readonly #store: Store;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #subscribers = new Set<Subscriber>();
  readonly #stops: ReadonlyArray<() => void>;
  /** By kind and id: the scope before the change. */
  readonly #gathered: Record<LiveKind, Map<number, Scope | undefined>> = { client: new Map(), tunnel: new Map(), host: new Map() };
  #flush: NodeJS.Timeout | undefined;
  #ticker: NodeJS.Timeout | undefined;
  #ticks = 0;

  constructor(
    { store, engine, changes, log, now }: {
      readonly store: Store;
      readonly engine: EngineFace;
      readonly changes: Changes;
      readonly log: Logger;
      readonly now: () => number;
    },
  ) {
    this.#store = store;
    this.#log = log;
    this.#now = now;
    this.#stops = [
      engine.watch((events) => {
        for (const { kind, id } of events) this.#gather(kind, id);
      }),
      changes.subscribe((change) => this.#changed(change)),
    ];
  }

  /** The changed records of one kind; with an id, only that record. @throws {AditError} SUBSCRIPTION_LIMIT */
  states<Kind extends LiveKind>(caller: Caller, kind: Kind, id?: number | null): AsyncIterableIterator<LiveEvent<Kind>> {
    return this.#open<LiveEvent<Kind>>(caller, (queue) => ({
      state: (event, scope, was) => {
        if (!isOf(event, kind) || (id ?? event.id) !== event.id) return;
        if (scope && mayUseClient(caller, scope)) queue.push(event);
        else if (was && mayUseClient(caller, was)) queue.push({ kind, id: event.id, row: null });
      },
    }));
  }

  /**
   * The result of `read` once a second; all subscribers share the timer. Ends when the result is undefined.
   * @throws {AditError} SUBSCRIPTION_LIMIT
   */
  everySecond<T>(caller: Caller, read: () => Promise<T | undefined>): AsyncIterableIterator<T> {
    return this.#open<T>(caller, (queue) => ({ tick: this.#reader(queue, read) }));
  }

  /**
   * The result of `read` once a second, about records of the caller. Ends when the result is undefined, or when none of the records is the
   * caller's any more.
   * @param records their clients, by id; kept up to date: a record that is no longer the caller's is removed
   * @throws {AditError} SUBSCRIPTION_LIMIT
   */
  everySecondOf<T>(caller: Caller, kind: LiveKind, records: Map<number, number>, read: () => Promise<T | undefined>): AsyncIterableIterator<T> {
    return this.#open<T>(caller, (queue) => ({
      state: (event, scope) => {
        if (scope && mayUseClient(caller, scope)) {
          if (event.kind === kind && records.has(event.id)) records.set(event.id, scope.id);
          return;
        }
        if (event.kind === kind) records.delete(event.id);
        if (event.kind === 'client') { for (const [record, client] of records) if (client === event.id) records.delete(record); }
        if (records.size === 0) queue.close();
      },
      tick: this.#reader(queue, read),
    }));
  }

  /**
   * The result of `read` once a second, about the current clients of a user.
   * @param clients their ids; kept up to date
   * @throws {AditError} SUBSCRIPTION_LIMIT
   */
  everySecondOfUser<T>(caller: Caller, userId: number, clients: Set<number>, read: () => Promise<T>): AsyncIterableIterator<T> {
    return this.#open<T>(caller, (queue) => ({
      state: (event, scope) => {
        if (event.kind !== 'client') return;
        if (scope?.userId === userId) clients.add(event.id);
        else clients.delete(event.id);
      },
      tick: this.#reader(queue, read),
    }));
  }

  /**
   * The result of `read` at once, and whenever it differs ({@link ChangeWatch}).
   * @throws {AditError} SUBSCRIPTION_LIMIT
   */
  whenChanged<T>(caller: Caller, read: () => Promise<T>): AsyncIterableIterator<T> {
    return this.#open<T>(caller, (queue) => {
      const watch = new ChangeWatch();
      const look = this.#reader(queue, read, (value) => watch.isNew(value));
      look();
      return {
        state: (_event, ...scopes) => {
          if (scopes.some((scope) => scope && mayUseClient(caller, scope))) watch.recordChanged();
        },
        tick: () => {
          if (watch.isDue()) look();
        },
      };
    });
  }

  /** The ids of changed users. @throws {AditError} SUBSCRIPTION_LIMIT */
  users(caller: Caller): AsyncIterableIterator<number> {
    return this.#open<number>(caller, (queue) => ({ user: (id) => queue.push(id) }));
  }

  /** New entries of the audit log. @throws {AditError} SUBSCRIPTION_LIMIT */
  audit(caller: Caller): AsyncIterableIterator<AuditEntry> {
    return this.#open<AuditEntry>(caller, (queue) => ({ audit: (entry) => queue.push(entry) }));
  }

  /** Publishes an audit entry that was written. */
  audited(entry: AuditEntry): void {
    for (const { audit } of this.#subscribers) audit?.(entry);
  }

  /** Someone subscribes to the audit log. */
  get hasAuditors(): boolean {
    return Array.from(this.#subscribers).some(({ audit }) => audit !== undefined);
  }

  /** Ends all subscriptions, because it is not known what has changed: subscribers subscribe again, and read the current state. */
  endAll(): void {
    for (const subscriber of this.#subscribers) subscriber.end();
  }

  /** Number of subscriptions. */
  get subscribers(): number {
    return this.#subscribers.size;
  }

  /** Ends all subscriptions and stops listening. */
  close(): void {
    for (const stop of this.#stops) stop();
    clearTimeout(this.#flush);
    this.endAll();
  }

  #open<T>(caller: Caller, listen: (queue: EventQueue<T>) => Pick<Subscriber, 'state' | 'audit' | 'user' | 'tick'>): AsyncIterableIterator<T> {
    const own = Array.from(this.#subscribers).filter((other) => shareOf(other.caller) === shareOf(caller)).length;
    if (this.#subscribers.size >= limits.all || (caller.kind !== 'admin' && own >= limits.perCaller)) throw new AditError('SUBSCRIPTION_LIMIT');
    const queue = new EventQueue<T>(limits.waiting, () => this.#forget(subscriber));
    const subscriber: Subscriber = { caller, ...listen(queue), end: () => queue.close() };
    this.#subscribers.add(subscriber);
    this.#ticker ??= setInterval(() => this.#tick(), TICK_MS).unref();
    return queue;
  }

  /** The action of a tick: reads, unless the previous read is still in progress. @param isNew whether a value is published */
  #reader<T>(queue: EventQueue<T>, read: () => Promise<T | undefined>, isNew: (value: T) => boolean = () => true): () => void {
    let reading = false;
    return () => {
      if (reading) return;
      reading = true;
      this.#inBackground(
        read().then((value) => {
          if (value === undefined) queue.close();
          else if (isNew(value)) queue.push(value);
        }).finally(() => {
          reading = false;
        }),
      );
    };
  }

  #forget(subscriber: Subscriber): void {
    this.#subscribers.delete(subscriber);
    if (this.#subscribers.size > 0) return;
    clearInterval(this.#ticker);
    this.#ticker = undefined;
  }

  #tick(): void {
    for (const { tick } of this.#subscribers) tick?.();
    if (++this.#ticks % VALID_TICKS === 0) this.#inBackground(this.#endInvalid());
  }

  #changed(change: FollowedChange): void {
    switch (change.resource) {
      case 'client':
      case 'tunnel':
      case 'host':
        this.#gather(change.resource, change.id, change.was);
        break;
      case 'user':
        for (const client of change.clients) this.#gather('client', client.id);
        for (const { user } of this.#subscribers) user?.(change.id);
        break;
      case 'globalSettings':
      case 'node':
      case 'acme':
      case 'access':
        break;
      default:
        change satisfies never;
    }
    // Subscribers that lose access by this change get no more events.
    if (this.#subscribers.size > 0) this.#inBackground(this.#endInvalid());
  }

  #gather(kind: LiveKind, id: number, was?: Scope): void {
    if (this.#subscribers.size === 0) return;
    this.#gathered[kind].set(id, this.#gathered[kind].get(id) ?? was);
    if (this.#flush !== undefined) return;
    this.#flush = setTimeout(() => {
      this.#flush = undefined;
      this.#inBackground(this.#tell());
    }, GATHER_MS).unref();
  }

  async #tell(): Promise<void> {
    const { db } = this.#store;
    const taken = { client: new Map(this.#gathered.client), tunnel: new Map(this.#gathered.tunnel), host: new Map(this.#gathered.host) };
    for (const map of Object.values(this.#gathered)) map.clear();
    const where = (kind: LiveKind) => ({ where: { id: { in: [...taken[kind].keys()] } } });
    const [clients, tunnels, hosts] = await Promise.all([
      taken.client.size === 0 ? [] : db.client.findMany(where('client')),
      taken.tunnel.size === 0 ? [] : db.tunnel.findMany(where('tunnel')),
      taken.host.size === 0 ? [] : db.host.findMany(where('host')),
    ]);
    this.#tellRows('client', taken.client, clients, clientScope);
    this.#tellRows('tunnel', taken.tunnel, tunnels, routeScope);
    this.#tellRows('host', taken.host, hosts, routeScope);
  }

  #tellRows<Kind extends LiveKind>(
    kind: Kind,
    taken: ReadonlyMap<number, Scope | undefined>,
    rows: readonly LiveRows[Kind][],
    scopeOf: (row: LiveRows[Kind]) => Scope,
  ): void {
    const byId = new Map(rows.map((row) => [row.id, row]));
    for (const [id, was] of taken) {
      const row = byId.get(id) ?? null;
      // The types match by construction, which the compiler can't follow through the union.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const event = { kind, id, row } as { readonly [K in LiveKind]: LiveEvent<K> }[LiveKind];
      for (const { state } of this.#subscribers) state?.(event, row ? scopeOf(row) : undefined, was);
    }
  }

  async #endInvalid(): Promise<void> {
    const valid = await validCallers(this.#store, Array.from(this.#subscribers, ({ caller }) => caller), this.#now());
    for (const subscriber of this.#subscribers) if (!valid(subscriber.caller)) subscriber.end();
  }

  #inBackground(work: Promise<void>): void {
    work.catch((error: unknown) => this.#log.error(failureNote(error), 'a change could not be published to subscribers'));
  }
}

function isOf<Kind extends LiveKind>(event: LiveEvent, kind: Kind): event is LiveEvent<Kind> {
  return event.kind === kind;
}
