import os from 'node:os';
import { setImmediate as nextIteration } from 'node:timers/promises';
import net from 'node:net';
import {
  isHandle,
  makesHandles,
  makesRequests,
  makesWriteRequests,
  owner,
  type Handle,
  type HandleReader,
  type Request,
  type StreamHandle,
  type WriteRequest,
} from './captured-handle.ts';

/** The internal parts of Node's sockets, found by watching what a socket does with a handle. */
export interface CapturedParts {
  /** @param kind `SOCKET` of this file */
  readonly Tcp: new(kind: number) => Handle;
  readonly Connect: new() => Request;
  readonly Shutdown: new() => Request;
  /** The `onread` callback of a handle: notifies the handle's owner, and returns the buffer for the next read. */
  readonly onRead: (this: StreamHandle, bytes: unknown) => unknown;
  /** Writes. @returns 0 = the kernel took everything; another number = a negative system error; otherwise the request in progress */
  readonly write: (handle: StreamHandle, bytes: Buffer | Buffer[]) => number | WriteRequest;
}

/** Handles that connect, or were accepted; Node does not export its own name for it. */
export const SOCKET = 0;
/** The error of a write that Node abandoned without a reason. */
const GIVEN_UP = -os.constants.errno.EPIPE;

/**
 * Finds the internal parts of Node's sockets: passes handles that do nothing to `net.Socket` and records what it calls on them. Does not rely on
 * names inside Node or on Node's version, and refuses calls that it does not know.
 * @throws when this Node works in another way
 */
export async function captureParts(): Promise<CapturedParts> {
  const seen: { connect?: unknown; shutdown?: unknown; write?: unknown } = {};
  const inert = () => ({
    onread: undefined,
    connect: (request: unknown) => {
      seen.connect = request;
      return 0;
    },
    shutdown: (request: unknown) => {
      seen.shutdown = request;
      return 0;
    },
    writeBuffer: (request: unknown) => {
      seen.write = request;
      return 0;
    },
    useUserBuffer: () => undefined,
    readStart: () => 0,
    readStop: () => 0,
    close: () => undefined,
  });
  const reading = inert();
  const translator = new Translator(reading);
  const [connecting, ending, writing] = [inert(), inert(), inert()].map((handle) => new net.Socket(withHandle(handle)).on('error', () => undefined));
  connecting?.connect({ host: '127.0.0.1', port: 1 });
  ending?.end();
  writing?.write(Buffer.alloc(1));
  await nextIteration();
  for (const socket of [connecting, ending, writing]) socket?.destroy();
  const [Tcp, Connect, Shutdown, Write] = [waitingHandle(), seen.connect, seen.shutdown, seen.write].map(constructorOf);
  if (!makesHandles(Tcp)) throw new Error('sockets of this Node have other handles');
  if (!makesRequests(Connect)) throw new Error('sockets of this Node connect in another way');
  if (!makesRequests(Shutdown)) throw new Error('sockets of this Node end in another way');
  if (seen.write !== null && !makesWriteRequests(Write)) throw new Error('sockets of this Node write in another way');
  return { Tcp, Connect, Shutdown, onRead: translator.onReadOf(reading), write: makesWriteRequests(Write) ? writeByRequest(Write) : writeByCall };
}

function constructorOf(made: unknown): unknown {
  return typeof made === 'object' && made !== null ? Reflect.get(made, 'constructor') : undefined;
}

function withHandle(handle: object): net.SocketConstructorOpts {
  const options = { handle, pauseOnCreate: true, allowHalfOpen: true };
  return options;
}

/** A handle as sockets use it, taken from a socket whose name lookup never ends. */
function waitingHandle(): Handle | undefined {
  const waiting = new net.Socket().on('error', () => undefined).connect({ host: 'localhost', port: 1, lookup: () => undefined });
  const handle: unknown = Reflect.get(waiting, '_handle');
  waiting.destroy();
  return isHandle(handle) ? handle : undefined;
}

/** Up to Node 26.9 the caller passes the request to a write. */
function writeByRequest(Write: new() => WriteRequest): CapturedParts['write'] {
  let spare: WriteRequest | undefined;
  return (handle, bytes) => {
    const request = spare ?? new Write();
    spare = undefined;
    const status = Array.isArray(bytes) ? handle.writev(request, bytes, true) : handle.writeBuffer(request, bytes);
    if (status !== 0) return typeof status === 'number' ? status : GIVEN_UP;
    if (request.getAsyncId() > 0) return request;
    // Written synchronously: the request was not used.
    spare = request;
    return 0;
  };
}

/** Since Node 26.10 a write creates its request only when it needs one. */
function writeByCall(handle: StreamHandle, bytes: Buffer | Buffer[]): number | WriteRequest {
  const made = Array.isArray(bytes) ? handle.writev(null, bytes, true) : handle.writeBuffer(null, bytes);
  if (typeof made === 'number') return made;
  // It may have ended before a listener was attached.
  if (typeof made.writeStatus === 'number') return made.writeStatus;
  return made.getAsyncId() > 0 ? made : GIVEN_UP;
}

/**
 * A handle stores the bytes that it has read where only Node's own sockets can access them. So one such socket reads them, and passes them on
 * instead of processing them.
 */
class Translator extends net.Socket {
  #reader: HandleReader | undefined;

  constructor(handle: object) {
    let next: Buffer = Buffer.alloc(1);
    const options = {
      ...withHandle(handle),
      onread: {
        buffer: () => next,
        callback: (bytes: number) => {
          if (this.#reader) next = this.#reader.received(bytes);
          return true;
        },
      },
    };
    super(options);
  }

  override push(): boolean {
    this.#reader?.receivedEnd();
    return false;
  }

  override read(): null {
    return null;
  }

  override destroy(error?: Error): this {
    if (error) this.#reader?.receivedError(error);
    return this;
  }

  /** The `onread` callback. @param handle the socket's handle */
  onReadOf(handle: { readonly onread: unknown }): CapturedParts['onRead'] {
    const byNode: unknown = handle.onread;
    if (typeof byNode !== 'function') throw new Error('sockets of this Node read in another way');
    const setReader = (reader: HandleReader | undefined): void => {
      this.#reader = reader;
    };
    return function onRead(bytes) {
      setReader(this[owner]);
      const next: unknown = Reflect.apply(byNode, handle, [bytes]);
      return next;
    };
  }
}
