import type { ByteSocket, SocketSink } from '../../wire/socket.ts';
import { withOrigin } from '../../wire/with-origin.ts';
import { readProxyPreface } from './proxy-preface.ts';

/** How connections of trusted proxies are handled. */
export interface ProxiedContext {
  /** Whether the address is that of a trusted proxy. */
  readonly trusts: (address: string) => boolean;
  /** How long a header may take, in ms. */
  readonly headMs: number;
  readonly serve: (socket: ByteSocket) => void;
  /** The header is malformed: the connection is closed. */
  readonly refused: (address: string) => void;
}

/** Maximum connections of proxies whose first bytes have not arrived. */
const MAX_WAITING = 4096;

/** Removes the PROXY protocol header from connections of trusted proxies, which may send one or none. Others are passed on unchanged. */
export class ProxiedSockets {
  readonly #context: ProxiedContext;
  readonly #waiting = new Set<ByteSocket>();

  constructor(context: ProxiedContext) {
    this.#context = context;
  }

  accept(socket: ByteSocket): void {
    const { trusts, serve, headMs } = this.#context;
    if (!trusts(socket.remoteAddress)) {
      serve(socket);
      return;
    }
    if (this.#waiting.size >= MAX_WAITING) {
      socket.destroy(true);
      return;
    }
    this.#waiting.add(socket);
    const timer = setTimeout(() => socket.destroy(true), headMs);
    socket.attach(
      new Preface(socket, (result) => {
        clearTimeout(timer);
        this.#waiting.delete(socket);
        if (result === 'invalid') this.#context.refused(socket.remoteAddress);
        else if (result !== 'gone') serve(result);
      }),
    );
  }

  /** Closes those that have sent nothing yet. */
  close(): void {
    for (const socket of this.#waiting) socket.destroy(true);
  }
}

/** Reads until it is known whether there is a header. */
class Preface implements SocketSink {
  readonly #socket: ByteSocket;
  readonly #done: (result: ByteSocket | 'invalid' | 'gone') => void;
  #bytes = Buffer.alloc(0);
  #over = false;

  /** @param done called once, with the connection after its header, or the reason why there is none */
  constructor(socket: ByteSocket, done: (result: ByteSocket | 'invalid' | 'gone') => void) {
    this.#socket = socket;
    this.#done = done;
  }

  onData(chunk: Buffer): void {
    if (this.#over) return;
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    const preface = readProxyPreface(this.#bytes);
    if (preface.kind === 'incomplete') return;
    this.#over = true;
    if (preface.kind === 'invalid') {
      this.#done('invalid');
      this.#socket.destroy(true);
      return;
    }
    const [length, origin] = preface.kind === 'header' ? [preface.length, preface.origin] : [0, undefined];
    if (length < this.#bytes.length) this.#socket.unread(this.#bytes.subarray(length));
    this.#done(origin ? withOrigin(this.#socket, origin) : this.#socket);
  }

  onEnd(): void {
    this.#socket.destroy();
  }

  onDrain(): void {
    // Nothing was written.
  }

  onClose(): void {
    if (!this.#over) this.#done('gone');
  }
}
