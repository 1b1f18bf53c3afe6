import type { Logger } from 'pino';
import type { FileServer } from '../stream-handlers/files/file-server.ts';
import type { Site } from '../stream-handlers/files/served-path.ts';
import type { ByteSocket } from '../wire/socket.ts';

/**
 * The directories that tunnels may serve. Most agents serve none: their HTTP server is loaded and created with the first visitor, which gets a refusal. That of the others is loaded
 * at once, since the program's files may be replaced by an update before the first visitor comes.
 */
export class ServedFiles {
  #roots: readonly string[];
  readonly #log: Logger;
  #loading: Promise<FileServer> | undefined;
  #server: FileServer | undefined;

  /** @param roots directories that may be served, with their subdirectories */
  constructor(roots: readonly string[], log: Logger) {
    this.#roots = roots;
    this.#log = log;
    this.#prepare();
  }

  /** Replaces the directories that may be served. */
  allow(roots: readonly string[]): void {
    this.#roots = roots;
    this.#server?.allow(roots);
    this.#prepare();
  }

  /** Serves a site to the visitor at the other end of `socket`. */
  async serve(socket: ByteSocket, site: Site): Promise<void> {
    (await this.#loaded()).serve(socket, site);
  }

  /** Stops the timers. Call it when no connection is left. */
  async close(): Promise<void> {
    await this.#loading?.catch(() => undefined); // that was logged
    this.#server?.close();
  }

  #prepare(): void {
    if (this.#roots.length === 0) return;
    this.#loaded().catch((error: unknown) => this.#log.warn({ err: error }, 'the server of files could not be loaded; the next visitor tries it again'));
  }

  /** A load that failed is repeated by the next call. */
  async #loaded(): Promise<FileServer> {
    this.#loading ??= this.#load();
    try {
      return await this.#loading;
    } catch (error) {
      this.#loading = undefined;
      throw error;
    }
  }

  async #load(): Promise<FileServer> {
    const { FileServer } = await import('../stream-handlers/files/file-server.ts');
    this.#server = new FileServer(this.#roots, this.#log);
    return this.#server;
  }
}
