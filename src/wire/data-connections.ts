import { DataConnection } from './data-connection.ts';
import type { Stream } from './stream.ts';
import type { ByteSocket } from './socket.ts';

/** Which end of the mux this is. The server opens odd streams, the agent even ones; data connections are shared out likewise. */
export type Side = 'server' | 'agent';

/** Idle connections the agent keeps for each side's use, and the most it grows to while many are in use. */
const MIN_IDLE = 4;
const MAX_IDLE = 32;
/** All data connections of a session, busy ones included: what an agent may make a server hold. */
const MAX_CONNECTIONS = 256;

/** The data connections of one session: who may use which, and how many more are wanted. */
export class DataConnections {
  readonly #side: Side;
  /** Agent: dial these. */
  readonly #onWanted: ((ids: number[]) => void) | undefined;
  readonly #all = new Map<number, DataConnection>();
  /** Idle and ours to claim. */
  readonly #ours: DataConnection[] = [];
  /** Agent: being dialled; the stream waits whose peer was faster than the handshake. */
  readonly #dialling = new Map<number, Stream | undefined>();
  #lastId = 1;
  /** Agent: none are wanted before, by performance.now(). */
  readonly #wantedFrom: number;
  #closed = false;

  /** @param afterMs agent: none are wanted for so long */
  constructor(side: Side, onWanted: ((ids: number[]) => void) | undefined, afterMs = 0) {
    this.#wantedFrom = performance.now() + afterMs;
    this.#side = side;
    this.#onWanted = onWanted;
  }

  /** Takes in a connection whose handshake is done. */
  add(socket: ByteSocket, id: number): void {
    const known = this.#dialling.has(id);
    const waiting = this.#dialling.get(id);
    this.#dialling.delete(id);
    if (this.#closed || this.#all.has(id) || this.#all.size >= MAX_CONNECTIONS || (this.#side === 'agent' && !known)) {
      socket.destroy(true);
      waiting?.reset();
      return;
    }
    const connection = new DataConnection(id, socket, () => this.#all.delete(id));
    this.#all.set(id, connection);
    if (this.#belongsTo(id) === this.#side) this.#ours.push(connection);
    if (waiting) this.#moveTo(waiting, id);
  }

  /** Agent: a wanted connection could not be had. */
  failed(id: number): void {
    this.#dialling.get(id)?.reset();
    this.#dialling.delete(id);
  }

  /** A connection for a direction of `stream` to move to, preferably the one its other direction uses. */
  claim(stream: Stream, preferred: DataConnection | undefined): DataConnection | undefined {
    let connection = preferred?.writable ? preferred : undefined;
    while (!connection && this.#ours.length > 0) {
      const next = this.#ours.pop();
      if (next?.idle) connection = next;
    }
    connection?.claimWriting(stream);
    this.refill();
    return connection;
  }

  /** The peer moved its direction of `stream` to connection `id`; undefined stream = it is over here already. @throws {ProtocolError} */
  receiveMove(stream: Stream | undefined, id: number): void {
    stream?.receiveMove();
    this.#moveTo(stream, id);
  }

  #moveTo(stream: Stream | undefined, id: number): void {
    const connection = this.#all.get(id);
    if (connection?.readable) {
      if (stream) stream.moveInbound(connection);
      else connection.destroy();
    } else if (this.#dialling.has(id) && this.#dialling.get(id) === undefined) {
      this.#dialling.set(id, stream);
    } else {
      stream?.reset();
    }
    this.refill();
  }

  /** Agent: asks for as many connections as are missing, more while more are in use. */
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
      for (const id of this.#dialling.keys()) if (this.#belongsTo(id) === owner) idle++;
      const target = Math.min(MAX_IDLE, Math.max(MIN_IDLE, busy));
      for (; idle < target && this.#all.size + this.#dialling.size < MAX_CONNECTIONS; idle++) {
        const id = this.#nextId(owner);
        this.#dialling.set(id, undefined);
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
    this.#dialling.clear();
    this.#ours.length = 0;
  }

  #belongsTo(id: number): Side {
    return id % 2 === 1 ? 'server' : 'agent';
  }

  #nextId(owner: Side): number {
    do this.#lastId++;
    while (this.#belongsTo(this.#lastId) !== owner);
    return this.#lastId;
  }
}
