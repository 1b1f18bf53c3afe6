import net from 'node:net';
import { backend, NetSocket, type Reading, TUNED } from './net-socket.ts';
import type { SocketBackend } from './socket.ts';
import { BUFFER_BYTES } from './spare-buffers.ts';

/**
 * What every socket reads into. Only one of them reads at a time, and what it read is lent to its sink before the next one does;
 * Node's own way is a new buffer of 64 KB for each read, whose pages the kernel has to find and clear.
 */
const shared = Buffer.allocUnsafeSlow(BUFFER_BYTES);

/** Options that make a socket read into the shared buffer, for the ByteSocket that is made on it later. */
function reading(): { readonly onread: net.OnReadOpts; readonly wrap: (socket: net.Socket) => NetSocket } {
  let owner: NetSocket | undefined;
  return {
    onread: {
      buffer: shared,
      callback: (bytes) => {
        owner?.receive(shared.subarray(0, bytes));
        return true;
      },
    },
    wrap: (socket) => (owner = new NetSocket(socket, true)),
  };
}

/** An accepted socket can't be told how to read: its handle goes to a new one, before it has read anything. */
function accept(accepted: net.Socket): NetSocket {
  const { onread, wrap } = reading();
  const handle: unknown = Reflect.get(accepted, '_handle');
  Reflect.set(accepted, '_handle', null);
  const options = { ...TUNED, handle, pauseOnCreate: true, onread };
  return wrap(new net.Socket(options));
}

const intoShared: Reading = {
  dial: () => {
    const { onread, wrap } = reading();
    return { options: { onread }, wrap };
  },
  accept,
};

/**
 * Sockets that read into one buffer. Relies on a way to hand over the handle of an accepted socket that Node does not document:
 * to be used only after `works` of `self-test.ts` said so.
 */
export const onreadBackend: SocketBackend = backend('onread', intoShared);
