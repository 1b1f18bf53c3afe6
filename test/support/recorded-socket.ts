import type net from 'node:net';
import { errnoOf } from '../../src/wire/system-error.ts';

/** How one end saw the other one's direction end. */
export type SeenEnd = 'end' | 'reset';

/** One end of a connection that keeps what it sees until it is asked for it. */
export class RecordedSocket {
  readonly socket: net.Socket;
  /** Seen, and not asked for yet; Latin-1. */
  #unread = '';
  #end: SeenEnd | undefined;
  readonly #closed: Promise<void>;
  #wake: () => void = () => undefined;

  constructor(socket: net.Socket) {
    this.socket = socket.setEncoding('latin1').setNoDelay();
    socket.on('data', (text: string) => {
      this.#unread += text;
      this.#wake();
    });
    socket.on('end', () => this.#over('end'));
    socket.on('error', (error) => this.#over(errnoOf(error) === 'EPIPE' ? 'end' : 'reset'));
    this.#closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.#over('end');
        resolve();
      });
    });
  }

  #over(end: SeenEnd): void {
    this.#end ??= end;
    this.#wake();
  }

  /** What was seen and not asked for. */
  get unread(): string {
    return this.#unread;
  }

  /** Waits until `done` says what to take of what was seen, or no more can come. */
  async #until(done: (unread: string) => boolean): Promise<void> {
    while (!done(this.#unread) && this.#end === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Takes as much as `expected` is long; less, or something else, as soon as it can't become that any more. @param settle see OriginPart */
  async take(expected: string, settle: (seen: string) => string): Promise<string> {
    await this.#until((unread) => unread.length >= expected.length || !expected.startsWith(settle(unread)));
    return settle(this.#cut(expected.length));
  }

  /** Takes a whole response with a length. @throws when it isn't one */
  async takeResponse(): Promise<{ readonly status: number; readonly head: string; readonly body: string }> {
    await this.#until((unread) => unread.includes('\r\n\r\n'));
    const headLength = this.#unread.indexOf('\r\n\r\n') + 4;
    const [, status, length] = /^HTTP\/1\.1 (\d{3}) [^]*\r\nContent-Length: (\d+)\r\n/.exec(this.#unread.slice(0, headLength)) ?? [];
    if (length === undefined) throw new Error(`no response with a length: ${JSON.stringify(this.#unread.slice(0, 2000))}`);
    await this.#until((unread) => unread.length >= headLength + Number(length));
    return { status: Number(status), head: this.#cut(headLength), body: this.#cut(Number(length)) };
  }

  /** How the other direction ended, when it has. */
  async ended(): Promise<SeenEnd> {
    await this.#until(() => false);
    return this.#end ?? 'end';
  }

  /** Resolves when the connection is gone. */
  get closed(): Promise<void> {
    return this.#closed;
  }

  #cut(length: number): string {
    const taken = this.#unread.slice(0, length);
    this.#unread = this.#unread.slice(length);
    return taken;
  }
}
