// Longer than 300 lines: reading frames, opening streams and the end of a session are one state machine.
import { ControlBudget, controlCost, measureWork, timeCost } from './control-budget.ts';
import { ControlQueue, type QueuedSession } from './control-queue.ts';
import type { DataConnection } from './data-connection.ts';
import { type DataConnectionLimits, DataConnections, type Side } from './data-connections.ts';
import { Frame, FrameReader, MAX_CONTROL, ProtocolError, type FrameSink, type FrameType } from './frames.ts';
import { Outbox } from './outbox.ts';
import { unpack } from './packing.ts';
import type { ByteSocket, SocketSink } from './socket.ts';
import { Stream, type StreamHost } from './stream.ts';
import { UnreadBudget } from './unread-budget.ts';

export type { Side } from './data-connections.ts';
export type { Stream } from './stream.ts';

/** Each side sends something every heartbeat. By default the peer counts as dead after this many heartbeats without a byte (15 s at most, timers included). */
const DEAD_AFTER_HEARTBEATS = 2.4;
const DEFAULT_HEARTBEAT_MS = 5000;
/** Maximum streams of one session: limits what an agent or its visitors can make the peer hold. */
const MAX_STREAMS = 65_536;
/** Shared by all sessions of this process. */
const sharedControlQueue = new ControlQueue();
/** How long the peer may take to close the connection after we ended the session, in ms. */
const CLOSE_DELAY_MS = 1000;

/** Callbacks of a mux's owner. */
export interface MuxHandlers {
  /** The peer opened a stream: join it with a socket or reset it. */
  onOpen(stream: Stream, payload: Buffer): void;
  /** A control message, parsed from JSON and not yet validated. @throws {ProtocolError} to end the session */
  onControl(message: unknown): void;
  /** The session is over and every stream was reset, `cut` of them because it ended. `atFault`: the peer broke the protocol, or doesn't read. Called once, always last. */
  onClose(reason: string, cut: number, atFault: boolean): void;
  /** Agent: dial data connections with these numbers and call addDataConnection or dataConnectionFailed for each. */
  onDataConnectionsWanted?(ids: number[]): void;
}

/** How a session runs. */
export interface MuxOptions {
  readonly heartbeatMs?: number;
  /** The peer is considered dead after this many ms without a byte; detected at most half a heartbeat later. */
  readonly silenceMs?: number;
  /** When the peer was last heard from on a path other than this connection, by performance.now(). */
  readonly heardOutOfBand?: () => number;
  /** The session's streams belong to several clients ({@link Stream.owner}): each stays on the mux unless it is said that it may leave it. */
  readonly ofSeveralClients?: DataConnectionLimits;
  /** Agent: delay before data connections are dialed, in ms. */
  readonly dataAfterMs?: number;
  /** Whether sent data is compressed initially; `compress` switches it later. Received data may be compressed at any time. */
  readonly compress?: boolean;
  /** Limits the peer's control messages, including those of its earlier sessions; absent = a budget for this session only. */
  readonly controlBudget?: ControlBudget;
  /** Schedules control messages; absent = the queue shared by all sessions of the process. */
  readonly controlQueue?: ControlQueue;
}

/** The multiplexed connection of a session, after its handshake: streams, control messages, heartbeats, data connections. */
export class Mux implements SocketSink, FrameSink, StreamHost, QueuedSession {
  /** Whether data is compressed before it is sent. While compression saves bytes, streams stay on the mux. */
  compress: boolean;
  readonly borrows = true;
  readonly shared = true;
  readonly streamsMove: boolean;
  readonly #socket: ByteSocket;
  readonly #side: Side;
  readonly #handlers: MuxHandlers;
  readonly #reader = new FrameReader(this);
  readonly #streams = new Map<number, Stream>();
  readonly #unread = new UnreadBudget(() => this.#streams.values());
  readonly #connections: DataConnections;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #silenceMs: number;
  readonly #heardOutOfBand: () => number;
  readonly #out: Outbox;
  readonly #controlBudget: ControlBudget;
  readonly #controlQueue: ControlQueue;
  #nextId: number;
  /** Reading from the peer is paused. */
  #paused = false;
  #closed = false;
  #lastHeard = performance.now();
  #pingNext = true;

  constructor(socket: ByteSocket, side: Side, handlers: MuxHandlers, options: MuxOptions = {}) {
    this.#socket = socket;
    this.#side = side;
    this.#handlers = handlers;
    this.#out = new Outbox(
      socket,
      (bytes) => setImmediate(() => this.#fail(`the peer does not read: ${bytes} bytes of answers wait for it`, true)),
      options.ofSeveralClients !== undefined,
    );
    this.#nextId = side === 'server' ? 1 : 2;
    this.#connections = new DataConnections(side, handlers.onDataConnectionsWanted?.bind(handlers), options.dataAfterMs, options.ofSeveralClients);
    this.streamsMove = options.ofSeveralClients === undefined;
    this.compress = options.compress ?? false;
    this.#controlBudget = options.controlBudget ?? new ControlBudget();
    this.#controlQueue = options.controlQueue ?? sharedControlQueue;
    const heartbeatMs = options.heartbeatMs ?? DEFAULT_HEARTBEAT_MS;
    this.#silenceMs = options.silenceMs ?? heartbeatMs * DEAD_AFTER_HEARTBEATS;
    this.#heardOutOfBand = options.heardOutOfBand ?? (() => 0);
    this.#heartbeat = setInterval(() => this.#tick(), heartbeatMs / 2);
    socket.attach(this);
    // Those that are to wait come with a later heartbeat.
    if (handlers.onDataConnectionsWanted) setImmediate(() => this.#connections.refill());
  }

  /** Streams that are open now. */
  get streamCount(): number {
    return this.#streams.size;
  }

  get congested(): boolean {
    return this.#out.congested;
  }

  /**
   * Opens a stream without waiting for the peer; undefined = the session has ended or has too many streams, the peer reads too little, or the payload does not fit a frame.
   * @param dataFollows as for `Opener.open`
   * @param credit as for `Opener.open`; only for a peer that supports it
   */
  open(payload: Uint8Array, dataFollows = false, credit?: number): Stream | undefined {
    if (this.#closed || this.#streams.size >= MAX_STREAMS || this.#out.full || payload.length > MAX_CONTROL) return undefined;
    const stream = new Stream(this.#freeId(), this, credit);
    this.#streams.set(stream.id, stream);
    if (dataFollows) this.#out.gatheredFrame(Frame.OPEN, stream.id, payload);
    else this.#out.frame(Frame.OPEN, stream.id, payload);
    return stream;
  }

  #freeId(): number {
    for (;;) {
      const id = this.#nextId;
      this.#nextId = id + 2 > 0xffff_ffff ? (this.#side === 'server' ? 1 : 2) : id + 2;
      if (!this.#streams.has(id)) return id;
    }
  }

  /** Sends a control message (JSON). @throws {ProtocolError} if it has more than 64 KB: the session of the peer that caused it ends, rather than the process */
  sendControl(message: object): void {
    if (this.#closed) return;
    const json = Buffer.from(JSON.stringify(message));
    if (json.length > MAX_CONTROL) throw new ProtocolError(`it causes a control message of ${json.length} bytes`);
    this.#out.urgentFrame(Frame.CONTROL, 0, json);
  }

  /** Calls `next` once when the connection has accepted everything sent so far. Never called after the end of the session. */
  whenTaken(next: () => void): void {
    if (!this.#closed) this.#out.whenTaken(next);
  }

  /** Adds a data connection of this session, after its handshake. */
  addDataConnection(socket: ByteSocket, id: number): void {
    this.#guard(() => this.#connections.add(socket, id));
  }

  /** Agent: a data connection could not be opened; it is dialed again with the next heartbeat. */
  dataConnectionFailed(id: number): void {
    this.#connections.failed(id);
  }

  /**
   * Ends the session cleanly: what was queued is sent, streams are reset.
   * @param last a control message that tells the peer why: it must not overtake the ends of streams, as others may
   */
  close(reason: string, last?: object): void {
    if (this.#closed) return;
    this.#out.flush();
    if (last) {
      this.sendControl(last);
      this.#out.flush();
    }
    this.#end(reason);
    this.#socket.end();
    setTimeout(() => this.#socket.destroy(), CLOSE_DELAY_MS).unref();
  }

  #fail(reason: string, atFault = false): void {
    if (this.#closed) return;
    this.#end(reason, atFault);
    this.#socket.destroy(true);
  }

  #end(reason: string, atFault = false): void {
    this.#closed = true;
    clearInterval(this.#heartbeat);
    const open = [...this.#streams.values()];
    for (const stream of open) stream.lost(reason);
    this.#connections.close();
    this.#out.close();
    this.#controlQueue.drop(this);
    this.#handlers.onClose(reason, open.length, atFault);
  }

  #tick(): void {
    // If this process itself was late, the next read delivers what arrived in the meantime.
    if (this.silence > this.#silenceMs) setImmediate(() => this.#endIfSilent());
    if (this.#pingNext) {
      this.#out.urgentFrame(Frame.PING, 0);
      this.#connections.refill();
    }
    this.#pingNext = !this.#pingNext;
  }

  /** For how long nothing was heard of the peer, in ms. What has arrived while this process was late is not read yet. */
  get silence(): number {
    return performance.now() - Math.max(this.#lastHeard, this.#heardOutOfBand());
  }

  #endIfSilent(): void {
    const { silence } = this;
    if (silence > this.#silenceMs) this.#fail(`no sign of life for ${(silence / 1000).toFixed(1)} s`);
  }

  // StreamHost

  get tight(): boolean {
    return this.#unread.tight;
  }

  holds(bytes: number): void {
    this.#unread.add(bytes);
  }

  park(stream: Stream): void {
    this.#out.park(stream);
  }

  sendData(id: number, payload: Buffer, first: boolean): void {
    this.#out.data(Frame.DATA, id, payload, first);
  }

  sendPacked(id: number, payload: Buffer, first: boolean): void {
    this.#out.data(Frame.PACKED, id, payload, first);
  }

  sendFin(id: number): void {
    this.#out.gatheredFrame(Frame.FIN, id);
  }

  sendReset(id: number): void {
    this.#out.frame(Frame.RST, id);
  }

  sendWindow(id: number, bytes: number): void {
    this.#out.urgentFrameU32(Frame.WINDOW, id, bytes);
  }

  moveOut(stream: Stream, preferred: DataConnection | undefined): DataConnection | undefined {
    const connection = this.#connections.claim(stream, preferred);
    if (connection) this.#out.frameU32(Frame.MOVE, stream.id, connection.id);
    return connection;
  }

  forget(stream: Stream): void {
    this.#streams.delete(stream.id);
  }

  onDrain(): void {
    this.#out.onDrain();
  }

  // Reading

  onData(chunk: Buffer): void {
    this.#lastHeard = performance.now();
    this.#guard(() => this.#reader.push(chunk));
  }

  /** A peer that breaks the protocol loses its session, and nothing else. */
  #guard(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      this.#fail(`protocol error: ${error.message}`, true);
    }
  }

  onEnd(): void {
    this.#over('the peer closed the connection');
  }

  onClose(error?: Error): void {
    this.#over(error ? `the connection was lost: ${error.message}` : 'the connection was closed');
  }

  onDataFrame(id: number, piece: Buffer): void {
    // Late frames for a stream that is already over here are normal.
    if (!this.#closed) this.#streams.get(id)?.receive(piece);
  }

  onFrame(type: FrameType, id: number, payload: Buffer): void {
    if (this.#closed) return;
    switch (type) {
      case Frame.OPEN:
        return this.#onOpenFrame(id, payload);
      case Frame.FIN:
        return this.#streams.get(id)?.receiveFin();
      case Frame.RST:
        return this.#streams.get(id)?.receiveReset();
      case Frame.WINDOW:
        return this.#streams.get(id)?.receiveWindow(payload.readUInt32BE());
      case Frame.MOVE:
        return this.#connections.receiveMove(this.#streams.get(id), payload.readUInt32BE());
      case Frame.PACKED:
        return this.#onPackedFrame(id, payload);
      case Frame.CONTROL:
        return this.#onControlFrame(payload);
      case Frame.PING:
      case Frame.DATA:
        return undefined;
      default:
        return type satisfies never;
    }
  }

  #onControlFrame(payload: Buffer): void {
    const cost = controlCost(payload.length);
    if (!this.#controlBudget.take(cost)) throw new ProtocolError('more control messages than a session may send');
    if (!this.#controlQueue.add(this, cost, () => this.#takeControl(payload))) throw new ProtocolError('more control messages than may wait');
    if (!this.#paused && this.#controlQueue.isFull(this)) this.#pause(true);
  }

  #takeControl(payload: Buffer): void {
    this.#guard(() => {
      const work = measureWork();
      this.#handlers.onControl(parseControl(payload));
      if (!this.#controlBudget.take(timeCost(work()))) throw new ProtocolError('control messages that take more time than a session may');
    });
    if (this.#paused && !this.#controlQueue.isFull(this)) this.#pause(false);
  }

  onQueueFull(): void {
    this.#fail('protocol error: the most control messages wait for this session, and too many for all', true);
  }

  #pause(on: boolean): void {
    this.#paused = on;
    if (on) this.#socket.pause();
    else if (!this.#closed) this.#socket.resume();
  }

  /** The connection is lost: the session ends after the messages that arrived before. */
  #over(reason: string): void {
    if (!this.#controlQueue.holds(this)) this.#fail(reason);
    else this.#controlQueue.add(this, 0, () => this.#fail(reason));
  }

  #onPackedFrame(id: number, payload: Buffer): void {
    const stream = this.#streams.get(id);
    if (stream) stream.receive(unpack(payload));
  }

  #onOpenFrame(id: number, payload: Buffer): void {
    const opener = id % 2 === 1 ? 'server' : 'agent';
    if (opener === this.#side) throw new ProtocolError(`stream ${id} is not the peer's to open`);
    if (this.#streams.has(id)) throw new ProtocolError(`stream ${id} is open already`);
    if (this.#streams.size >= MAX_STREAMS) {
      this.sendReset(id);
      return;
    }
    const stream = new Stream(id, this);
    this.#streams.set(id, stream);
    this.#handlers.onOpen(stream, payload);
  }
}

function parseControl(payload: Buffer): unknown {
  try {
    return JSON.parse(payload.toString());
  } catch (error) {
    throw new ProtocolError('a control message that is no JSON', { cause: error });
  }
}
