import { TcpPort } from './tcp-port.ts';
import { UdpPort } from './udp-port.ts';
import type { Logger } from 'pino';
import type { SharedPorts } from '../../wire/shared-ports.ts';
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
  /** The ports that other processes on this machine listen on, too; undefined = there are no others. */
  readonly shared: SharedPorts | undefined;
}

/**
 * Binds one port.
 * @throws {PortUnavailableError}
 */
export async function bindPort(reserver: PortReserver, address: PortAddress): Promise<HeldPort> {
  try {
    const { owned } = reserver.shared ?? {};
    if (address.transport !== 'udp' || !owned) return await bindHeldPort(reserver, address);
    const name = ownedName(reserver, address);
    if (!await owned.claimNow(name)) throw Object.assign(new Error('another process of this server has the port'), { code: 'EADDRINUSE' });
    return await bindHeldPort(reserver, address, () => owned.release(name));
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
    : await bindHeldPort(reserver, { transport: 'udp', serverIp, port: 0 });
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
 * @param onClosed of a UDP port: called when it is free again, also if it cannot be bound
 * @throws the system's error, its `code` the errno name
 */
export function bindHeldPort(
  { sockets, log, tunnelHost, shared }: Omit<PortReserver, 'book'>,
  { transport, serverIp: host, port }: PortAddress,
  onClosed?: () => void,
): Promise<HeldPort> {
  return transport === 'tcp'
    ? TcpPort.bind(sockets, { host, port }, log, tunnelHost, shared?.of('tunnel'))
    : UdpPort.bind({ host, port }, log, tunnelHost, onClosed);
}

/** The name of a UDP port for the processes of this machine, of which one can have it. */
export function ownedName({ tunnelHost }: Pick<PortReserver, 'tunnelHost'>, { serverIp, port }: Omit<PortAddress, 'transport'>): string {
  return `udp ${serverIp || tunnelHost} ${port}`;
}
