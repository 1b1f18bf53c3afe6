import os from 'node:os';
import { setImmediate as turn } from 'node:timers/promises';
import net from 'node:net';
import { isHandle, makesHandles, makesRequests, makesWriteRequests, owner, type Handle, type HandleReader, type Request, type StreamHandle, type WriteRequest } from './captured-handle.ts';

/** What Node's sockets are made of, by way of what they do with a handle. */
export interface CapturedParts {
  /** @param kind `SOCKET` of this file */
  readonly Tcp: new (kind: number) => Handle;
  readonly Connect: new () => Request;
  readonly Shutdown: new () => Request;
  /** What a handle calls when it has read: set as its `onread`, it tells the handle's owner, and the handle what to read into next. */
  readonly onRead: (this: StreamHandle, bytes: unknown) => unknown;
  /** Writes. @returns 0 = the kernel took everything; another number = the system's error, negative; else what is under way */
  readonly write: (handle: StreamHandle, bytes: Buffer | Buffer[]) => number | WriteRequest;
}

/** Handles that connect, or were accepted; Node's own name for it is not to be had. */
export const SOCKET = 0;
/** What a write is said to have failed with when Node gave it up without a reason. */
const GIVEN_UP = -os.constants.errno.EPIPE;

/**
 * Finds out what Node's sockets are made of: gives `net.Socket` handles that do nothing, and looks at what it calls on them. Names inside Node and its
 * version play no part; what is called in an unknown way is refused.
 * @throws when this Node works in another way
 */
export async function captureParts(): Promise<CapturedParts> {
  const seen: { connect?: unknown; shutdown?: unknown; write?: unknown } = {};
  const inert = () => ({
    onread: undefined,
    connect: (request: unknown) => { seen.connect = request; return 0; },
    shutdown: (request: unknown) => { seen.shutdown = request; return 0; },
    writeBuffer: (request: unknown) => { seen.write = request; return 0; },
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
  await turn();
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

/** A handle as sockets have them: that of one which waits until its name was looked up. It never is. */
function waitingHandle(): Handle | undefined {
  const waiting = new net.Socket().on('error', () => undefined).connect({ host: 'localhost', port: 1, lookup: () => undefined });
  const handle: unknown = Reflect.get(waiting, '_handle');
  waiting.destroy();
  return isHandle(handle) ? handle : undefined;
}

/** Up to Node 26.9 a write is given its request. */
function writeByRequest(Write: new () => WriteRequest): CapturedParts['write'] {
  let spare: WriteRequest | undefined;
  return (handle, bytes) => {
    const request = spare ?? new Write();
    spare = undefined;
    const status = Array.isArray(bytes) ? handle.writev(request, bytes, true) : handle.writeBuffer(request, bytes);
    if (status !== 0) return typeof status === 'number' ? status : GIVEN_UP;
    if (request.getAsyncId() > 0) return request;
    // Nothing is under way with it: it was not used.
    spare = request;
    return 0;
  };
}

/** Since Node 26.10 a write makes its request when it needs one. */
function writeByCall(handle: StreamHandle, bytes: Buffer | Buffer[]): number | WriteRequest {
  const made = Array.isArray(bytes) ? handle.writev(null, bytes, true) : handle.writeBuffer(null, bytes);
  if (typeof made === 'number') return made;
  // It may have been over before anybody could be told.
  if (typeof made.writeStatus === 'number') return made.writeStatus;
  return made.getAsyncId() > 0 ? made : GIVEN_UP;
}

/**
 * What a handle has read it says in a place that only Node's own sockets can look at. So one of these looks, and passes on what it would
 * do itself.
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

  /** What a handle is to call. @param handle that of this socket */
  onReadOf(handle: { readonly onread: unknown }): CapturedParts['onRead'] {
    const byNode: unknown = handle.onread;
    if (typeof byNode !== 'function') throw new Error('sockets of this Node read in another way');
    const setReader = (reader: HandleReader | undefined): void => { this.#reader = reader; };
    return function onRead(bytes) {
      setReader(this[owner]);
      const next: unknown = Reflect.apply(byNode, handle, [bytes]);
      return next;
    };
  }
}
