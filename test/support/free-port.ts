import { once } from 'node:events';
import net from 'node:net';

/** A port of this machine on which nobody listens, for programs that can't pick one themselves. */
export async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  server.close();
  await once(server, 'close');
  return address.port;
}
