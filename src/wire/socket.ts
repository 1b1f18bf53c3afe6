import type net from 'node:net';
import type { TLSSocket } from 'node:tls';

/**
 * The one interface between the engine's byte paths and the sockets of the machine. Everything that moves bytes (mux, streams,
 * data connections, handshake) is written against it, so that a faster backend changes one file.
 */

/** Receives what happens on a socket. */
export interface SocketSink {
  /** Chunks may be lent: they are valid only until onData returns, and copied when they are needed longer. Absent = each is the sink's own. */
  readonly borrows?: true;
  /** Many streams come from it: it neither waits for other sockets nor lets those that carry much wait. */
  readonly shared?: true;
  /** Bytes arrived. */
  onData(chunk: Buffer): void;
  /** The peer ended its direction; no more onData. */
  onEnd(): void;
  /** Everything written was handed to the kernel, after a write() that answered false. */
  onDrain(): void;
  /** The socket is gone. Called once, always last; `error` when it didn't end cleanly. */
  onClose(error?: Error): void;
}

/** One end of a connection. */
export interface SocketAddress {
  /** IPv4-mapped IPv6 addresses are given as IPv4. "" = the connection is gone already. */
  readonly address: string;
  readonly port: number;
}

/** How long one direction of a visitor's connection may be over while nothing moves in the other, in ms, unless the settings say otherwise. */
export const HALF_CLOSED_MS = 300_000;

/** A connected byte stream with half close and back-pressure. */
export interface ByteSocket {
  /** The peer's address; IPv4-mapped IPv6 addresses are given as IPv4. "" when the peer is gone already. */
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
  /**
   * Starts reading into `sink`, in a later iteration of the event loop. Attach again to hand the socket over (handshake to mux, mux stream to data
   * connection): no byte is lost or seen twice.
   */
  attach(sink: SocketSink): void;
  /** Gives bytes back that were read too far; the next attached sink sees them first. */
  unread(chunk: Buffer): void;
  /**
   * Queues bytes. They must not be changed until `taken` is called, once, if ever. False = the high-water mark is passed: wait for
   * onDrain.
   */
  write(chunk: Buffer, taken?: () => void): boolean;
  /** Stops and restarts onData. */
  pause(): void;
  resume(): void;
  /** Ends our direction (FIN) once everything written is sent. */
  end(): void;
  /** Closes at once; `reset` sends RST instead of FIN, to signal an error to the peer. */
  destroy(reset?: boolean): void;
}

/** A listening socket. */
export interface SocketServer {
  readonly host: string;
  readonly port: number;
  /** Stops accepting; the port is free when it resolves. Accepted sockets live on. */
  close(): Promise<void>;
  /**
   * Shows another certificate from now on, to those who connect after it. For listeners with an identity only.
   * @throws OpenSSL's error when certificate and key don't belong together: the one before stays
   */
  renew(identity: TlsIdentity): void;
}

/** What a TLS server shows of itself: PEM texts. */
export interface TlsIdentity {
  /** With the chain below it, if there is one. */
  readonly certificate: string;
  readonly key: string;
}

/** How a TLS client verifies the server. */
export interface TlsTrust {
  /** SHA-256 of the server's certificate, 64 hex digits; "" = any: the handshake above TLS proves who it is. */
  readonly fingerprint: string;
}

/** Where to listen. */
export interface ListenOptions {
  /** "" = all addresses, IPv4 and IPv6. */
  readonly host: string;
  /** 0 = ephemeral. */
  readonly port: number;
  /** Makes it TLS 1.3. Sockets come before their TLS handshake, which the first one who reads waits for. */
  readonly identity?: TlsIdentity | undefined;
  /** A socket is reset when one of its directions is over and nothing has moved in the other for this many ms; absent = never. */
  readonly halfClosedMs?: number | undefined;
  /** A connection was accepted. Not called for those that were reset before. */
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
  /** Makes it TLS 1.3. */
  readonly trust?: TlsTrust | undefined;
}

/** Called once, in a later iteration of the event loop: the connected socket, or why there is none. */
export type OnDialled = (outcome: ByteSocket | Error) => void;

/** One way to get sockets from the machine. */
export interface SocketBackend {
  readonly name: string;
  /** `connect` without a promise: microtasks are a good part of what a connection costs an agent. */
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
