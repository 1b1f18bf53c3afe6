import os from 'node:os';
import { getSystemErrorName } from 'node:util';
import { BaseSocket, sharedBuffer } from './base-socket.ts';
import { owner, type HandleReader, type StreamHandle, type WriteRequest } from './captured-handle.ts';
import type { CapturedParts } from './captured-parts.ts';
import { TUNED } from './net-socket.ts';
import { socketWatch } from './socket-watch.ts';

const NOT_CONNECTED = -os.constants.errno.ENOTCONN;

/** The system's error, in Node's form. @param about the address, if any */
export function systemError(status: number, call: string, about = ''): Error {
  const code = getSystemErrorName(status);
  return Object.assign(new Error(`${call} ${code}${about && ` ${about}`}`), { errno: status, code, syscall: call });
}

/** Reads from a handle inside Node, writes to it, and ends its direction. Subclasses add everything else, such as closing. */
export abstract class CapturedStream<H extends StreamHandle> extends BaseSocket implements HandleReader {
  protected readonly parts: CapturedParts;
  #handle: H | undefined;
  /** The handle does not exist yet. */
  #opening = true;
  #reading = false;
  #buffered = false;
  /** Our direction: open, ending after what is queued, its FIN passed to the kernel, or done. */
  #ending = false;
  #shutting = false;
  #finished = false;
  /** While the kernel's queue is full: the data that the handle is writing; further data waits. */
  #sending: Buffer | Buffer[] | undefined;
  #sendingBytes = 0;
  #sendingTaken: (() => void)[] | undefined;
  #queue: Buffer[] | undefined;
  #queueBytes = 0;
  #queueTaken: (() => void)[] | undefined;
  #drainWanted = false;

  constructor(parts: CapturedParts) {
    super();
    this.parts = parts;
  }

  /** Why the connection did not end cleanly although its handle reports a clean end. */
  protected abstract failureBehindEnd(): Error | undefined;
  /** Closing tells the peer that our direction has ended cleanly. */
  protected abstract get closeEnds(): boolean;
  /** Closes the socket at once. @see ByteSocket.destroy */
  protected abstract close(reset: boolean): void;

  /** Attaches the handle: from now on its reads arrive here, and earlier requests are carried out. */
  protected take(handle: H): void {
    this.#opening = false;
    this.#handle = handle;
    handle[owner] = this;
    handle.onread = this.parts.onRead;
    if (this.#reading) this.startHandle();
    if (this.#queue) this.#sendQueue(this.#queue);
    if (this.#ending && !this.#sending) this.#shutDown();
  }

  /** undefined = not created yet, or closed. */
  protected get handle(): H | undefined {
    return this.#handle;
  }

  /** Whether reading was requested. */
  protected get reading(): boolean {
    return this.#reading;
  }

  /** The handle is about to be closed: no more reads and writes. */
  protected release(): void {
    this.#opening = false;
    this.#handle = undefined;
    this.#reading = false;
    const taken = this.#queueTaken;
    this.#queue = undefined;
    this.#queueBytes = 0;
    this.#queueTaken = undefined;
    if (taken) callAll(taken);
  }

  override get pending(): number {
    return this.#sendingBytes + this.#queueBytes;
  }

  protected override get startsLater(): boolean {
    return true;
  }

  protected override startReading(): void {
    if (this.#reading || this.ended || (!this.#handle && !this.#opening)) return;
    this.#reading = true;
    if (this.#handle) this.startHandle();
  }

  /** Starts reading from the handle. */
  protected startHandle(): void {
    const handle = this.#handle;
    if (!handle) return;
    if (!this.#buffered) {
      this.#buffered = true;
      handle.useUserBuffer(sharedBuffer);
    }
    const status = handle.readStart();
    if (status !== 0) this.fail(systemError(status, 'read'));
  }

  protected override stopReading(): void {
    if (!this.#reading) return;
    this.#reading = false;
    this.#handle?.readStop();
  }

  receivedEnd(): void {
    const failure = this.failureBehindEnd();
    if (failure) {
      this.fail(failure);
      return;
    }
    this.#reading = false;
    this.receiveEnd();
    this.#closeWhenDone();
  }

  receivedError(error: Error): void {
    this.fail(error);
  }

  override write(chunk: Buffer, taken?: () => void): boolean {
    if (this.#ending || (!this.#handle && !this.#opening)) {
      taken?.();
      if (this.#ending) this.fail(new Error('write after end'));
      return false;
    }
    if (this.#sending || this.#opening) {
      (this.#queue ??= []).push(chunk);
      this.#queueBytes += chunk.length;
      if (taken) (this.#queueTaken ??= []).push(taken);
    } else {
      this.send(chunk, chunk.length, taken && [taken]);
    }
    if (this.#sendingBytes + this.#queueBytes < TUNED.highWaterMark) return true;
    this.#drainWanted = true;
    return false;
  }

  /** Nothing is under way. */
  protected send(bytes: Buffer | Buffer[], length: number, taken: (() => void)[] | undefined): void {
    if (!this.#handle) return;
    const result = this.parts.write(this.#handle, bytes);
    if (typeof result === 'number') {
      if (taken) callAll(taken);
      if (result !== 0) this.fail(systemError(result, 'write'));
      return;
    }
    this.#sending = bytes;
    this.#sendingBytes = length;
    this.#sendingTaken = taken;
    result[owner] = this;
    result.oncomplete = onWritten;
  }

  written(status: number): void {
    const taken = this.#sendingTaken;
    this.#sending = undefined;
    this.#sendingBytes = 0;
    this.#sendingTaken = undefined;
    if (taken) callAll(taken);
    if (status !== 0) this.fail(systemError(status, 'write'));
    if (this.#queue) this.#sendQueue(this.#queue);
    if (this.#sending || !this.#handle) return;
    if (this.#ending) this.#shutDown();
    if (!this.#drainWanted) return;
    this.#drainWanted = false;
    this.drained();
  }

  #sendQueue(queue: Buffer[]): void {
    const bytes = this.#queueBytes;
    const taken = this.#queueTaken;
    this.#queue = undefined;
    this.#queueBytes = 0;
    this.#queueTaken = undefined;
    this.send(queue, bytes, taken);
  }

  override end(): void {
    if (this.#ending || (!this.#handle && !this.#opening)) return;
    this.#ending = true;
    if (!this.#sending && !this.#opening) this.#shutDown();
    // The handle may be closed by now.
    if (!this.ended) socketWatch.add(this);
  }

  #shutDown(): void {
    // When both directions have ended, closing the socket tells the peer.
    if ((this.ended && this.closeEnds) || !this.#handle) {
      this.#finish();
      return;
    }
    const request = new this.parts.Shutdown();
    request.oncomplete = () => this.#finish();
    this.#shutting = true;
    const status = this.#handle.shutdown(request);
    // 1 = already done; a lost connection has no direction to end.
    if (status === 1 || status === NOT_CONNECTED) this.#finish();
    else if (status !== 0) this.fail(systemError(status, 'shutdown'));
  }

  /** The FIN is on its way to the kernel. */
  protected get shutting(): boolean {
    return this.#shutting;
  }

  #finish(): void {
    this.#shutting = false;
    this.#finished = true;
    this.#closeWhenDone();
  }

  #closeWhenDone(): void {
    if (this.ended && this.#finished) this.close(false);
  }

  protected override get writableEnded(): boolean {
    return this.#ending;
  }

  protected override get moved(): number {
    return this.#handle ? this.#handle.bytesRead + this.#handle.bytesWritten - this.#sendingBytes : 0;
  }

  override destroy(reset = false): void {
    this.close(reset);
  }

  protected fail(error: Error): void {
    if (!this.#handle && !this.#opening) return;
    this.failed(error);
    this.close(false);
  }
}

function onWritten(this: WriteRequest, status: number): void {
  this[owner]?.written(status);
}

function callAll(taken: readonly (() => void)[]): void {
  for (const each of taken) each();
}
