import { once } from 'node:events';
import net from 'node:net';
import { BULK_FILE_BYTES } from './targets.ts';

/** Longest head of an answer, in bytes. */
const MOST_HEAD_BYTES = 500;

/** Asks for the bulk file again and again on one connection, and counts what comes. */
export class BulkReader {
  /** Bytes read so far. */
  bytes = 0;
  readonly #socket: net.Socket;
  readonly #files: number;

  /** @param files how many times to ask; all at once, so that there is no pause between them */
  constructor(port: number, files: number) {
    this.#files = files;
    // One buffer for all reads: nothing is kept, so nothing need be allocated.
    const onread = {
      buffer: Buffer.alloc(512 * 1024),
      callback: (bytes: number) => {
        this.bytes += bytes;
        return true;
      },
    };
    this.#socket = net.connect({ port, host: '127.0.0.1', onread });
    const request = 'GET /bulk HTTP/1.1\r\nHost: localhost\r\n';
    this.#socket.write(`${`${request}\r\n`.repeat(files - 1)}${request}Connection: close\r\n\r\n`);
  }

  /** Resolves when everything has come. @throws when it is less, or when the connection breaks */
  async complete(): Promise<void> {
    await once(this.#socket, 'end');
    const heads = this.bytes - this.#files * BULK_FILE_BYTES;
    if (heads <= 0 || heads > this.#files * MOST_HEAD_BYTES) throw new Error(`${this.bytes} bytes came, which is not ${this.#files} times the file`);
  }

  /** Resolves when the first bytes have come. */
  async flowing(): Promise<void> {
    while (this.bytes === 0) {
      await new Promise((resolve) => {
        setTimeout(resolve, 5);
      });
    }
  }

  stop(): void {
    this.#socket.on('error', () => undefined).destroy(); // the other end may be writing
  }
}
