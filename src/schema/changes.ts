import type { ConnectionState, CountedBytes, PortLease } from '../engine/face.ts';
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

/** What changes of records with counters may tell. */
interface Resettable {
  /** Its traffic was reset: the totals as they were, which count no more. */
  readonly reset?: CountedBytes;
}

/** Who makes a change: somebody who calls, or the program itself. */
export type Author = Caller | (Credentials & { readonly kind: 'server' });

type Action<Row> =
  | { readonly action: 'create'; readonly after: Row }
  | { readonly action: 'update'; readonly before: Row; readonly after: Row }
  | { readonly action: 'delete'; readonly before: Row };

/** A change: the rows before and after, who made it and when. Stored, but for attempts, lockouts and visitors' connections. */
export type Change = { readonly caller: Author; readonly at: Date } & (
  | { readonly resource: 'client' } & Resettable & Action<ClientWithOwner>
  /** `lease` holds the port of a listener that has to be opened anew. */
  | { readonly resource: 'tunnel'; readonly lease?: PortLease } & Resettable & Action<Tunnel>
  | { readonly resource: 'host' } & Resettable & Action<Host>
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

/** A change as a write tells it: who makes it and when, its path knows. */
export type MadeChange = ChangeOf<Change>;

type ChangeOf<T> = T extends Change ? Omit<T, 'caller' | 'at'> : never;

/** Called once for each change, after it was committed. The mutation answers when all are through. */
export type ChangeListener = (change: Change) => void | Promise<void>;

/** Whoever wants to know of changes: the engine, the subscribers. */
export class Changes {
  readonly #listeners = new Set<ChangeListener>();

  /** @returns the way to unsubscribe */
  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
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
