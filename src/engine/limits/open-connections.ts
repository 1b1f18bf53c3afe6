import type { ConnectionState } from '../face.ts';

/** A connection that can be closed from here. */
export interface OpenConnection {
  /** The visitor's. */
  readonly remoteAddress: string;
  /** Its description for lists. */
  readonly state: ConnectionState;
  /** The meters that it counts for: the same object for all of a client's connections to one tunnel or host. */
  readonly counted: object;
  /** Its neighbors in {@link OpenConnections}, which alone sets them. */
  older: OpenConnection | undefined;
  /** @see older */
  newer: OpenConnection | undefined;
  cut(): void;
}

/**
 * The open connections of a client, oldest first.
 *
 * Not a `Set`: each time that its table is full, V8 makes a new one, to which the old one refers, with the members of that moment. Once one table has grown old, all later
 * ones, and all dead connections in them, survive until the next full garbage collection (docs/decisions/node-links.md).
 */
export class OpenConnections implements Iterable<OpenConnection> {
  #oldest: OpenConnection | undefined;
  #newest: OpenConnection | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(connection: OpenConnection): void {
    connection.older = this.#newest;
    if (this.#newest) this.#newest.newer = connection;
    else this.#oldest = connection;
    this.#newest = connection;
    this.#size++;
  }

  /** @param connection one that was added, once */
  delete(connection: OpenConnection): void {
    const { older, newer } = connection;
    if (older) older.newer = newer;
    else this.#oldest = newer;
    if (newer) newer.older = older;
    else this.#newest = older;
    connection.older = undefined;
    connection.newer = undefined;
    this.#size--;
  }

  /** Those that count for these meters, oldest first. A plain loop: a client may have thousands, and as many tunnels, all of which end with it. */
  of(counted: object): OpenConnection[] {
    const found: OpenConnection[] = [];
    for (let connection = this.#oldest; connection; connection = connection.newer) if (connection.counted === counted) found.push(connection);
    return found;
  }

  /** To delete others than the current one meanwhile, copy the list first. */
  *[Symbol.iterator](): Iterator<OpenConnection> {
    for (let connection = this.#oldest; connection;) {
      const { newer } = connection;
      yield connection;
      connection = newer;
    }
  }
}
