import dgram from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { afterEach } from '@jest/globals';

const open = new Set<UdpPeer>();

afterEach(async () => {
  await Promise.all(Array.from(open, (peer) => peer.close()));
});

/** A UDP socket of this machine: a visitor, or a target that tunnels lead to. Gone when the test is done. */
export class UdpPeer {
  readonly port: number;
  /** host:port */
  readonly address: string;
  /** Datagrams that nobody has asked for yet. */
  readonly received: Buffer[] = [];
  /** The ports that datagrams came from, in the order in which they were first seen. */
  readonly senders: number[] = [];
  readonly #socket: dgram.Socket;

  constructor(socket: dgram.Socket) {
    this.#socket = socket;
    const { address, port } = socket.address();
    this.port = port;
    this.address = isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`;
    socket.on('message', (bytes, from) => {
      this.received.push(bytes);
      if (!this.senders.includes(from.port)) this.senders.push(from.port);
    });
    open.add(this);
  }

  /** What becomes of each datagram, besides `received`. */
  onDatagram(serve: (bytes: Buffer, reply: (answer: Buffer) => void) => void): void {
    this.#socket.on('message', (bytes, { address, port }) => serve(bytes, (answer) => this.#socket.send(answer, port, address)));
  }

  /** Sends a datagram to a port of this machine. */
  send(bytes: Buffer | string, port: number, host = '127.0.0.1'): void {
    this.#socket.send(bytes, port, host);
  }

  /** The next datagram, in the order of arrival. */
  async next(): Promise<Buffer> {
    for (;;) {
      const bytes = this.received.shift();
      if (bytes) return bytes;
      await once(this.#socket, 'message');
    }
  }

  /** Sends a datagram and waits for the next one. */
  async ask(bytes: Buffer | string, port: number, host?: string): Promise<Buffer> {
    this.send(bytes, port, host);
    return this.next();
  }

  /** Frees the port. */
  async close(): Promise<void> {
    if (open.delete(this)) {
      await new Promise<void>((resolve) => {
        this.#socket.close(resolve);
      });
    }
  }
}

/** Binds a UDP socket on this machine. */
export async function udpPeer(host = '127.0.0.1', port = 0): Promise<UdpPeer> {
  const socket = dgram.createSocket(isIPv6(host) ? 'udp6' : 'udp4');
  socket.bind(port, host);
  await once(socket, 'listening');
  return new UdpPeer(socket);
}

/** A target that sends every datagram back, `prefix` before it. */
export async function udpEcho(prefix = '', host?: string): Promise<UdpPeer> {
  const peer = await udpPeer(host);
  peer.onDatagram((bytes, reply) => reply(Buffer.concat([Buffer.from(prefix), bytes])));
  return peer;
}
