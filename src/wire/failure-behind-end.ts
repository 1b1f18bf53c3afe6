import { readSync } from 'node:fs';
import type net from 'node:net';
import tls from 'node:tls';
import { errnoOf } from './system-error.ts';

const one = Buffer.alloc(1);

/**
 * What really happened to a socket that says "end". libuv before 1.52 says so, and nothing more, of a connection that was reset while
 * its last bytes were still unread: a transfer that was cut would look complete. The kernel knows better when it is asked once more.
 * Relies on the descriptor of Node's handle, which Node does not document.
 * @returns the system's error; undefined = the peer did end its direction in good order
 */
export function failureBehindEnd(socket: net.Socket): Error | undefined {
  // TLS has its own records in there.
  if (socket instanceof tls.TLSSocket) return undefined;
  const handle: unknown = Reflect.get(socket, '_handle');
  if (typeof handle !== 'object' || handle === null) return undefined;
  const descriptor: unknown = Reflect.get(handle, 'fd');
  return typeof descriptor === 'number' ? failureOf(descriptor) : undefined;
}

/** The same of a socket's descriptor; without one (-1, Windows) the end is believed. */
export function failureOf(descriptor: number): Error | undefined {
  if (descriptor < 0) return undefined;
  try {
    return readSync(descriptor, one) === 0 ? undefined : new Error('more came after the end');
  } catch (error) {
    return error instanceof Error && errnoOf(error) !== 'EAGAIN' ? error : undefined;
  }
}
