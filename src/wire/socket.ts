import type net from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { SharePort } from './shared-ports.ts';

/**
 * The only interface between the engine's byte paths and the machine's sockets. Everything that moves bytes (mux, streams,
 * data connections, handshake) uses it, so that a faster backend changes one file.
 */

/** Receives what happens on a socket. */
export interface SocketSink {
  /** Chunks may be lent: valid only until onData returns, so the sink copies them to keep them. Absent = the sink owns each chunk. */
  readonly borrows?: true;
  /** The socket carries many streams: it neither waits for other sockets nor makes bulk sockets wait. */
  readonly shared?: true;
  /** Bytes arrived. */
  onData(chunk: Buffer): void;
  /** The peer ended its direction; no more onData. */
  onEnd(): void;
  /** Everything written was passed to the kernel, after a write() that returned false. */
  onDrain(): void;
  /** The socket is gone. Called once, always last; `error` when it didn't end cleanly. */
  onClose(error?: Error): void;
}

/** One end of a connection. */
export interface SocketAddress {
  /** IPv4-mapped IPv6 addresses are given as IPv4. "" = the connection is already lost. */
  readonly address: string;
  readonly port: number;
}

/** How long one direction of a visitor's connection may have ended while no bytes move in the other, in ms, unless the settings differ. */
export const HALF_CLOSED_MS = 300_000;

/** A connected byte stream with half close and back-pressure. */
export interface ByteSocket {
  /** The peer's address; IPv4-mapped IPv6 addresses are given as IPv4. "" = the connection is already lost. */
  readonly remoteAddress: string;
  readonly remotePort: number;
  /** Our address that the peer connected to. Absent = it is not an address of this machine. */
  readonly local?: SocketAddress;
  /**
   * With TLS: a secret that only the two ends of this connection share (RFC 9266), for proofs that a man in the middle can't relay.
   * Absent = no TLS. Call it after the first byte was read or the connection was dialed; undefined = the connection is closed.
   */
  readonly channelSecret?: () => Buffer | undefined;
  /** Bytes written but not yet handed to the kernel. */
  readonly pending: number;
  /** `write` calls `taken` before it returns: lent bytes need no copy. Absent = it may call it later. */
  readonly takesAtOnce?: boolean | undefined;
  /**
   * Starts reading into `sink`, in a later iteration of the event loop. Attach again to hand the socket over (handshake to mux, mux stream to data
   * connection): no byte is lost or seen twice.
   */
  attach(sink: SocketSink): void;
  /** Puts back bytes that were read too far; the next attached sink gets them first. */
  unread(chunk: Buffer): void;
  /**
   * Queues bytes. Don't change them until `taken` is called, at most once. False = above the high-water mark: wait for
   * onDrain.
   */
  write(chunk: Buffer, taken?: () => void): boolean;
  /** Stops and restarts onData. */
  pause(): void;
  resume(): void;
  /** Ends our direction (FIN) once everything written is sent. */
  end(): void;
  /** Closes immediately; `reset` sends RST instead of FIN, to signal an error to the peer. */
  destroy(reset?: boolean): void;
}

/** A listening socket. */
export interface SocketServer {
  readonly host: string;
  readonly port: number;
  /** Stops accepting; the port is free when it resolves. Accepted sockets stay open. */
  close(): Promise<void>;
  /**
   * Replaces the certificate for new connections. Only for listeners with an identity.
   * @throws OpenSSL's error when certificate and key don't match: the old certificate stays in use
   */
  renew(identity: TlsIdentity): void;
}

/** The identity of a TLS server, as PEM texts. */
export interface TlsIdentity {
  /** Followed by its chain, if there is one. */
  readonly certificate: string;
  readonly key: string;
}

/** How a TLS client verifies the server. */
export interface TlsTrust {
  /** SHA-256 of the server's certificate, 64 hex digits; "" = any: the handshake inside TLS authenticates the server. */
  readonly fingerprint: string;
}

/** Where to listen. */
export interface ListenOptions {
  /** "" = all addresses, IPv4 and IPv6. */
  readonly host: string;
  /** 0 = ephemeral. */
  readonly port: number;
  /** Gets a port that other processes have open, too; absent = this process alone has it. */
  readonly share?: SharePort | undefined;
  /** Enables TLS 1.3. `onSocket` gets sockets before their handshake; the first read waits for it. */
  readonly identity?: TlsIdentity | undefined;
  /** Resets a socket when one of its directions has ended and no bytes have moved in the other for this many ms; absent = never. */
  readonly halfClosedMs?: number | undefined;
  /** A connection was accepted. Not called for connections that were reset before. */
  readonly onSocket: (socket: ByteSocket) => void;
  /** An accept failed (for example, out of file descriptors); the listener continues. */
  readonly onError: (error: Error) => void;
}

/** Where to connect. */
export interface ConnectOptions {
  readonly host: string;
  readonly port: number;
  /** Timeout in ms, DNS and TLS included. */
  readonly timeoutMs: number;
  /** Enables TLS 1.3. */
  readonly trust?: TlsTrust | undefined;
}

/** Called once, in a later iteration of the event loop: with the connected socket, or the error. */
export type OnDialled = (outcome: ByteSocket | Error) => void;

/** One way to create sockets. */
export interface SocketBackend {
  readonly name: string;
  /** `connect` without a promise: microtasks are a large part of an agent's cost per connection. */
  dial(options: ConnectOptions, onDialled: OnDialled): void;
  /** Rejects with the system's error (its `code` is the errno name), a timeout (`ETIMEDOUT`) or a {FingerprintError}. */
  connect(options: ConnectOptions): Promise<ByteSocket>;
  /** Rejects with the system's error (its `code` is the errno name). */
  listen(options: ListenOptions): Promise<SocketServer>;
  /**
   * Takes over a Node TLS socket in the iteration of the event loop in which its handshake was completed, before anything was read from it.
   * @param carrier the socket below it
   * @param halfClosedMs as in `ListenOptions`
   */
  secured(socket: TLSSocket, carrier: net.Socket, halfClosedMs: number): ByteSocket;
}
