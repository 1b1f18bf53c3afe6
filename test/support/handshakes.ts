import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import tls from 'node:tls';

/** Between two handshakes of the same kind, in ms: they would otherwise use a whole processor while a test waits for a file to be noticed. */
const PAUSE_MS = 5;

/** Constant TLS handshakes, each on a connection of its own: some of them new, some that resume a session. */
export class Handshakes {
  /** Names of the certificates that new handshakes were shown since the last `clear`, the last one last. */
  seen: string[] = [];
  readonly failures: unknown[] = [];
  /** How many resumed a session. */
  resumed = 0;
  count = 0;
  #over = false;
  readonly #made = new EventEmitter();
  readonly #workers: Promise<void>[];

  constructor(port: number, servername: string) {
    this.#workers = [
      this.#work({ port, servername }),
      this.#work({ port, servername, maxVersion: 'TLSv1.2' }, true),
      this.#work({ port, servername }, true),
    ];
  }

  /** Resolves when a certificate is shown that has this text among its names. */
  async shows(name: string): Promise<void> {
    for (const from = this.count; this.count < from + 5000; await this.next()) if (this.seen.at(-1)?.includes(name)) return;
    throw new Error(`${name} was not shown`);
  }

  /** Resolves after so many further handshakes. @throws why one failed */
  async next(further = 1): Promise<void> {
    for (const until = this.count + further; this.count < until;) {
      if (this.failures.length > 0) throw this.failures[0];
      if (this.#over) throw new Error('there are no more handshakes');
      await once(this.#made, 'one');
    }
  }

  clear(): void {
    this.seen = [];
  }

  async stop(): Promise<void> {
    this.#over = true;
    await Promise.all(this.#workers);
  }

  async #work(options: tls.ConnectionOptions, resuming = false): Promise<void> {
    let session: Buffer | undefined;
    while (!this.#over) {
      const socket = tls.connect({ host: '127.0.0.1', rejectUnauthorized: false, ...options, session });
      socket.on('session', (given: Buffer) => {
        session = resuming ? given : undefined;
      });
      try {
        await once(socket, 'secureConnect');
        if (socket.isSessionReused()) this.resumed++;
        else this.seen.push(socket.getPeerCertificate().subjectaltname ?? '');
        if (resuming && session === undefined) await once(socket, 'session');
        this.count++;
      } catch (error) {
        this.failures.push(error);
      }
      socket.on('error', () => undefined);
      socket.destroy();
      this.#made.emit('one');
      await delay(PAUSE_MS);
    }
  }
}
