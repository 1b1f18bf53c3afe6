import type { Logger } from 'pino';
import { type UdpAddress, type UdpHandlers, UdpSocket } from '../../wire/udp-socket.ts';
import { logAcceptErrors } from '../limits/accept-errors.ts';

/** A bound UDP port that may still wait for its tunnel; datagrams that arrive meanwhile are dropped. */
export class UdpPort {
  readonly transport = 'udp';
  /** The requested address; "" = all addresses. */
  readonly host: string;
  readonly #socket: UdpSocket;
  readonly #log: Logger;
  readonly #onClosed: () => void;

  private constructor(host: string, socket: UdpSocket, log: Logger, onClosed: () => void) {
    this.host = host;
    this.#socket = socket;
    this.#log = log;
    this.#onClosed = onClosed;
  }

  /**
   * Binds now; all addresses are those of IPv4 and IPv6, as far as the machine has them.
   * @param anyHost the address for tunnels that request none; "" = all
   * @param onClosed called when the port is free again, also if it cannot be bound
   * @throws the system's error, its `code` the errno name
   */
  static async bind(
    { host, port }: { readonly host: string; readonly port: number },
    log: Logger,
    anyHost: string,
    onClosed: () => void = () => undefined,
  ): Promise<UdpPort> {
    try {
      return new UdpPort(host, await UdpSocket.bind({ host: host || anyHost, port }), log, onClosed);
    } catch (error) {
      onClosed();
      throw error;
    }
  }

  /** The port that was bound. */
  get port(): number {
    return this.#socket.local.port;
  }

  /** From now on events go to `handlers`; errors are logged. */
  serve(handlers: Omit<UdpHandlers, 'onError'>): void {
    this.#socket.serve({ ...handlers, onError: logAcceptErrors(this.#log, this.port) });
  }

  /** Sends a datagram; one that the system does not take is dropped. The bytes must not be changed afterwards. */
  send(bytes: Uint8Array, to: UdpAddress): void {
    this.#socket.send(bytes, to);
  }

  /** Frees the port. */
  async close(): Promise<void> {
    await this.#socket.close();
    this.#onClosed();
  }
}
