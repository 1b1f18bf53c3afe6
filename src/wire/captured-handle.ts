/** The owner of a handle or of a request. */
export const owner = Symbol('owner');

/** Receives what a handle has read. */
export interface HandleReader {
  /** `bytes` bytes are in the buffer of `useUserBuffer`, or in the buffer that the previous call returned. @returns the buffer for the next read */
  received(bytes: number): Buffer;
  receivedEnd(): void;
  receivedError(error: Error): void;
}

/** A request to a handle. */
export interface Request {
  oncomplete?: (this: this, status: number) => void;
}

/** Bytes that are being written; only the owner of the request keeps them in memory. */
export interface WriteRequest extends Request {
  [owner]?: { written(status: number): void };
  /** Above 0 = in progress. */
  getAsyncId(): number;
  /** Node 26.10: its result, when it completed at once. */
  readonly writeStatus?: number | null;
}

/** What Node's sockets, including TLS sockets, call on a handle. Returned numbers: 0, or a negative system error. */
export interface StreamHandle {
  [owner]?: HandleReader;
  onread: unknown;
  /** -1 = there is none (Windows). */
  readonly fd?: number;
  readonly bytesRead: number;
  /** Includes bytes that are still being written. */
  readonly bytesWritten: number;
  useUserBuffer(buffer: Buffer): void;
  readStart(): number;
  readStop(): number;
  writeBuffer(request: WriteRequest | null, bytes: Buffer): number | WriteRequest;
  writev(request: WriteRequest | null, chunks: Buffer[], allBuffers: true): number | WriteRequest;
  /** 1 = already done. */
  shutdown(request: Request): number;
}

/** What `net.Socket` does with its handle. */
export interface Handle extends StreamHandle {
  connect(request: Request, address: string, port: number): number;
  connect6(request: Request, address: string, port: number): number;
  close(): void;
  /** Also closes the handle. Fails during `shutdown`, and the handle then never closes. */
  reset(): number;
  setNoDelay(on: boolean): number;
  setKeepAlive(on: boolean, seconds: number): number;
  getpeername(out: object): number;
  getsockname(out: object): number;
}

const STREAM_METHODS = ['useUserBuffer', 'readStart', 'readStop', 'writeBuffer', 'writev', 'shutdown'];
const METHODS = ['connect', 'connect6', 'close', 'reset', 'setNoDelay', 'setKeepAlive', 'getpeername', 'getsockname'];

/** Whether a value has everything that sockets use of a handle, for any kind of connection. */
export function isStreamHandle(value: unknown): value is StreamHandle {
  return typeof value === 'object' && value !== null
    && STREAM_METHODS.every((name) => typeof Reflect.get(value, name) === 'function')
    && ['bytesRead', 'bytesWritten'].every((name) => typeof Reflect.get(value, name) === 'number');
}

/** Whether a value has everything that sockets use of a TCP handle. */
export function isHandle(value: unknown): value is Handle {
  return isStreamHandle(value) && METHODS.every((name) => typeof Reflect.get(value, name) === 'function');
}

/** Whether a value is a constructor of handles. */
export function makesHandles(value: unknown): value is new(kind: number) => Handle {
  return typeof value === 'function' && value !== Object;
}

/** Whether a value is a constructor of requests. */
export function makesRequests(value: unknown): value is new() => Request {
  return typeof value === 'function' && value !== Object;
}

/** Whether a value is a constructor of write requests. */
export function makesWriteRequests(value: unknown): value is new() => WriteRequest {
  if (!makesRequests(value)) return false;
  const prototype: unknown = value.prototype;
  return typeof prototype === 'object' && prototype !== null && typeof Reflect.get(prototype, 'getAsyncId') === 'function';
}
