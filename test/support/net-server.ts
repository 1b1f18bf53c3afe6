import { once } from 'node:events';
import net from 'node:net';

/** A target on an ephemeral port of this machine. */
export interface NetServer {
  readonly port: number;
  readonly server: net.Server;
  /** The next accepted connection. */
  accepted(): Promise<net.Socket>;
  /** Closes the listener and every connection. */
  close(): void;
}

/** Starts a target whose connections are handled by `onSocket`. Their errors are the test's business only if it listens. */
export async function netServer(onSocket: (socket: net.Socket) => void = () => {}, host = '127.0.0.1'): Promise<NetServer> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    onSocket(socket);
  });
  server.listen(0, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP listener has an address');
  return {
    port: address.port,
    server,
    accepted: () => new Promise((resolve) => server.once('connection', resolve)),
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Connects to a port of this machine; errors after that are the test's business only if it listens. */
export async function connectTo(port: number, host = '127.0.0.1'): Promise<net.Socket> {
  const socket = net.connect({ port, host, allowHalfOpen: true });
  await once(socket, 'connect');
  socket.on('error', () => {});
  return socket;
}
