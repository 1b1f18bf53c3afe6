import { readSync } from 'node:fs';
import type net from 'node:net';
import tls from 'node:tls';
import { errnoOf } from './system-error.ts';

const one = Buffer.alloc(1);

/**
 * The error behind the "end" of a socket. libuv before 1.52 reports only an end for a connection that was reset while its last bytes were still
 * unread, so a transfer that was cut off would look complete. A second query returns the kernel's error.
 * Relies on the descriptor of Node's handle, which Node does not document.
 * @returns the system's error; undefined = the peer did end its direction cleanly
 */
export function failureBehindEnd(socket: net.Socket): Error | undefined {
  // The bytes of the descriptor are TLS records.
  if (socket instanceof tls.TLSSocket) return undefined;
  const handle: unknown = Reflect.get(socket, '_handle');
  if (typeof handle !== 'object' || handle === null) return undefined;
  const descriptor: unknown = Reflect.get(handle, 'fd');
  return typeof descriptor === 'number' ? failureOf(descriptor) : undefined;
}

/** The same for a socket's descriptor; without a descriptor (-1, Windows) the end counts as clean. */
export function failureOf(descriptor: number): Error | undefined {
  if (descriptor < 0) return undefined;
  try {
    return readSync(descriptor, one) === 0 ? undefined : new Error('more came after the end');
  } catch (error) {
    return error instanceof Error && errnoOf(error) !== 'EAGAIN' ? error : undefined;
  }
}
