import type { ByteSocket, SocketSink } from '../../src/wire/socket.ts';

/** A socket without a network: takes everything, and keeps what is written to it. */
export class EmptySocket implements ByteSocket {
  readonly remoteAddress: string = '';
  readonly remotePort: number = 0;
  readonly pending: number = 0;
  received = '';
  ended = false;
  destroyed = false;
  sink: SocketSink | undefined;
  attach(sink: SocketSink): void {
    this.sink = sink;
  }
  unread(_chunk: Buffer): void {
    throw new Error('nothing is read too far');
  }
  write(chunk: Buffer, taken?: () => void): boolean {
    this.received += chunk.toString('hex');
    taken?.();
    return true;
  }
  pause(): void {/* nothing comes */}
  resume(): void {/* nothing comes */}
  end(): void {
    this.ended = true;
  }
  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.sink?.onClose();
  }
}
