import { lookup } from 'node:dns/promises';
import net from 'node:net';
import process from 'node:process';
import { isHandle } from './captured-handle.ts';
import { captureParts, SOCKET, type CapturedParts } from './captured-parts.ts';
import { CapturedSocket } from './captured-socket.ts';
import { systemError } from './captured-stream.ts';
import { CapturedTls } from './captured-tls.ts';
import type { BaseSocket } from './base-socket.ts';
import { backend, timeoutError, TUNED } from './net-socket.ts';
import type { ByteSocket, ConnectOptions, OnDialled, SocketBackend } from './socket.ts';
import { errnoOf } from './system-error.ts';

/** On Linux an accepted socket inherits the options of its listener, at no cost. */
const INHERITS = process.platform === 'linux';
const KEEP_ALIVE_S = TUNED.keepAliveInitialDelay / 1000;

/**
 * Sockets on libuv handles without a Node socket around each: a connection costs less CPU and memory (docs/performance.md). The handles are
 * undocumented: use this backend only after its self-test has passed.
 * @throws when this Node creates sockets in an unknown way
 */
export async function capturedBackend(): Promise<SocketBackend> {
  const parts = await captureParts();
  return backend('captured', {
    dial: (options, onDialled) => {
      if (net.isIP(options.host) !== 0) dial(parts, { ...options, address: options.host }, onDialled);
      else dialName(parts, options).then(onDialled, onDialled);
    },
    accept: (server, onSocket) => accept(parts, server, onSocket),
    secured: (socket, options) => new CapturedTls(parts, socket, options),
  });
}

function accept(parts: CapturedParts, server: net.Server, onSocket: (socket: BaseSocket) => void): void {
  const listener: unknown = Reflect.get(server, '_handle');
  if (!isHandle(listener)) throw new Error('a listening server has a handle');
  const byNode: unknown = Reflect.get(listener, 'onconnection');
  if (typeof byNode !== 'function') throw new Error('a listening handle says what it accepted');
  if (INHERITS) {
    listener.setNoDelay(TUNED.noDelay);
    listener.setKeepAlive(TUNED.keepAlive, KEEP_ALIVE_S);
  }
  Reflect.set(listener, 'onconnection', (status: number, handle: unknown) => {
    // Node reports a failed accept as an event of the server.
    if (status !== 0 || !(handle instanceof parts.Tcp)) Reflect.apply(byNode, listener, [status, handle]);
    else onSocket(new CapturedSocket(parts, handle, !INHERITS));
  });
}

async function dialName(parts: CapturedParts, { host, port, timeoutMs }: ConnectOptions): Promise<ByteSocket> {
  const until = performance.now() + timeoutMs;
  const found = await inTime(lookup(host, { all: true }), timeoutError(host, port, timeoutMs), timeoutMs);
  const errors: unknown[] = [];
  for (const [number, address] of alternating(found).entries()) {
    const left = until - performance.now();
    if (left <= 0) throw timeoutError(host, port, timeoutMs);
    try {
      return await dialed(parts, address, port, number < found.length - 1 ? Math.min(left, net.getDefaultAutoSelectFamilyAttemptTimeout()) : left);
    } catch (error) {
      errors.push(error);
    }
  }
  throw errors.length === 1 ? errors[0] : Object.assign(new AggregateError(errors), { code: errnoOf(errors[0]) });
}

/** The addresses of a name in the order to try them in, as Node does: alternating between the families, starting with that of the first address. */
function alternating(found: readonly { readonly address: string; readonly family: number }[]): string[] {
  const first = found.filter(({ family }) => family === found[0]?.family);
  const second = found.filter(({ family }) => family !== found[0]?.family);
  return Array.from({ length: Math.max(first.length, second.length) }, (_, n) => [first[n], second[n]]).flat().flatMap((each) => each?.address ?? []);
}

async function inTime<T>(work: Promise<T>, error: Error, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(error), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function dialed(parts: CapturedParts, address: string, port: number, timeoutMs: number): Promise<ByteSocket> {
  return new Promise((resolve, reject) => {
    dial(parts, { address, port, timeoutMs }, (outcome) => {
      if (outcome instanceof Error) reject(outcome);
      else resolve(outcome);
    });
  });
}

/** Dials an IP address. */
function dial(
  parts: CapturedParts,
  { address, port, timeoutMs }: { readonly address: string; readonly port: number; readonly timeoutMs: number },
  onDialled: OnDialled,
): void {
  // A handle accepts any number as a port, and an invalid one ends the process.
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new RangeError(`${port} is not a port`);
  const handle = new parts.Tcp(SOCKET);
  const request = new parts.Connect();
  let over = false;
  const fail = (error: Error): void => {
    if (over) return;
    over = true;
    clearTimeout(timer);
    handle.close();
    onDialled(error);
  };
  const timer = setTimeout(() => fail(timeoutError(address, port, timeoutMs)), timeoutMs);
  request.oncomplete = (status) => {
    if (over) return;
    if (status !== 0) {
      fail(systemError(status, 'connect', `${address}:${port}`));
      return;
    }
    over = true;
    clearTimeout(timer);
    onDialled(new CapturedSocket(parts, handle, true));
  };
  const status = net.isIPv6(address) ? handle.connect6(request, address, port) : handle.connect(request, address, port);
  if (status !== 0) setImmediate(() => fail(systemError(status, 'connect', `${address}:${port}`)));
}
