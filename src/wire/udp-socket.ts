import dgram from 'node:dgram';
import { isIPv4 } from 'node:net';
import { mapped } from './mapped-address.ts';
import { errnoOf } from './system-error.ts';

/** Bytes that may wait for the kernel to take them before further datagrams are dropped. */
const MAX_UNSENT = 256 * 1024;
/** Requested from the kernel, which may limit it: datagrams that arrive while the event loop is busy wait here. */
const RECEIVE_BUFFER = 1024 * 1024;
/** The errors of a machine without IPv6. */
const NO_IPV6: readonly string[] = ['EAFNOSUPPORT', 'EADDRNOTAVAIL', 'EPROTONOSUPPORT', 'EINVAL'];

/** The address and port of a datagram's other end. */
export interface UdpAddress {
  /** An IP address, never a name. */
  readonly address: string;
  readonly port: number;
}

/** Callbacks of a UDP socket's owner. */
export interface UdpHandlers {
  /** A datagram arrived; the receiver owns `bytes`. IPv4-mapped addresses are as the system gives them. */
  onDatagram(bytes: Buffer, from: UdpAddress): void;
  /** A sent datagram was dropped: too many waited, or the system refused it. */
  onDropped?(): void;
  /** The system reports an error; for a connected socket it mostly means that no program listens at the other end. The socket stays open. */
  onError?(error: Error): void;
  /** It was closed. */
  onClose?(): void;
}

const NOBODY: UdpHandlers = { onDatagram: () => undefined };

/** Node looks up addresses in a later iteration of the event loop, but IP addresses need no lookup. Node passes the family and ignores it in the result. */
const asGiven: dgram.SocketOptions['lookup'] = (address, _options, callback) => callback(null, address, 0);

/** A UDP socket that never blocks and has a bounded queue: datagrams that the system does not take are dropped. */
export class UdpSocket {
  /** The bound address. */
  readonly local: UdpAddress;
  readonly #socket: dgram.Socket;
  readonly #sent: (error: Error | null) => void;
  #handlers: UdpHandlers = NOBODY;
  #closed = false;

  private constructor(socket: dgram.Socket) {
    this.#socket = socket;
    this.local = socket.address();
    socket.on('message', (bytes, from) => this.#handlers.onDatagram(bytes, from));
    socket.on('error', (error) => this.#handlers.onError?.(error));
    // One function for all datagrams: this is the path of each.
    this.#sent = (error) => {
      if (error) this.#failed(error);
    };
  }

  /**
   * Binds a socket; host "" = all addresses, of IPv4 alone when the machine has no IPv6.
   * @throws the system's error, its `code` the errno name
   */
  static async bind({ host, port }: { readonly host: string; readonly port: number }): Promise<UdpSocket> {
    if (host !== '') return new UdpSocket(await bound(isIPv4(host) ? 'udp4' : 'udp6', port, host));
    try {
      return new UdpSocket(await bound('udp6', port, '::'));
    } catch (error) {
      if (!NO_IPV6.includes(errnoOf(error))) throw error;
      return new UdpSocket(await bound('udp4', port, '0.0.0.0'));
    }
  }

  /**
   * Creates a socket that exchanges datagrams with one address only.
   * @throws the system's error, its `code` the errno name
   */
  static async connect({ address, port }: UdpAddress): Promise<UdpSocket> {
    const socket = await bound(isIPv4(address) ? 'udp4' : 'udp6', 0, undefined);
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once('connect', resolve).once('error', reject);
        socket.connect(port, address);
      });
    } catch (error) {
      socket.close();
      throw error;
    }
    socket.removeAllListeners('error').removeAllListeners('connect');
    return new UdpSocket(socket);
  }

  /** From now on events go to `handlers`; before, datagrams are dropped. */
  serve(handlers: UdpHandlers): void {
    this.#handlers = handlers;
  }

  /** An IP address in the form that this socket needs: an IPv6 socket needs IPv4 addresses mapped. */
  reachable(address: string): string {
    return isIPv4(address) && !isIPv4(this.local.address) ? mapped(address) : address;
  }

  /** Sends a datagram, of a connected socket without `to`. The bytes must not be changed afterwards. */
  send(bytes: Uint8Array, to?: UdpAddress): void {
    if (this.#closed || this.#socket.getSendQueueSize() > MAX_UNSENT) this.#handlers.onDropped?.();
    else if (to) this.#socket.send(bytes, to.port, to.address, this.#sent);
    else this.#socket.send(bytes, this.#sent);
  }

  #failed(error: Error): void {
    this.#handlers.onDropped?.();
    // The error of an earlier datagram, which the kernel reports for this one.
    if (errnoOf(error) === 'ECONNREFUSED') this.#handlers.onError?.(error);
  }

  /** Closes the socket; the port is free when it resolves. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#handlers.onClose?.();
    this.#handlers = NOBODY;
    await new Promise<void>((resolve) => {
      this.#socket.close(resolve);
    });
  }
}

function bound(type: dgram.SocketType, port: number, address: string | undefined): Promise<dgram.Socket> {
  return new Promise((resolve, reject) => {
    const socket = dgram.createSocket({ type, lookup: asGiven, recvBufferSize: RECEIVE_BUFFER });
    socket.once('error', (error) => {
      socket.close();
      reject(error);
    });
    socket.once('listening', () => {
      socket.removeAllListeners('error');
      resolve(socket);
    });
    socket.bind({ port, address });
  });
}
