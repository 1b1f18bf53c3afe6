import { capturedBackend } from './captured-backend.ts';
import { netBackend } from './net-socket.ts';
import { onreadBackend } from './onread-socket.ts';
import type { SocketBackend } from './socket.ts';

/** Every way to get sockets. */
export const BACKEND_NAMES = ['captured', 'onread', 'net'] as const;

/** A way to get sockets. */
export type BackendName = (typeof BACKEND_NAMES)[number];

/** Sockets in the way of that name. @throws when it is `captured` and Node's sockets are made in another way than the known ones */
export async function socketsBy(name: BackendName): Promise<SocketBackend> {
  switch (name) {
    case 'captured': return capturedBackend();
    case 'onread': return onreadBackend;
    case 'net': return netBackend;
    default: return name satisfies never;
  }
}
