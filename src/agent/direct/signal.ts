import { type DirectMessage, directMessageSchema } from '../../wire/direct-messages.ts';
import type { ByteSocket, SocketSink } from '../../wire/socket.ts';

/** Maximum bytes that the peer may send on the signaling stream; a path needs two messages. */
const MAX_BYTES = 16 * 1024;

/** The local end of the signaling stream of a direct path: one message per line, in both directions. */
export class Signal implements ByteSocket {
  readonly remoteAddress = '';
  readonly remotePort = 0;
  readonly pending = 0;
  /** Resolves when the stream has ended, for any reason. */
  readonly closed: Promise<void>;
  #resolveClosed: () => void = () => undefined;
  #sink: SocketSink | undefined;
  /** Messages sent before the stream was attached. */
  #early: Buffer[] = [];
  #text = '';
  #received = 0;
  readonly #messages: DirectMessage[] = [];
  #wake: () => void = () => undefined;
  #over = false;

  constructor() {
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  /** Sends the peer a message. */
  send(message: DirectMessage): void {
    const line = Buffer.from(`${JSON.stringify(message)}\n`);
    if (this.#sink) this.#sink.onData(line);
    else this.#early.push(line);
  }

  /**
   * Receives the next message, which must have this type.
   * @throws {Error} if it doesn't, or the stream has ended
   */
  async receive<T extends DirectMessage['type']>(type: T): Promise<Extract<DirectMessage, { type: T }>> {
    for (;;) {
      const message = this.#messages.shift();
      if (message) {
        if (isOf(type, message)) return message;
        throw new Error(`the peer said ${message.type} instead of ${type}`);
      }
      if (this.#over) throw new Error('the peer ended the attempt');
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  attach(sink: SocketSink): void {
    setImmediate(() => {
      if (this.#over) {
        sink.onClose();
        return;
      }
      this.#sink = sink;
      for (const line of this.#early) sink.onData(line);
      this.#early = [];
    });
  }

  unread(): void {
    throw new Error('messages are not read too far');
  }

  write(chunk: Buffer): boolean {
    this.#received += chunk.length;
    if (this.#received > MAX_BYTES) {
      this.destroy();
      return true;
    }
    const lines = (this.#text + chunk.toString('utf8')).split('\n');
    this.#text = lines.pop() ?? '';
    for (const line of lines) this.#take(line);
    return true;
  }

  #take(line: string): void {
    const message = directMessageSchema.safeParse(parsed(line));
    if (message.success) this.#messages.push(message.data);
    else this.destroy();
    this.#wake();
  }

  pause(): void {
    // A few lines fit into the credit of the stream.
  }

  resume(): void {
    // see pause
  }

  /** The peer ended its direction: the path is over. */
  end(): void {
    this.destroy();
  }

  destroy(): void {
    if (this.#over) return;
    this.#over = true;
    this.#wake();
    this.#resolveClosed();
    this.#sink?.onClose();
  }
}

function isOf<T extends DirectMessage['type']>(type: T, message: DirectMessage): message is Extract<DirectMessage, { type: T }> {
  return message.type === type;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined; // not JSON: no message either
  }
}
