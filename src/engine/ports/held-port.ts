import type { Logger } from 'pino';
import type { SocketBackend } from '../../wire/socket.ts';
import type { PortAddress } from './port-book.ts';
import { TcpPort } from './tcp-port.ts';
import { UdpPort } from './udp-port.ts';

/** A bound port that may still wait for its tunnel. */
export type HeldPort = TcpPort | UdpPort;

/**
 * Binds now.
 * @throws the system's error, its `code` the errno name
 */
export function bindHeldPort(sockets: SocketBackend, { transport, serverIp: host, port }: PortAddress, log: Logger): Promise<HeldPort> {
  return transport === 'tcp' ? TcpPort.bind(sockets, { host, port }, log) : UdpPort.bind({ host, port }, log);
}
