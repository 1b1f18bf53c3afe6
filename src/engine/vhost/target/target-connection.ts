import { decodeDialResult, type DialResult } from '../../../wire/dial-result.ts';
import { closeSoon } from '../../../wire/delayed-close.ts';
import type { ByteSocket, SocketSink } from '../../../wire/socket.ts';
import type { VisitorTrace } from '../../limits/visitor-trace.ts';
import type { HostEntry } from '../host-entry.ts';
import type { Refusal } from '../../../rules/visitor-refusals.ts';

/** The refusals for the results of a dial; `refused` for all others. */
const refusalByResult: Partial<Record<DialResult, Refusal>> = { timeout: 'silent', exhausted: 'exhausted', crowded: 'tooMany', offline: 'offline' };

/** The current user of a connection to a target. */
export interface TargetUser {
  onData(chunk: Buffer): void;
  /** The target ended its direction. */
  onEnd(): void;
  onDrain(): void;
  /** The connection was closed, or could not be opened. */
  onLost(refusal: Refusal, reason: string): void;
}

/** A connection to a host's target, used by one request after the other. All of them are the same visitor's. */
export class TargetConnection implements SocketSink {
  readonly entry: HostEntry;
  /** The visitor's. */
  readonly address: string;
  /** When its last request was answered, by the monotonic clock. */
  idleSince = 0;
  readonly #socket: ByteSocket;
  readonly #trace: VisitorTrace | undefined;
  #user: TargetUser | undefined;
  /** The agent has reported that the target accepted the connection. */
  #connected = false;
  #closed = false;

  /** @param socket its first byte is the result of the dial */
  constructor(socket: ByteSocket, entry: HostEntry, address: string, trace?: VisitorTrace) {
    this.#socket = socket;
    this.#trace = trace;
    this.entry = entry;
    this.address = address;
    socket.attach(this);
  }

  /** It can be used. */
  get open(): boolean {
    return !this.#closed;
  }

  /** Assigns the connection to a request. */
  use(user: TargetUser): void {
    this.#user = user;
  }

  /** It has no user for now. */
  rest(): void {
    this.#user = undefined;
    this.idleSince = performance.now();
    // It may have been paused for a slower visitor.
    this.resume();
  }

  /** False = wait for onDrain. */
  write(bytes: Buffer): boolean {
    return this.#socket.write(bytes);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#closed) this.#socket.resume();
  }

  /** Ends our direction. */
  end(): void {
    this.#socket.end();
  }

  /** Closes it: cleanly, unless a request is under way. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (this.#user) this.#socket.destroy(true);
    else closeSoon(this.#socket);
  }

  // The socket

  onData(chunk: Buffer): void {
    if (this.#closed) return;
    let bytes = chunk;
    if (!this.#connected) {
      const result = decodeDialResult(chunk[0]);
      this.#trace?.say(this.#socket, 'target dialed', { result });
      if (result !== 'connected') {
        this.#lose(refusalByResult[result] ?? 'refused', `the target could not be dialed: ${result}`);
        return;
      }
      this.#connected = true;
      bytes = chunk.subarray(1);
    }
    // The target sent bytes without a request: they cannot be assigned to one.
    if (!this.#user) this.close();
    else if (bytes.length > 0) this.#user.onData(bytes);
  }

  onEnd(): void {
    if (this.#closed) return;
    if (!this.#user || !this.#connected) this.#lose('refused', 'the connection to the target was closed');
    else this.#user.onEnd();
  }

  onDrain(): void {
    this.#user?.onDrain();
  }

  onClose(error?: Error): void {
    if (this.#closed) return;
    if (this.#connected) this.#lose('refused', error ? error.message : 'the target closed the connection');
    else this.#lose('offline', 'the agent was lost, or takes no more connections');
  }

  #lose(refusal: Refusal, reason: string): void {
    this.close();
    this.#user?.onLost(refusal, reason);
  }
}
