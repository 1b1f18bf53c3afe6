import type { ConnectionState, PortLease } from '../engine/face.ts';
import type { Credential, Lockout } from '../rules/attempts.ts';
import type { Caller, Credentials } from '../rules/caller.ts';
import type { ApiToken, Client, GlobalSettings, Host, PlatformDomain, Session, Tunnel, User } from '../store/generated/sqlite/client.ts';

/** A client with the owner whose state and expiry decide with its own. */
export type ClientWithOwner = Client & { readonly user: User | null };

/** The global settings with the platform domains: they are saved together. */
export type GlobalState = GlobalSettings & { readonly platformDomains: readonly PlatformDomain[] };

/** A wrong guess, the first for a while from its address. */
export interface FailedAttempt {
  readonly credential: Credential;
  /** What was given as the name; blank = an agent, which gives none. */
  readonly name: string;
}

/** Who makes a change: somebody who calls, or the program itself. */
export type Author = Caller | (Credentials & { readonly kind: 'server' });

type Action<Row> =
  | { readonly action: 'create'; readonly after: Row }
  | { readonly action: 'update'; readonly before: Row; readonly after: Row }
  | { readonly action: 'delete'; readonly before: Row };

/** A change: the rows before and after, who made it and when. Stored, but for attempts, lockouts and visitors' connections. */
export type Change = { readonly caller: Author; readonly at: Date } & (
  | { readonly resource: 'client' } & Action<ClientWithOwner>
  /** `lease` holds the port of a listener that has to be opened anew. */
  | { readonly resource: 'tunnel'; readonly lease?: PortLease } & Action<Tunnel>
  | { readonly resource: 'host' } & Action<Host>
  /** `clients`: those whose state changes with the user's, as they are after it. */
  | { readonly resource: 'user'; readonly clients: readonly ClientWithOwner[] } & Action<User>
  | { readonly resource: 'apiToken' } & Action<ApiToken>
  | { readonly resource: 'globalSettings' } & Action<GlobalState>
  /** A login, a logout. */
  | { readonly resource: 'session' } & Action<Pick<Session, 'id' | 'kind' | 'userId' | 'clientId'>>
  | { readonly resource: 'lockout' } & Action<Lockout>
  /** A visitor's, cut by hand. */
  | { readonly resource: 'connection'; readonly action: 'delete'; readonly before: ConnectionState }
  | { readonly resource: 'failedAttempt'; readonly action: 'create'; readonly after: FailedAttempt }
);

/** Called once for each change, after it was committed. The mutation answers when all are through. */
export type ChangeListener = (change: Change) => void | Promise<void>;

/**
 * The path of every write. One change runs at a time, from reading the rows it decides on to the engine's having applied it:
 * the engine sees changes in the order they were committed, so store and engine can't come apart, and no rule decides on a
 * row that another change is just replacing. Writers lose nothing by it: SQLite takes one at a time anyway.
 */
export class Changes {
  readonly #listeners = new Set<ChangeListener>();
  #last: Promise<unknown> = Promise.resolve();

  /** @returns the way to unsubscribe */
  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Runs `work` when all changes before it are through. `work` must not call this itself. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /**
   * Tells every listener, and waits for them. One that fails doesn't keep it from the others.
   * @throws what the first listener that failed threw
   */
  async publish(change: Change): Promise<void> {
    const results = await Promise.allSettled([...this.#listeners].map(async (listener) => listener(change)));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
}
