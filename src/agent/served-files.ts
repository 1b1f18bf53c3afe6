import type { Logger } from 'pino';
import type { FileServer } from '../stream-handlers/files/file-server.ts';
import type { Site } from '../stream-handlers/files/served-path.ts';
import type { ByteSocket } from '../wire/socket.ts';

/** The directories that tunnels may serve. Most agents serve none, so their HTTP server is loaded and created with the first visitor. */
export class ServedFiles {
  #roots: readonly string[];
  readonly #log: Logger;
  #loading: Promise<FileServer> | undefined;
  #server: FileServer | undefined;

  /** @param roots directories that may be served, with their subdirectories */
  constructor(roots: readonly string[], log: Logger) {
    this.#roots = roots;
    this.#log = log;
  }

  /** Replaces the directories that may be served. */
  allow(roots: readonly string[]): void {
    this.#roots = roots;
    this.#server?.allow(roots);
  }

  /** Serves a site to the visitor at the other end of `socket`. */
  async serve(socket: ByteSocket, site: Site): Promise<void> {
    this.#loading ??= this.#load();
    (await this.#loading).serve(socket, site);
  }

  /** Stops the timers. Call it when no connection is left. */
  async close(): Promise<void> {
    (await this.#loading)?.close();
  }

  async #load(): Promise<FileServer> {
    const { FileServer } = await import('../stream-handlers/files/file-server.ts');
    this.#server = new FileServer(this.#roots, this.#log);
    return this.#server;
  }
}
