import { once } from 'node:events';
import net from 'node:net';
import { randomInt } from 'node:crypto';

/** A port of this machine on which nobody listens, for programs that can't pick one themselves. */
export function freePort(): Promise<number> {
  return bound(0, '127.0.0.1');
}

/**
 * The first of so many ports in a row on which nobody listens. They lie below those that the system picks by itself, so that no
 * other program gets one of them meanwhile.
 */
export async function freePortRange(count: number): Promise<number> {
  for (;;) {
    const first = randomInt(10_000, 32_000 - count);
    const free = await Promise.allSettled(Array.from({ length: count }, (_, n) => bound(first + n, '0.0.0.0')));
    if (free.every(({ status }) => status === 'fulfilled')) return first;
  }
}

/** Listens for a moment. @returns the port @throws when it is taken */
async function bound(port: number, host: string): Promise<number> {
  const server = net.createServer().listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  server.close();
  await once(server, 'close');
  return address.port;
}
