import dgram from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';
import type { Logger } from 'pino';
import { logAcceptErrors } from '../limits/accept-errors.ts';

/** What happens with a datagram that arrived. The receiver owns `bytes`; IPv4-mapped addresses are as the system gives them. */
export type OnDatagram = (bytes: Buffer, from: { readonly address: string; readonly port: number }) => void;

/** A bound UDP port that may still wait for its tunnel; datagrams that arrive meanwhile are dropped. */
export class UdpPort {
  readonly transport = 'udp';
  /** As asked for: "" = all addresses. */
  readonly host: string;
  /** The port that was bound. */
  readonly port: number;
  readonly #socket: dgram.Socket;
  #onDatagram: OnDatagram = () => undefined;

  private constructor(host: string, socket: dgram.Socket) {
    this.host = host;
    this.#socket = socket;
    this.port = socket.address().port;
    socket.on('message', (bytes, from) => this.#onDatagram(bytes, from));
  }

  /**
   * Binds now; "" = all addresses, IPv4 and IPv6.
   * @throws the system's error, its `code` the errno name
   */
  static async bind({ host, port }: { readonly host: string; readonly port: number }, log: Logger): Promise<UdpPort> {
    const socket = dgram.createSocket(isIPv4(host) ? 'udp4' : 'udp6');
    socket.bind({ port, address: host === '' ? undefined : host });
    await once(socket, 'listening');
    socket.on('error', logAcceptErrors(log, port));
    return new UdpPort(host, socket);
  }

  /** From now on datagrams go to `onDatagram`. */
  serve(onDatagram: OnDatagram): void {
    this.#onDatagram = onDatagram;
  }

  /** Sends a datagram; one that the system does not take is lost, as datagrams are. The bytes must not be changed afterwards. */
  send(bytes: Uint8Array, to: { readonly address: string; readonly port: number }): void {
    this.#socket.send(bytes, to.port, to.address, () => undefined);
  }

  /** Frees the port. */
  async close(): Promise<void> {
    this.#onDatagram = () => undefined;
    await new Promise<void>((resolve) => { this.#socket.close(resolve); });
  }
}
