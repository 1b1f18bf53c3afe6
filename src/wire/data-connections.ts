import { DataConnection } from './data-connection.ts';
import type { Stream } from './stream.ts';
import type { ByteSocket } from './socket.ts';

/** Which end of the mux this is. The server opens odd streams, the agent even ones; data connections are divided the same way. */
export type Side = 'server' | 'agent';

/** Idle connections that the agent keeps for each side, and the maximum that this grows to while many are in use. */
const MIN_IDLE = 4;
const MAX_IDLE = 32;
/** Before others are dialed after one could not be opened, in ms. */
const RETRY_MS = 2000;

/** How many data connections a session may have. */
export interface DataConnectionLimits {
  /** Including busy ones: an agent cannot make a server hold more. */
  readonly most: number;
  /** Of these, how many each side uses for the streams of one client ({@link Stream.owner}). */
  readonly ofOwner: number;
}

/** Those of sessions with an agent or a visitor program. */
const OF_ONE_CLIENT: DataConnectionLimits = { most: 256, ofOwner: 256 };

/** The data connections of one session: who may use which, and how many more are wanted. */
export class DataConnections {
  readonly #side: Side;
  /** Agent: dial these. */
  readonly #onWanted: ((ids: number[]) => void) | undefined;
  readonly #all = new Map<number, DataConnection>();
  /** Idle, and may be claimed by this side. */
  readonly #ours: DataConnection[] = [];
  /** Agent: being dialed. A stream waits here if its peer was faster than the handshake. */
  readonly #dialing = new Map<number, Stream | undefined>();
  #lastId = 1;
  /** Agent: no connection is dialed before this time, by performance.now(). */
  #wantedFrom: number;
  readonly #limits: DataConnectionLimits;
  #closed = false;

  /** @param afterMs agent: delay before connections are dialed */
  constructor(side: Side, onWanted: ((ids: number[]) => void) | undefined, afterMs = 0, limits = OF_ONE_CLIENT) {
    this.#limits = limits;
    this.#wantedFrom = performance.now() + afterMs;
    this.#side = side;
    this.#onWanted = onWanted;
  }

  /** Adds a connection whose handshake is complete. */
  add(socket: ByteSocket, id: number): void {
    const known = this.#dialing.has(id);
    const waiting = this.#dialing.get(id);
    this.#dialing.delete(id);
    if (this.#closed || this.#all.has(id) || this.#all.size >= this.#limits.most || (this.#side === 'agent' && !known)) {
      socket.destroy(true);
      return;
    }
    const connection = new DataConnection(id, socket, () => this.#all.delete(id));
    this.#all.set(id, connection);
    if (this.#belongsTo(id) === this.#side) this.#ours.push(connection);
    if (waiting) this.#moveTo(waiting, id);
  }

  /** Agent: a connection could not be opened; others are dialed a while later. */
  failed(id: number): void {
    this.#dialing.get(id)?.reset();
    this.#dialing.delete(id);
    this.#wantedFrom = performance.now() + RETRY_MS;
  }

  /** A connection for a direction of `stream` to move to, preferably the one its other direction uses. */
  claim(stream: Stream, preferred: DataConnection | undefined): DataConnection | undefined {
    let connection = preferred?.writable ? preferred : undefined;
    if (!connection && this.#usedBy(stream.owner) < this.#limits.ofOwner) connection = this.#takeIdle();
    connection?.claimWriting(stream);
    this.refill();
    return connection;
  }

  #takeIdle(): DataConnection | undefined {
    while (this.#ours.length > 0) {
      const next = this.#ours.pop();
      if (next?.idle) return next;
    }
    return undefined;
  }

  /** The connections that this side has claimed for streams of a client. */
  #usedBy(owner: number): number {
    let used = 0;
    for (const connection of this.#all.values()) if (connection.writesFor === owner) used++;
    return used;
  }

  /** The peer moved its direction of `stream` to connection `id`; undefined stream = already over on this side. @throws {ProtocolError} */
  receiveMove(stream: Stream | undefined, id: number): void {
    stream?.receiveMove();
    this.#moveTo(stream, id);
  }

  #moveTo(stream: Stream | undefined, id: number): void {
    const connection = this.#all.get(id);
    if (connection?.readable) {
      if (stream) stream.moveInbound(connection);
      else connection.destroy();
    } else if (this.#dialing.has(id) && this.#dialing.get(id) === undefined) {
      this.#dialing.set(id, stream);
    } else {
      stream?.reset();
    }
    this.refill();
  }

  /** Agent: requests the missing connections: the more are in use, the more are kept idle. */
  refill(): void {
    if (!this.#onWanted || this.#closed || performance.now() < this.#wantedFrom) return;
    const wanted: number[] = [];
    for (const owner of ['server', 'agent'] as const) {
      let idle = 0;
      let busy = 0;
      for (const connection of this.#all.values()) {
        if (this.#belongsTo(connection.id) !== owner) continue;
        if (connection.idle) idle++;
        else busy++;
      }
      for (const id of this.#dialing.keys()) if (this.#belongsTo(id) === owner) idle++;
      const target = Math.min(MAX_IDLE, Math.max(MIN_IDLE, busy));
      for (; idle < target && this.#all.size + this.#dialing.size < this.#limits.most; idle++) {
        const id = this.#nextId(owner);
        this.#dialing.set(id, undefined);
        wanted.push(id);
      }
    }
    if (wanted.length > 0) this.#onWanted(wanted);
  }

  /** The session is over. */
  close(): void {
    this.#closed = true;
    for (const connection of this.#all.values()) connection.destroy();
    this.#all.clear();
    this.#dialing.clear();
    this.#ours.length = 0;
  }

  #belongsTo(id: number): Side {
    return id % 2 === 1 ? 'server' : 'agent';
  }

  #nextId(owner: Side): number {
    do this.#lastId++; while (this.#belongsTo(this.#lastId) !== owner);
    return this.#lastId;
  }
}
