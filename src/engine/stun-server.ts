import dgram from 'node:dgram';
import { isIPv6 } from 'node:net';
import type { Logger } from 'pino';
import { ConnectionShares, type ShareLimits } from '../rules/connection-shares.ts';
import { networkOf } from '../rules/ip-address.ts';
import { unmapped } from '../wire/mapped-address.ts';
import { STUN_REQUEST_BYTES, stunResponse } from '../wire/stun.ts';
import type { OwnedPorts } from '../wire/shared-ports.ts';
import type { ByteSocket, SocketBackend, SocketServer } from '../wire/socket.ts';
import { portOf } from '../wire/system-error.ts';
import { listenProblem } from './ports/listen-error.ts';

/** Maximum number of answers per second, to one address (for IPv6, network) and in total, since requests are not authenticated. */
const MOST_ANSWERS = { perAddress: 100, total: 5000 } as const;
/** TCP connections at once, and how long one may take, in ms: an attempt to open a direct path needs it for 3 s. */
const CONNECTIONS: ShareLimits = { total: 256, perAddress: 32 };
const CONNECTION_MS = 10_000;

/** Where the STUN server listens. */
export interface StunServerOptions {
  readonly sockets: SocketBackend;
  readonly log: Logger;
  readonly host: string;
  /** UDP and TCP on this one, and UDP on the next; 0 = any free ones. */
  readonly port: number;
  /** Other processes answer at the same ports: one of them has these. Absent = there are no others. */
  readonly owned?: OwnedPorts | undefined;
}

/** The ports of STUN, for the processes of this machine. */
const NAME = 'stun';

/**
 * A STUN server: tells visitors and agents of p2p tunnels their public address. Its ports are opened with the first request for a direct path,
 * so without p2p tunnels there is no open port. Answers are never longer than the request, and limited in number.
 */
export class StunServer {
  readonly #options: StunServerOptions;
  #opening: Promise<readonly number[]> | undefined;
  readonly #udp: dgram.Socket[] = [];
  #tcp: SocketServer | undefined;
  readonly #connections = new Set<ByteSocket>();
  readonly #shares = new ConnectionShares(CONNECTIONS);
  #answers = new Map<string, number>();
  #total = 0;
  #second = 0;
  #closed = false;

  constructor(options: StunServerOptions) {
    this.#options = options;
  }

  /** Opens its ports if necessary. [] = that failed and was logged; the next call tries again. */
  async ports(): Promise<readonly number[]> {
    if (this.#closed) return [];
    this.#opening ??= this.#openOrLeave();
    try {
      return await this.#opening;
    } catch (error) {
      this.#opening = undefined;
      await this.#closeSockets();
      const { host, port, log } = this.#options;
      log.error({ host, port }, `no direct paths for p2p tunnels (--p2p-port): ${listenProblem(error, host, portOf(error) ?? port)}`);
      return [];
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#opening?.catch(() => undefined); // ports() has logged it
    await this.#closeSockets();
  }

  /** Opens the ports, unless another process has them: then it answers there, and this one does when it ends. */
  async #openOrLeave(): Promise<readonly number[]> {
    const { owned, port } = this.#options;
    // Any free ports are not those of another process.
    if (!owned || port === 0) return this.#open();
    const onGranted = (): void => {
      this.#opening = undefined;
      void this.ports();
    };
    return await owned.claim(NAME, onGranted) ? this.#open() : [port, port + 1];
  }

  async #closeSockets(): Promise<void> {
    for (const socket of this.#udp.splice(0)) socket.close();
    for (const socket of this.#connections) socket.destroy();
    await this.#tcp?.close();
    this.#tcp = undefined;
    this.#options.owned?.release(NAME);
  }

  async #open(): Promise<readonly number[]> {
    const { sockets, log, host, port } = this.#options;
    this.#tcp = await sockets.listen({
      host,
      port,
      onSocket: (socket) => this.#onSocket(socket),
      onError: (error) => log.warn({ err: error }, 'a p2p connection could not be accepted'),
    });
    const first = await this.#bind(this.#tcp.port);
    const second = await this.#bind(port === 0 ? 0 : port + 1);
    return [first, second];
  }

  #bind(port: number): Promise<number> {
    const { host, log } = this.#options;
    const socket = dgram.createSocket({ type: host === '' || isIPv6(host) ? 'udp6' : 'udp4' });
    this.#udp.push(socket);
    return new Promise((resolve, reject) => {
      socket.once('error', reject);
      socket.bind({ port, address: host || undefined }, () => {
        socket.off('error', reject);
        socket.on('error', (error) => log.warn({ err: error, port }, 'a p2p port failed'));
        resolve(socket.address().port);
      });
      socket.on('message', (message, from) => {
        const answer = this.#answer(message, from.address, from.port);
        if (answer) socket.send(answer, from.port, from.address);
      });
    });
  }

  #answer(message: Buffer, address: string, port: number): Buffer | undefined {
    const host = unmapped(address);
    return this.#mayAnswer(host) ? stunResponse(message, { host, port }) : undefined;
  }

  #mayAnswer(host: string): boolean {
    const second = Math.floor(performance.now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#answers = new Map();
      this.#total = 0;
    }
    const source = networkOf(host, 64);
    const before = this.#answers.get(source) ?? 0;
    if (before >= MOST_ANSWERS.perAddress || this.#total >= MOST_ANSWERS.total) return false;
    this.#answers.set(source, before + 1);
    this.#total++;
    return true;
  }

  /** The same over TCP: one request; the connection stays open for a while, since it keeps the NAT's mapping. */
  #onSocket(socket: ByteSocket): void {
    const { remoteAddress } = socket;
    if (!this.#shares.enter(remoteAddress)) {
      socket.destroy(true);
      return;
    }
    this.#connections.add(socket);
    const timer = setTimeout(() => socket.destroy(), CONNECTION_MS).unref();
    let received: Buffer = Buffer.alloc(0);
    socket.attach({
      onData: (chunk) => {
        received = Buffer.concat([received, chunk]);
        if (received.length < STUN_REQUEST_BYTES) return;
        const answer = received.length === STUN_REQUEST_BYTES ? this.#answer(received, socket.remoteAddress, socket.remotePort) : undefined;
        if (answer) socket.write(answer);
        else socket.destroy(true);
      },
      onEnd: () => socket.destroy(),
      onDrain: () => undefined,
      onClose: () => {
        clearTimeout(timer);
        this.#connections.delete(socket);
        this.#shares.leave(remoteAddress);
      },
    });
  }
}
