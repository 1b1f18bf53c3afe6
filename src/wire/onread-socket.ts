import net from 'node:net';
import { sharedBuffer } from './base-socket.ts';
import { backend, dial, type Dialing, NetSocket, securedByEvents, TUNED } from './net-socket.ts';
import type { SocketBackend } from './socket.ts';

/** Options that make a socket read into our buffers, for the ByteSocket that is made on it later. */
function reading(): Required<Pick<Dialing, 'onread' | 'wrap'>> {
  let owner: NetSocket | undefined;
  let next = sharedBuffer;
  return {
    onread: {
      buffer: () => next,
      callback: (bytes) => {
        if (owner) next = owner.received(bytes);
        return true;
      },
    },
    wrap: (socket) => (owner = new NetSocket(socket, { lends: true })),
  };
}

/**
 * Node has no option for how an accepted socket reads, so this takes the handle before Node creates a socket on it, which would have to be
 * thrown away.
 */
function accept(server: net.Server, onSocket: (socket: NetSocket) => void): void {
  const listener: unknown = Reflect.get(server, '_handle');
  if (typeof listener !== 'object' || listener === null) throw new Error('a listening server has a handle');
  const byNode: unknown = Reflect.get(listener, 'onconnection');
  if (typeof byNode !== 'function') throw new Error('a listening handle says what it accepted');
  Reflect.set(listener, 'onconnection', (status: number, handle: unknown) => {
    // Node reports a failed accept as an event of the server.
    if (status !== 0) Reflect.apply(byNode, listener, [status]);
    else onSocket(accepted(handle));
  });
}

function accepted(handle: unknown): NetSocket {
  const { onread, wrap } = reading();
  const { noDelay, keepAlive, keepAliveInitialDelay, ...rest } = TUNED;
  const options = { ...rest, handle, pauseOnCreate: true, onread };
  const socket = new net.Socket(options);
  // Node sets these options only on sockets that it creates itself.
  socket.setNoDelay(noDelay).setKeepAlive(keepAlive, keepAliveInitialDelay);
  return wrap(socket);
}

/**
 * Sockets that read into our buffers. Relies on a way to hand over the handle of an accepted socket that Node does not document:
 * use it only after `works` of `self-test.ts` has passed.
 */
export const onreadBackend: SocketBackend = backend('onread', {
  dial: (options, onDialled) => dial(options, onDialled, reading()),
  accept,
  secured: securedByEvents,
});
