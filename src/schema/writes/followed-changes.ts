import type { CountedBytes, PortLease } from '../../engine/face.ts';
import type { GlobalSettings, Host, Tunnel } from '../../store/generated/sqlite/client.ts';
import type { Change, ClientWithOwner } from './changes.ts';

/** The client and owner of a record, as the ownership rule needs them. */
export interface Scope {
  /** The client's id. */
  readonly id: number;
  readonly userId: number | null;
}

/** The fields of changes of clients, tunnels and hosts. `row`: the record as it is now; null = it was deleted. */
interface Of<Row> {
  readonly id: number;
  readonly row: Row | null;
  /** Its client and owner before the change; absent = it was created. */
  readonly was?: Scope;
  /** The bytes that a reset of its traffic subtracts. */
  readonly reset?: CountedBytes;
}

/** What the engine and the subscribers need to know of a committed change, of this server or of another one. */
export type FollowedChange =
  | { readonly resource: 'client' } & Of<ClientWithOwner>
  /** `lease` holds the port of a listener that must be reopened. */
  | { readonly resource: 'tunnel'; readonly lease?: PortLease } & Of<Tunnel>
  | { readonly resource: 'host' } & Of<Host>
  /** The clients whose state changes with their owner's. */
  | { readonly resource: 'user'; readonly id: number; readonly clients: readonly ClientWithOwner[] }
  | { readonly resource: 'globalSettings'; readonly row: Pick<GlobalSettings, 'blackIpList' | 'serverUrl'> | null }
  /** Whether a node is to drain. */
  | { readonly resource: 'node' }
  /** What is kept of the ACME certificate of a name, by another server. */
  | { readonly resource: 'acme'; readonly name: string }
  /** Tokens or sessions. */
  | { readonly resource: 'access' };

/** Called once for each change after its commit, and again if a listener fails. The mutation returns when all listeners are done. */
export type ChangeListener = (change: FollowedChange) => void | Promise<void>;

/** A listener to committed changes: the engine, the subscribers. */
export class Changes {
  readonly #listeners = new Set<ChangeListener>();

  /** @returns a function to unsubscribe */
  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Whether there is any listener. */
  get hasListeners(): boolean {
    return this.#listeners.size > 0;
  }

  /**
   * Calls all listeners and waits for them. A listener that fails doesn't affect the others.
   * @throws the error of the first listener that failed
   */
  async publish(change: FollowedChange): Promise<void> {
    const results = await Promise.allSettled([...this.#listeners].map(async (listener) => listener(change)));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
}

/** A change of this server, which has the rows at hand. undefined = nobody follows it. */
export function followedOf(change: Change): FollowedChange | undefined {
  switch (change.resource) {
    case 'client':
    case 'tunnel':
    case 'host':
      return followedRecord(change);
    case 'user':
      return { resource: 'user', id: change.action === 'delete' ? change.before.id : change.after.id, clients: change.clients };
    case 'globalSettings':
      return { resource: 'globalSettings', row: change.action === 'delete' ? null : change.after };
    case 'node':
      return { resource: 'node' };
    case 'apiToken':
    case 'session':
      return { resource: 'access' };
    case 'enrolment':
    case 'acmeOrder':
    case 'installationKey':
    // Writes publishes each of its records.
    case 'import':
    case 'connection':
    case 'lockout':
    case 'failedAttempt':
      return undefined;
  }
}

type RecordChange = Extract<Change, { readonly resource: 'client' | 'tunnel' | 'host' }>;

/** A change of a client, tunnel or host of this server. */
export function followedRecord(change: RecordChange): Extract<FollowedChange, { readonly resource: RecordChange['resource'] }> {
  const { id } = change.action === 'delete' ? change.before : change.after;
  const common = { id, reset: change.reset };
  switch (change.resource) {
    case 'client':
      return {
        ...common,
        resource: 'client',
        row: change.action === 'delete' ? null : change.after,
        was: change.action === 'create' ? undefined : clientScope(change.before),
      };
    case 'tunnel':
      return {
        ...common,
        resource: 'tunnel',
        row: change.action === 'delete' ? null : change.after,
        was: change.action === 'create' ? undefined : routeScope(change.before),
        lease: change.lease,
      };
    case 'host':
      return {
        ...common,
        resource: 'host',
        row: change.action === 'delete' ? null : change.after,
        was: change.action === 'create' ? undefined : routeScope(change.before),
      };
  }
}

/** The scope of a client. */
export function clientScope({ id, userId }: Scope): Scope {
  return { id, userId };
}

/** The scope of a tunnel or host. */
export function routeScope({ clientId, ownerId }: { readonly clientId: number; readonly ownerId: number | null }): Scope {
  return { id: clientId, userId: ownerId };
}
