// Longer than 300 lines: it is one state machine, whose two directions end, pause and fail together on the path of every byte.
import { MAX_DATA, ProtocolError } from './frames.ts';
import type { DataConnection, RawReader, RawWriter } from './data-connection.ts';
import { Packer } from './packing.ts';
import type { ByteSocket, SocketSink } from './socket.ts';
import { writeLent } from './spare-buffers.ts';
import type { UnreadHolder, UnreadLedger } from './unread-budget.ts';

/** Bytes of a direction that may be in flight on the mux before the receiver's socket takes them. */
export const WINDOW = 1024 * 1024;
/**
 * The initial window of a host's stream, if its agent supports it (`OpenRequest.credit`). The window grows as the visitor reads, up to WINDOW, so a
 * visitor that reads nothing causes at most this much to be held.
 */
export const START_CREDIT = 128 * 1024;
/** Credit for consumed bytes is returned in steps of this fraction of the window: a short stream needs no WINDOW frame at all. */
const GRANT_SHARE = 1 / 4;
/** The window of each stream, and the step, while the session's streams hold many bytes. A socket that takes more than the difference at once reports when it took it. */
const TIGHT = { window: 256 * 1024, step: 64 * 1024 } as const;
/**
 * A direction that carried this much on the mux in large pieces moves to a data connection. Small pieces, such as the responses of a connection that is
 * kept alive, stay on the mux however many they are: there one write carries those of many streams, while each would be a write of its own on a data
 * connection. A stream that has to wait for the mux soon has large pieces.
 */
const PROMOTE_AFTER = 512 * 1024;
const LARGE_PIECE = 8 * 1024;

/** Callbacks of a stream's owner. All bytes are counted where they are read. */
export interface StreamHooks {
  /** Bytes read from the local socket, toward the peer. */
  onSent?(bytes: number): void;
  /** Bytes received from the peer, toward the local socket. */
  onReceived?(bytes: number): void;
  /** A further budget for the bytes that wait for the local socket, in addition to the session's own. */
  readonly unread?: UnreadLedger | undefined;
  /** The initial credit that the peer announced, in bytes; absent = a whole window. */
  readonly credit?: number | undefined;
  /** The stream is over; `error` when it didn't end cleanly. Called once, always last. */
  onClose?(error?: Error): void;
}

/** What a stream needs of its mux. */
export interface StreamHost {
  /** The batch is full enough: readers wait for their wake(). */
  readonly congested: boolean;
  /** Whether data for the peer is compressed. */
  readonly compress: boolean;
  /** Streams may leave the mux unless something else is said of one. */
  readonly streamsMove: boolean;
  /** The session's streams hold so much for their local sockets that each only gets the credit it needs to make progress. */
  readonly tight: boolean;
  /** Reports that the bytes that the stream holds for its local socket have changed by this number. */
  holds(bytes: number): void;
  park(stream: Stream): void;
  /** @param first of this direction */
  sendData(id: number, payload: Buffer, first: boolean): void;
  /** DATA whose payload is compressed. */
  sendPacked(id: number, payload: Buffer, first: boolean): void;
  sendFin(id: number): void;
  sendReset(id: number): void;
  sendWindow(id: number, bytes: number): void;
  /** Claims a data connection for a stream's direction and sends MOVE to the peer; undefined = none is free. */
  moveOut(stream: Stream, preferred: DataConnection | undefined): DataConnection | undefined;
  /** The stream is over: remove it. */
  forget(stream: Stream): void;
}

const NO_HOOKS: StreamHooks = {};

/** One end of the path between a visitor and a target: a stream, or one of two joined ends. */
export interface Joinable {
  /** Of a stream, in its session: the other end has the same. Absent = there is no session. */
  readonly id?: number;
  /** Joins this end with its local socket: when one ends, the other ends too. */
  join(local: ByteSocket, hooks?: StreamHooks): void;
  /** Ends both directions immediately, here and at the other end. */
  reset(): void;
  /** The stream has ended: a socket that was to be joined with it is no longer needed. */
  readonly over: boolean;
}

/** The visitor's connection that a stream is opened for, and the record that it uses. */
export interface OpenerVisitor {
  readonly of: 'tunnel' | 'host';
  readonly id: number;
  readonly socket: Pick<ByteSocket, 'remoteAddress' | 'remotePort' | 'local'>;
  /** The visitor came to another node, which has passed the connection on. */
  readonly passedOn?: boolean;
}

/** Opens streams for payloads of OPEN: a session with an agent, the server itself, or another node. */
export interface Opener {
  /** Another node admits, counts and limits the connections, and needs to know the visitor. */
  readonly elsewhere?: boolean;
  /**
   * undefined = it accepts no more streams.
   * @param dataFollows the visitor most likely sends first, without a delay: its bytes are sent together with the payload
   * @param credit the initial credit that the payload gives the peer, in bytes; undefined = a whole window
   * @param visitor for an opener that is `elsewhere`
   */
  open(payload: Buffer, dataFollows?: boolean, credit?: number, visitor?: OpenerVisitor): Joinable | undefined;
}

/** The stream ended because one side was cut off. */
export class StreamResetError extends Error {
  override readonly name = 'StreamResetError';
}

/**
 * One visitor connection on the mux, joined with a local socket: bytes in both directions with end-to-end back-pressure. Each
 * direction ends separately, and moves to a data connection when it carries much.
 */
export class Stream implements Joinable, SocketSink, RawReader, RawWriter, UnreadHolder {
  readonly borrows = true;
  readonly id: number;
  readonly #host: StreamHost;
  /** In a session that several clients share: whose stream this is. They get equal shares of it. */
  owner = 0;
  /** It may leave the mux for a data connection, which is in the clear. */
  mayMove: boolean;
  #local: ByteSocket | undefined;
  #hooks: StreamHooks = NO_HOOKS;
  #closed = false;
  #localClosed = false;

  // Local socket -> peer
  #credit = WINDOW;
  /** Read from the local socket, waiting for credit. */
  #held: Buffer | undefined;
  /** Anything was sent on the mux. */
  #sent = false;
  /** Bytes sent on the mux in large pieces. */
  #bulk = 0;
  #packer: Packer | undefined;
  #moveAt = PROMOTE_AFTER;
  #outbound: DataConnection | undefined;
  #outboundBlocked = false;
  #parked = false;
  #paused = false;
  #localEnded = false;
  #outDone = false;

  // Peer -> local socket
  /** Arrived before the local socket was joined. */
  #early: Buffer[] = [];
  /** Bytes that the peer may have in flight and waiting here: those that it may still send, and those not yet returned as credit. */
  #window: number;
  /** Bytes the peer may still send. */
  #allowance: number;
  /** Received and not yet returned as credit. */
  #ungranted = 0;
  /** Bytes that wait for the local socket, as last reported to the mux. */
  #reported = 0;
  #inbound: DataConnection | undefined;
  /** The peer's direction continues on a data connection, which may not have arrived yet. */
  #inMoved = false;
  /** For a moved direction: its end was announced on the mux; its data connection has ended. Both are needed. */
  #inFin = false;
  #inRawEnd = false;
  #inDone = false;

  /** @param window the initial credit of the peer, in bytes */
  constructor(id: number, host: StreamHost, window: number = WINDOW) {
    this.id = id;
    this.#host = host;
    this.mayMove = host.streamsMove;
    this.#window = window;
    this.#allowance = window;
  }

  /** Joins the stream with its local socket: when one ends, the other ends too. */
  join(local: ByteSocket, hooks: StreamHooks = NO_HOOKS): void {
    if (this.#closed) {
      local.destroy(true);
      hooks.onClose?.(new StreamResetError('the stream was reset'));
      return;
    }
    this.#local = local;
    this.#hooks = hooks;
    if (hooks.credit !== undefined) this.#credit = hooks.credit;
    hooks.unread?.open(this);
    local.attach(this);
    const early = this.#early;
    this.#early = [];
    for (const chunk of early) this.#deliver(chunk);
    if (this.#inDone) local.end();
    if (this.#inbound) this.#inbound.resume();
    this.#parkIfCongested();
    this.#regulate();
  }

  get over(): boolean {
    return this.#closed;
  }

  /** Ends both directions immediately, here and at the peer. */
  reset(): void {
    if (this.#closed) return;
    this.#host.sendReset(this.id);
    this.#abort('the stream was reset');
  }

  /** Called by the mux: bytes for the local socket. @throws {ProtocolError} */
  receive(piece: Buffer): void {
    if (this.#inDone || this.#inMoved) throw new ProtocolError(`data after the end of stream ${this.id}`);
    this.#allowance -= piece.length;
    if (this.#allowance < 0) throw new ProtocolError(`more data on stream ${this.id} than its credit allows`);
    this.#ungranted += piece.length;
    if (this.#local) this.#deliver(piece);
    else this.#early.push(Buffer.from(piece));
    this.#account();
  }

  get peer(): string {
    return this.#local?.remoteAddress ?? '';
  }

  recount(): number {
    this.#account();
    return this.#reported;
  }

  #account(): void {
    const unread = this.#closed ? 0 : this.#local ? this.#local.pending : this.#ungranted;
    const more = unread - this.#reported;
    if (more === 0) return;
    this.#reported = unread;
    this.#host.holds(more);
    this.#hooks.unread?.add(more);
  }

  #deliver(piece: Buffer): void {
    this.#hooks.onReceived?.(piece.length);
    if (this.#local) writeLent(this.#local, piece);
    this.#grant();
  }

  /** Returns credit for the bytes that the local socket took. */
  #grant(): void {
    if (this.#inDone || this.#inMoved) return;
    const tight = this.#host.tight || this.#hooks.unread?.tight === true;
    const waits = this.#local?.pending ?? 0;
    const taken = this.#ungranted - waits;
    const granted = tight ? Math.min(taken, TIGHT.window - this.#allowance - waits) : taken;
    if (granted < (tight ? TIGHT.step : this.#window * GRANT_SHARE)) return;
    const grown = tight ? 0 : Math.min(taken, WINDOW - this.#window);
    this.#ungranted -= granted;
    this.#window += grown;
    this.#allowance += granted + grown;
    this.#host.sendWindow(this.id, granted + grown);
  }

  /**
   * Called by the mux: the peer's direction ended cleanly; what it sent over a data connection may still be on its way. The end of that connection
   * alone proves nothing: a peer that was killed causes it, too.
   * @throws {ProtocolError}
   */
  receiveFin(): void {
    if (this.#inDone || this.#inFin) throw new ProtocolError(`a second end of stream ${this.id}`);
    this.#inFin = true;
    if (!this.#inMoved || this.#inRawEnd) this.#endInbound();
  }

  #endInbound(): void {
    this.#inDone = true;
    this.#local?.end();
  }

  /** Called by the mux: the peer reset the stream. */
  receiveReset(): void {
    this.#abort('the peer reset the stream');
  }

  /** Called by the mux: the peer returned credit. @throws {ProtocolError} */
  receiveWindow(bytes: number): void {
    this.#credit += bytes;
    if (this.#credit > WINDOW) throw new ProtocolError(`more credit on stream ${this.id} than was used`);
    const held = this.#held;
    this.#held = undefined;
    if (held) this.#send(held);
    if (this.#localEnded && !this.#held) this.#endOutbound();
    this.#regulate();
  }

  /** Called by the mux: the peer's direction continues on a data connection. @throws {ProtocolError} */
  receiveMove(): void {
    if (this.#inDone || this.#inMoved) throw new ProtocolError(`stream ${this.id} moved after its end`);
    this.#inMoved = true;
  }

  /** After `receiveMove`: the data connection has arrived. */
  moveInbound(connection: DataConnection): void {
    this.#inbound = connection;
    connection.claimReading(this);
  }

  /** Called by the mux: there is space in the batch again. */
  wake(): void {
    this.#parked = false;
    this.#regulate();
  }

  /** Called by the mux: the session is over. */
  lost(reason: string): void {
    this.#abort(reason);
  }

  // The local socket

  onData(chunk: Buffer): void {
    this.#hooks.onSent?.(chunk.length);
    // Only with at least one byte: a data connection that ends without any was idle.
    if (this.#bulk >= this.#moveAt && this.mayMove && !this.#outbound && !this.#held) this.#promote();
    if (this.#outbound) {
      if (!this.#outbound.write(chunk)) this.#outboundBlocked = true;
    } else if (this.#held) {
      this.#held = Buffer.concat([this.#held, chunk]);
    } else {
      this.#send(chunk);
    }
    this.#regulate();
  }

  #send(chunk: Buffer): void {
    const now = Math.min(chunk.length, this.#credit);
    // A slice costs as much as everything else that a small chunk needs.
    if (now === chunk.length && now > 0 && now <= MAX_DATA) this.#sendPayload(chunk);
    else for (let at = 0; at < now; at += MAX_DATA) this.#sendPayload(chunk.subarray(at, Math.min(at + MAX_DATA, now)));
    this.#credit -= now;
    if (now >= LARGE_PIECE) this.#bulk += now;
    if (now < chunk.length) this.#held = Buffer.from(chunk.subarray(now));
    this.#parkIfCongested();
  }

  #parkIfCongested(): void {
    if (!this.#host.congested || this.#parked || this.#closed) return;
    this.#parked = true;
    this.#host.park(this);
  }

  #sendPayload(payload: Buffer): void {
    const packed = this.#host.compress ? (this.#packer ??= new Packer()).pack(payload) : undefined;
    if (packed) this.#host.sendPacked(this.id, packed, !this.#sent);
    else this.#host.sendData(this.id, payload, !this.#sent);
    this.#sent = true;
  }

  #promote(): void {
    // A data connection is never compressed.
    if (!this.#host.compress || this.#packer?.givenUp) this.#outbound = this.#host.moveOut(this, this.#inbound);
    this.#moveAt = this.#bulk + PROMOTE_AFTER;
  }

  /** Reads from the local socket only as much as can be sent. */
  #regulate(): void {
    const pause = this.#outbound
      ? this.#outboundBlocked
      : this.#held !== undefined || this.#credit === 0 || this.#parked;
    if (pause === this.#paused || !this.#local) return;
    this.#paused = pause;
    if (pause) this.#local.pause();
    else this.#local.resume();
  }

  onEnd(): void {
    this.#localEnded = true;
    if (!this.#held) this.#endOutbound();
  }

  #endOutbound(): void {
    if (this.#outDone || this.#closed) return;
    this.#outDone = true;
    this.#outbound?.end();
    this.#host.sendFin(this.id);
    this.#finishWhenDone();
  }

  onDrain(): void {
    this.#account();
    if (this.#inbound) this.#inbound.resume();
    else this.#grant();
  }

  onClose(error?: Error): void {
    this.#localClosed = true;
    // Both directions ended, though the last bytes may still wait for credit.
    if (!error && this.#localEnded && this.#inDone) this.#finishWhenDone();
    else if (!this.#closed) {
      this.#host.sendReset(this.id);
      this.#abort(error ?? 'the local socket was closed');
    }
  }

  // Data connections

  onRaw(chunk: Buffer): void {
    if (this.#closed) return;
    if (!this.#local) {
      this.#early.push(Buffer.from(chunk));
      this.#inbound?.pause();
      return;
    }
    this.#hooks.onReceived?.(chunk.length);
    if (writeLent(this.#local, chunk)) return;
    this.#inbound?.pause();
    this.#account();
  }

  onRawEnd(): void {
    this.#inRawEnd = true;
    if (!this.#closed && this.#inFin && !this.#inDone) this.#endInbound();
  }

  onRawDrain(): void {
    this.#outboundBlocked = false;
    this.#regulate();
  }

  onConnectionLost(): void {
    this.reset();
  }

  #finishWhenDone(): void {
    if (this.#outDone && this.#inDone && this.#localClosed) this.#finish(undefined);
  }

  /** An error costs many times what a stream does, and nothing reads the error of a refused stream. */
  #abort(why: Error | string): void {
    if (this.#closed) return;
    const local = this.#local;
    this.#finish(typeof why === 'string' && this.#hooks.onClose ? new StreamResetError(why) : typeof why === 'string' ? undefined : why);
    this.#outbound?.destroy();
    this.#inbound?.destroy();
    local?.destroy(true);
  }

  #finish(error: Error | undefined): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#early = [];
    this.#held = undefined;
    this.#account();
    const hooks = this.#hooks;
    // Tables from which it was deleted may still hold it (docs/decisions/node-links.md).
    this.#local = undefined;
    this.#hooks = NO_HOOKS;
    hooks.unread?.close(this);
    this.#host.forget(this);
    hooks.onClose?.(error);
  }
}
