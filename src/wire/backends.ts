import { capturedBackend } from './captured-backend.ts';
import { netBackend } from './net-socket.ts';
import { onreadBackend } from './onread-socket.ts';
import type { SocketBackend } from './socket.ts';

/** All socket backends. */
export const BACKEND_NAMES = ['captured', 'onread', 'net'] as const;

/** The name of a socket backend. */
export type BackendName = (typeof BACKEND_NAMES)[number];

/** The socket backend with this name. @throws for `captured`, if this Node creates sockets in an unknown way */
export async function socketsBy(name: BackendName): Promise<SocketBackend> {
  switch (name) {
    case 'captured':
      return capturedBackend();
    case 'onread':
      return onreadBackend;
    case 'net':
      return netBackend;
    default:
      return name satisfies never;
  }
}
