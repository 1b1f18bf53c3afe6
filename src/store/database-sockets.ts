import { Socket } from 'node:net';
import { DatabaseSilentError } from './errors.ts';

/** How long the database may be silent while a query waits, in ms: longer than it waits for a lock. */
const SILENCE_MS = 10_000;

/**
 * The sockets of the connections to PostgreSQL that queries use. A connection ends when a query gets no response, whatever the reason: a frozen database, or a cut network, does not close it. As soon as the database is known to be
 * silent, all of them end, and new ones are refused at once, so that nobody waits for it.
 */
export class DatabaseSockets {
  readonly #open = new Set<Socket>();
  #silent = false;

  /** For the option `stream` of pg. */
  readonly create = (): Socket => {
    const socket = new Socket();
    this.#open.add(socket);
    socket.on('close', () => this.#open.delete(socket));
    if (this.#silent) setImmediate(() => end(socket));
    return socket.setTimeout(SILENCE_MS, () => end(socket));
  };

  /** The database is silent, or no longer. */
  silent(on: boolean): void {
    this.#silent = on;
    if (on) { for (const socket of this.#open) end(socket); }
  }
}

function end(socket: Socket): void {
  socket.destroy(new DatabaseSilentError());
}
