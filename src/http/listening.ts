import { once } from 'node:events';
import type http from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ListenPlace, listenOn } from '../wire/listen-on.ts';

/** Opens a port. @param onError called for each connection that cannot be accepted, which would end the process otherwise @throws the system's error */
export async function listen(server: http.Server, place: ListenPlace, onError: (error: Error) => void): Promise<http.Server> {
  await listenOn(server, place);
  return server.on('error', onError);
}

/** The address on which a server listens. @throws when it does not */
export function addressOf(server: http.Server): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the HTTP server listens on a port');
  return address;
}

/** Stops accepting connections, waits for requests in progress, then closes the remaining connections. */
export async function drain(server: http.Server, ms: number): Promise<void> {
  const timer = setTimeout(() => server.closeAllConnections(), ms);
  const closed = new Promise((resolve) => server.close(resolve));
  await closed;
  clearTimeout(timer);
}

/** Closes a server and its connections, unless that was done before. */
export async function close(server: http.Server): Promise<void> {
  if (!server.listening) return;
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
}
