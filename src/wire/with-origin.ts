import type { PairOrigin } from './socket-pair.ts';
import type { ByteSocket, SocketAddress, SocketSink } from './socket.ts';

/** The same connection with the address of its origin: the client for which the peer, a proxy, forwards it. */
export function withOrigin(socket: ByteSocket, origin: PairOrigin): ByteSocket {
  return new PassedOn(socket, origin);
}

class PassedOn implements ByteSocket {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly local?: SocketAddress;
  readonly #socket: ByteSocket;

  constructor(socket: ByteSocket, { remoteAddress, remotePort, local }: PairOrigin) {
    this.#socket = socket;
    this.remoteAddress = remoteAddress;
    this.remotePort = remotePort;
    this.local = local;
  }

  get pending(): number {
    return this.#socket.pending;
  }

  attach(sink: SocketSink): void {
    this.#socket.attach(sink);
  }

  unread(chunk: Buffer): void {
    this.#socket.unread(chunk);
  }

  write(chunk: Buffer, taken?: () => void): boolean {
    return this.#socket.write(chunk, taken);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  end(): void {
    this.#socket.end();
  }

  destroy(reset?: boolean): void {
    this.#socket.destroy(reset);
  }
}
