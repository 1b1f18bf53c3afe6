import { TcpPort } from './tcp-port.ts';
import { UdpPort } from './udp-port.ts';
import type { Logger } from 'pino';
import type { SocketBackend } from '../../wire/socket.ts';
import { errnoOf } from '../../wire/system-error.ts';
import { checkAddress, type PortAddress, type PortBook, PortUnavailableError } from './port-book.ts';
import { listenProblem } from './listen-error.ts';

/** The most ports that "any free port" tries to bind before it fails: a range full of other programs' listeners is no reason to try 60,000. */
const MAX_TRIES = 1000;

/** Binds listeners for tunnels that don't exist yet (contract 4.4). */
export interface PortReserver {
  readonly sockets: SocketBackend;
  readonly book: PortBook;
  readonly log: Logger;
  /** Where tunnels listen that request no address; "" = on all addresses. */
  readonly tunnelHost: string;
}

/**
 * Binds one port.
 * @throws {PortUnavailableError}
 */
export async function bindPort(reserver: PortReserver, address: PortAddress): Promise<HeldPort> {
  try {
    return await bindHeldPort(reserver, address);
  } catch (error) {
    const holder = errnoOf(error) === 'EADDRINUSE' ? null : undefined;
    throw new PortUnavailableError(listenProblem(error, address.serverIp || reserver.tunnelHost, address.port), { cause: error, holder });
  }
}

/**
 * Binds a UDP port for one visitor: one of those that tunnels may use where the settings name some, otherwise any.
 * @throws {PortUnavailableError}
 */
export async function bindVisitorPort(reserver: PortReserver, serverIp: string): Promise<UdpPort> {
  const held = reserver.book.restricted
    ? await bindFreePort(reserver, { transport: 'udp', serverIp })
    : await bindPort(reserver, { transport: 'udp', serverIp, port: 0 });
  if (held.transport !== 'udp') throw new Error('a UDP port was asked for');
  return held;
}

/**
 * Binds a random one of the allowed ports that are free.
 * @throws {PortUnavailableError}
 */
export async function bindFreePort(
  reserver: PortReserver,
  { transport, serverIp }: Omit<PortAddress, 'port'>,
  random: () => number = Math.random,
): Promise<HeldPort> {
  checkAddress(serverIp);
  let tries = 0;
  for (const port of reserver.book.candidates(transport, serverIp, random)) {
    if (++tries > MAX_TRIES) break;
    try {
      return await bindPort(reserver, { transport, port, serverIp });
    } catch (error) {
      // If this port is occupied or below 1024, the next one may still succeed.
      const code = error instanceof PortUnavailableError ? errnoOf(error.cause) : '';
      if (code !== 'EADDRINUSE' && code !== 'EACCES') throw error;
    }
  }
  throw new PortUnavailableError('none of the allowed ports is free');
}

/** A bound port that may still wait for its tunnel. */
export type HeldPort = TcpPort | UdpPort;

/**
 * Binds now.
 * @throws the system's error, its `code` the errno name
 */
export function bindHeldPort(
  { sockets, log, tunnelHost }: Omit<PortReserver, 'book'>,
  { transport, serverIp: host, port }: PortAddress,
): Promise<HeldPort> {
  return transport === 'tcp' ? TcpPort.bind(sockets, { host, port }, log, tunnelHost) : UdpPort.bind({ host, port }, log, tunnelHost);
}
