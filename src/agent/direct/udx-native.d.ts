/** The part of udx-native that is used here; it has no types of its own. */
declare module 'udx-native' {
  import type { EventEmitter } from 'node:events';

  export interface UdxSocket extends EventEmitter {
    address(): { host: string; family: number; port: number } | null;
    /** @throws the system's error */
    bind(port: number, host: string): void;
    /** Sends a datagram that is not part of a stream; errors are not reported. */
    trySend(message: Uint8Array, port: number, host: string): void;
    /** Closes once its streams are gone. */
    close(): Promise<void>;
    on(event: 'message', listener: (message: Buffer, from: { host: string; family: number; port: number }) => void): this;
  }

  /** A streamx Duplex. */
  export interface UdxStream extends EventEmitter {
    connect(socket: UdxSocket, remoteId: number, port: number, host: string): void;
    /** False = wait for 'drain'. */
    write(chunk: Uint8Array): boolean;
    end(): void;
    pause(): void;
    resume(): void;
    destroy(error?: Error): void;
  }

  export default class UDX {
    createSocket(): UdxSocket;
    createStream(id: number): UdxStream;
  }
}
