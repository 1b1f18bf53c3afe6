import os from 'node:os';
import { getSystemErrorName } from 'node:util';
import { BaseSocket, sharedBuffer } from './base-socket.ts';
import { owner, type Handle, type HandleReader, type WriteRequest } from './captured-handle.ts';
import type { CapturedParts } from './captured-parts.ts';
import { failureOf } from './failure-behind-end.ts';
import { unmapped } from './mapped-address.ts';
import { TUNED } from './net-socket.ts';
import type { SocketAddress } from './socket.ts';
import { socketWatch } from './socket-watch.ts';

const NOTHING = Buffer.alloc(0);
const NOT_CONNECTED = -os.constants.errno.ENOTCONN;
/** A first write of up to this many bytes is one packet on every path: there is nothing that Nagle's algorithm could hold back. */
const ONE_PACKET = 512;

/** The system's error, as Node says it. @param about the address, if any */
export function systemError(status: number, call: string, about = ''): Error {
  const code = getSystemErrorName(status);
  return Object.assign(new Error(`${call} ${code}${about && ` ${about}`}`), { errno: status, code, syscall: call });
}

/** A ByteSocket on a handle of libuv's, without a socket of Node's around it. */
export class CapturedSocket extends BaseSocket implements HandleReader {
  static #closing: CapturedSocket[] = [];
  readonly #parts: CapturedParts;
  /** undefined = closed, which the sink is told of in a later turn. */
  #handle: Handle | undefined;
  #address: string | undefined;
  #port = 0;
  /** Options that it has not yet: small writes go at once, keep-alive. */
  #lacksNoDelay: boolean;
  #lacksKeepAlive: boolean;
  #wrote = false;
  #reading = false;
  #buffered = false;
  /** Our direction: whether it is to end, the FIN is on its way to the kernel, is there. */
  #ending = false;
  #shutting = false;
  #finished = false;
  /** With the kernel's queue full: what libuv holds, and what waits behind that. */
  #sending: Buffer | Buffer[] | undefined;
  #sendingBytes = 0;
  #sendingTaken: (() => void)[] | undefined;
  #queue: Buffer[] | undefined;
  #queueBytes = 0;
  #queueTaken: (() => void)[] | undefined;
  #drainWanted = false;

  /**
   * @param handle connected, not reading
   * @param untuned it has no options yet: they are set when they matter, which short connections never see
   */
  constructor(parts: CapturedParts, handle: Handle, untuned: boolean) {
    super();
    this.#parts = parts;
    this.#handle = handle;
    this.#lacksNoDelay = untuned;
    this.#lacksKeepAlive = untuned;
    handle[owner] = this;
    handle.onread = parts.onRead;
    if (untuned) socketWatch.add(this);
  }

  override get remoteAddress(): string {
    return this.#address ?? this.#askPeer();
  }

  override get remotePort(): number {
    if (this.#address === undefined) this.#askPeer();
    return this.#port;
  }

  #askPeer(): string {
    const found = addressOf(this.#handle, 'getpeername');
    this.#port = found.port;
    return (this.#address = found.address);
  }

  override get local(): SocketAddress {
    return addressOf(this.#handle, 'getsockname');
  }

  override get pending(): number {
    return this.#sendingBytes + this.#queueBytes;
  }

  protected override get startsLater(): boolean {
    return true;
  }

  protected override startReading(): void {
    if (this.#reading || this.ended || !this.#handle) return;
    if (!this.#buffered) {
      this.#buffered = true;
      this.#handle.useUserBuffer(sharedBuffer);
    }
    this.#reading = true;
    const status = this.#handle.readStart();
    if (status !== 0) this.#fail(systemError(status, 'read'));
  }

  protected override stopReading(): void {
    if (!this.#reading) return;
    this.#reading = false;
    this.#handle?.readStop();
  }

  receivedEnd(): void {
    const failure = failureOf(this.#handle?.fd ?? -1);
    if (failure) {
      this.#fail(failure);
      return;
    }
    this.#reading = false;
    this.receiveEnd();
    this.#closeWhenDone();
  }

  receivedError(error: Error): void {
    this.#fail(error);
  }

  override write(chunk: Buffer, taken?: () => void): boolean {
    if (!this.#handle || this.#ending) {
      taken?.();
      if (this.#ending) this.#fail(new Error('write after end'));
      return false;
    }
    if (this.#sending) {
      (this.#queue ??= []).push(chunk);
      this.#queueBytes += chunk.length;
      if (taken) (this.#queueTaken ??= []).push(taken);
    } else {
      if (this.#lacksNoDelay) this.#noDelayFor(chunk.length);
      this.#send(chunk, chunk.length, taken && [taken]);
    }
    if (this.#sendingBytes + this.#queueBytes < TUNED.highWaterMark) return true;
    this.#drainWanted = true;
    return false;
  }

  #noDelayFor(bytes: number): void {
    if (this.#wrote || bytes > ONE_PACKET) {
      this.#lacksNoDelay = false;
      this.#handle?.setNoDelay(true);
    }
    this.#wrote = true;
  }

  /** Nothing is under way. */
  #send(bytes: Buffer | Buffer[], length: number, taken: (() => void)[] | undefined): void {
    if (!this.#handle) return;
    const result = this.#parts.write(this.#handle, bytes);
    if (typeof result === 'number') {
      if (taken) callAll(taken);
      if (result !== 0) this.#fail(systemError(result, 'write'));
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
    if (status !== 0) this.#fail(systemError(status, 'write'));
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
    this.#send(queue, bytes, taken);
  }

  override end(): void {
    if (this.#ending || !this.#handle) return;
    this.#ending = true;
    if (!this.#sending) this.#shutDown();
    // The handle may be gone by now.
    if (!this.ended) socketWatch.add(this);
  }

  #shutDown(): void {
    // When both directions are over, closing says so.
    if (this.ended || !this.#handle) {
      this.#finish();
      return;
    }
    const request = new this.#parts.Shutdown();
    request.oncomplete = () => this.#finish();
    this.#shutting = true;
    const status = this.#handle.shutdown(request);
    // 1 = it was done at once; a connection that is gone has no direction to end.
    if (status === 1 || status === NOT_CONNECTED) this.#finish();
    else if (status !== 0) this.#fail(systemError(status, 'shutdown'));
  }

  #finish(): void {
    this.#shutting = false;
    this.#finished = true;
    this.#closeWhenDone();
  }

  #closeWhenDone(): void {
    if (this.ended && this.#finished) this.#close(false);
  }

  protected override get writableEnded(): boolean {
    return this.#ending;
  }

  protected override get moved(): number {
    return this.#handle ? this.#handle.bytesRead + this.#handle.bytesWritten - this.#sendingBytes : 0;
  }

  protected override probe(): void {
    this.#send(NOTHING, 0, undefined);
  }

  override look(now: number): boolean {
    if (this.#lacksKeepAlive) {
      this.#lacksKeepAlive = false;
      this.#handle?.setKeepAlive(TUNED.keepAlive, TUNED.keepAliveInitialDelay / 1000);
    }
    return super.look(now);
  }

  override destroy(reset = false): void {
    this.#close(reset);
  }

  #fail(error: Error): void {
    if (!this.#handle) return;
    this.failed(error);
    this.#close(false);
  }

  #close(reset: boolean): void {
    const handle = this.#handle;
    if (!handle) return;
    this.#handle = undefined;
    this.#reading = false;
    socketWatch.delete(this);
    if (reset && !this.#shutting) handle.reset();
    else handle.close();
    const taken = this.#queueTaken;
    this.#queue = undefined;
    this.#queueBytes = 0;
    this.#queueTaken = undefined;
    if (CapturedSocket.#closing.length === 0) setImmediate(CapturedSocket.#tellClosed);
    CapturedSocket.#closing.push(this);
    if (taken) callAll(taken);
  }

  /** One turn later, and for all that were closed in this one: whoever closes a socket is not told of it meanwhile. */
  static readonly #tellClosed = (): void => {
    const closed = CapturedSocket.#closing;
    CapturedSocket.#closing = [];
    for (const socket of closed) socket.gone();
  };
}

function onWritten(this: WriteRequest, status: number): void {
  this[owner]?.written(status);
}

function callAll(taken: readonly (() => void)[]): void {
  for (const each of taken) each();
}

function addressOf(handle: Handle | undefined, name: 'getpeername' | 'getsockname'): SocketAddress {
  const found = { address: '', port: 0 };
  handle?.[name](found);
  return { address: unmapped(found.address), port: found.port };
}
