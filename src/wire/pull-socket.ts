import { closeSoon } from './delayed-close.ts';
import type { ByteSocket, SocketSink } from './socket.ts';

/** Bytes kept unread before the socket is paused. */
const HIGH_WATER = 64 * 1024;

/** The connection is lost, or the awaited bytes did not arrive in time (`timeout`). */
export class SocketGoneError extends Error {
  override readonly name = 'SocketGoneError';
  readonly timeout: boolean;

  constructor(message: string, { timeout = false, ...options }: ErrorOptions & { readonly timeout?: boolean } = {}) {
    super(message, options);
    this.timeout = timeout;
  }
}

/**
 * A socket that is read on demand, for protocols that read in steps. It holds `HIGH_WATER` unread bytes at most (and one chunk);
 * then the socket is paused.
 */
export class PullSocket implements SocketSink {
  readonly #socket: ByteSocket;
  readonly #takeMs: number | undefined;
  #unread: Buffer[] = [];
  #unreadBytes = 0;
  #paused = false;
  #ended = false;
  #failure: SocketGoneError | undefined;
  /** Lost, closed or handed over: the socket is no longer ours. */
  #over = false;
  #timer: NodeJS.Timeout | undefined;
  #wakeReader: (() => void) | undefined;
  #wakeWriter: (() => void) | undefined;
  #onGone: (() => void) | undefined;
  #onEnded: (() => void) | undefined;

  /** @param takeMs the peer is disconnected if it accepts no written bytes for this many ms. Absent = unlimited */
  constructor(socket: ByteSocket, takeMs?: number) {
    this.#socket = socket;
    this.#takeMs = takeMs;
    socket.attach(this);
  }

  /** The connection is lost, was closed, or took too long. */
  get gone(): boolean {
    return this.#failure !== undefined;
  }

  /** Open in both directions, without unread bytes. */
  get idle(): boolean {
    return !this.#ended && !this.#failure && this.#unread.length === 0;
  }

  /** Called once when the connection is lost or timed out; undefined = no callback. */
  set onGone(listener: (() => void) | undefined) {
    this.#onGone = listener;
  }

  /** Called once when the peer ends its direction; undefined = no callback. */
  set onEnded(listener: (() => void) | undefined) {
    this.#onEnded = listener;
  }

  /** The next bytes, as soon as there are any; undefined = the peer has ended its direction. @throws {SocketGoneError} */
  async read(): Promise<Buffer | undefined> {
    for (;;) {
      const chunk = this.arrived();
      if (chunk) return chunk;
      if (this.#ended) return undefined;
      this.#check();
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
  }

  /** The next chunk that has already arrived; undefined = none. */
  arrived(): Buffer | undefined {
    const chunk = this.#unread.shift();
    if (chunk) {
      this.#unreadBytes -= chunk.length;
      this.#regulate();
    }
    return chunk;
  }

  /** Puts back bytes that were read too far. */
  unread(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.#unread.unshift(chunk);
    this.#unreadBytes += chunk.length;
  }

  /**
   * Reads until `parse` returns a result, and no further; undefined = the peer ended its direction before.
   * `parse` must throw if the input grows too large.
   * @throws {SocketGoneError} and what `parse` throws
   */
  async parse<T extends { readonly length: number }>(parse: (bytes: Buffer) => T | undefined): Promise<T | undefined> {
    let bytes = await this.read();
    while (bytes) {
      const parsed = parse(bytes);
      if (parsed) {
        this.unread(bytes.subarray(parsed.length));
        return parsed;
      }
      const more = await this.read();
      if (!more) return undefined;
      bytes = Buffer.concat([bytes, more]);
    }
    return undefined;
  }

  /** Writes; resolves when there is space for more. @throws {SocketGoneError} */
  async write(chunk: Buffer): Promise<void> {
    this.#check();
    if (this.#socket.write(chunk)) return;
    const timer = this.#takeMs === undefined ? undefined : setTimeout(() => this.destroy(), this.#takeMs);
    await new Promise<void>((resolve) => {
      this.#wakeWriter = resolve;
    });
    clearTimeout(timer);
    this.#check();
  }

  #check(): void {
    if (this.#failure) throw this.#failure;
  }

  /** Closes the connection unless `deadline` is called again within `ms`; undefined = no deadline. */
  deadline(ms: number | undefined): void {
    clearTimeout(this.#timer);
    this.#timer = ms === undefined ? undefined : setTimeout(() => this.#fail(new SocketGoneError(`nothing came within ${ms} ms`, { timeout: true })), ms);
  }

  /** Hands the socket, including unread bytes, over to the sink that attaches next. */
  release(): ByteSocket {
    const unread = Buffer.concat(this.#unread);
    this.#leave('the connection was handed over');
    this.#socket.pause();
    if (unread.length > 0) this.#socket.unread(unread);
    return this.#socket;
  }

  /** Ends after pending writes, and closes once the peer has had time to read them. `finalBytes` are written even if a deadline has passed. */
  closeSoon(finalBytes?: Buffer): void {
    if (this.#over) return;
    this.#leave('the connection was closed');
    if (finalBytes) this.#socket.write(finalBytes);
    closeSoon(this.#socket);
  }

  /** Resets the connection. */
  destroy(): void {
    if (this.#over) return;
    this.#leave('the connection was closed');
    this.#socket.destroy(true);
  }

  #leave(why: string): void {
    this.#over = true;
    this.deadline(undefined);
    this.#unread = [];
    this.#unreadBytes = 0;
    this.#onGone = undefined;
    this.#onEnded = undefined;
    this.#fail(new SocketGoneError(why));
  }

  #fail(failure: SocketGoneError): void {
    this.#failure ??= failure;
    this.#wakeReader?.();
    this.#wakeWriter?.();
    this.#onGone?.();
    this.#onGone = undefined;
  }

  #regulate(): void {
    const pause = this.#unreadBytes >= HIGH_WATER;
    if (pause === this.#paused) return;
    this.#paused = pause;
    if (pause) this.#socket.pause();
    else this.#socket.resume();
  }

  onData(chunk: Buffer): void {
    if (this.#failure) return;
    this.#unread.push(chunk);
    this.#unreadBytes += chunk.length;
    this.#regulate();
    this.#wakeReader?.();
  }

  onEnd(): void {
    this.#ended = true;
    this.#wakeReader?.();
    this.#onEnded?.();
  }

  onDrain(): void {
    this.#wakeWriter?.();
  }

  onClose(error?: Error): void {
    this.#over = true;
    this.deadline(undefined);
    this.#fail(new SocketGoneError(`the connection was lost${error ? `: ${error.message}` : ''}`, { cause: error }));
  }
}
