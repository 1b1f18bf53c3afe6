import type UDX from 'udx-native';
import type { UdxSocket } from 'udx-native';
import type { MuxOptions } from '../../wire/mux.ts';
import { type Endpoint, stunMapped, stunRequest } from '../../wire/stun.ts';
import { Candidates, ownCandidates } from './candidates.ts';
import { type DirectRole, type PathKey, Probe } from './path-key.ts';
import { NoPathError, type Punched, type PunchOptions } from './punch.ts';
import { type StreamIds, udxDuplex } from './udx.ts';

/** How often probes and requests are sent again, in ms. */
const TICK_MS = 50;

/**
 * Punches a hole for UDP: both sides learn their public address from the server, exchange their candidates, and send probes to every candidate
 * until one is answered. The visitor chooses the pair, and repeats its choice until the agent has confirmed it. While the path is open, both sides send
 * keep-alive packets outside the stream, because packets in the stream can wait for seconds behind lost ones.
 * @throws {NoPathError}
 */
export async function punchUdp(
  udx: UDX,
  ids: StreamIds,
  aliveMs: number,
  options: PunchOptions,
): Promise<Punched & Required<Pick<MuxOptions, 'heardOutOfBand'>>> {
  const punch = new UdpPunch(udx, options);
  try {
    const { socket, peer } = await punch.run();
    const raw = udxDuplex(udx, socket, ids, peer);
    punch.keepAlive(peer, aliveMs);
    raw.once('close', () => punch.close());
    return { raw, peer, heardOutOfBand: () => punch.heardAt };
  } catch (error) {
    punch.close();
    throw error;
  }
}

class UdpPunch {
  readonly #role: DirectRole;
  readonly #key: PathKey;
  readonly #options: PunchOptions;
  readonly #family: number;
  readonly #socket: UdxSocket;
  /** One request for each of the server's ports: a NAT that maps them to different ports usually can't be punched. */
  readonly #requests: { readonly port: number; readonly request: Buffer; mapped?: Endpoint }[];
  readonly #candidates: Candidates;
  /** The visitor: the first address that answered. */
  #choice: Endpoint | undefined;
  #reported = false;
  #timer: NodeJS.Timeout | undefined;
  /** The peer's address on the open path. */
  #peer: Endpoint | undefined;
  /** When the last keep-alive arrived, by performance.now(). */
  heardAt = 0;
  #found: (peer: Endpoint) => void = () => undefined;

  constructor(udx: UDX, options: PunchOptions) {
    this.#options = options;
    this.#role = options.role;
    this.#key = options.key;
    this.#family = options.stun.family;
    this.#candidates = new Candidates(this.#family);
    this.#requests = options.stun.ports.map((port) => ({ port, request: stunRequest() }));
    this.#socket = udx.createSocket();
    this.#socket.bind(0, this.#family === 4 ? '0.0.0.0' : '::');
    this.#socket.on('message', (message, from) => this.#onMessage(message, from));
  }

  /** Resolves to the socket and the peer's address. */
  async run(): Promise<{ readonly socket: UdxSocket; readonly peer: Endpoint }> {
    return { peer: await this.#search(), socket: this.#socket };
  }

  /** The path is open: sends keep-alive packets. */
  keepAlive(peer: Endpoint, everyMs: number): void {
    this.#peer = peer;
    this.#timer = setInterval(() => this.#send(Probe.ALIVE, peer), everyMs);
  }

  close(): void {
    clearInterval(this.#timer);
    void this.#socket.close();
  }

  async #search(): Promise<Endpoint> {
    const { signal, timeoutMs } = this.#options;
    let giveUp: NodeJS.Timeout | undefined;
    try {
      return await new Promise<Endpoint>((resolve, reject) => {
        this.#found = resolve;
        giveUp = setTimeout(() => reject(new NoPathError(this.#why())), timeoutMs);
        void signal.closed.then(() => reject(new NoPathError('the peer ended the attempt')));
        this.#timer = setInterval(() => this.#tick(), TICK_MS);
        this.#tick();
        signal.receive('candidates').then(({ candidates }) => {
          for (const candidate of candidates) this.#candidates.add(candidate);
          this.#tick();
        }).catch(reject);
      });
    } finally {
      clearTimeout(giveUp);
      clearInterval(this.#timer);
    }
  }

  #tick(): void {
    if (!this.#reported) { for (const { port, request } of this.#requests) this.#socket.trySend(request, port, this.#options.stun.host); }
    if (this.#choice) this.#send(Probe.CHOOSE, this.#choice);
    else for (const candidate of this.#candidates) this.#send(Probe.ASK, candidate);
  }

  #send(kind: (typeof Probe)[keyof typeof Probe], to: Endpoint): void {
    this.#socket.trySend(this.#key.probe(kind), to.port, to.host);
  }

  #onMessage(message: Buffer, { host, port }: Endpoint): void {
    const from = { host: host.startsWith('::ffff:') ? host.slice(7) : host, port };
    const kind = this.#key.read(message);
    if (!kind) this.#onMapped(message);
    else if (kind === Probe.ASK) {
      this.#send(Probe.ANSWER, from);
      // A NAT may have mapped the peer to a port that the peer didn't know when it named its candidates.
      if (this.#candidates.add(from)) this.#send(Probe.ASK, from);
    } else if (this.#role === 'agent' && kind === Probe.CHOOSE) {
      this.#send(Probe.CHOSEN, from);
      this.#found(from);
    } else if (this.#role === 'visitor' && kind === Probe.ANSWER) {
      this.#choice ??= from;
      this.#send(Probe.CHOOSE, this.#choice);
    } else if (this.#role === 'visitor' && kind === Probe.CHOSEN) {
      this.#found(from);
    } else if (kind === Probe.ALIVE && from.host === this.#peer?.host && from.port === this.#peer.port) {
      this.heardAt = performance.now();
    }
  }

  #onMapped(message: Buffer): void {
    for (const entry of this.#requests) entry.mapped ??= stunMapped(message, entry.request);
    const mapped = this.#requests.find(({ mapped }) => mapped)?.mapped;
    if (!mapped || this.#reported) return;
    this.#reported = true;
    const localPort = this.#socket.address()?.port ?? 0;
    this.#options.signal.send({ type: 'candidates', candidates: ownCandidates(mapped, localPort, this.#family) });
  }

  /** Why there is no path, as far as this side can tell. */
  #why(): string {
    const mapped = this.#requests.flatMap(({ mapped }) => mapped ?? []);
    if (mapped.length === 0) return "the server's UDP ports do not answer";
    if (new Set(mapped.map(({ port }) => port)).size > 1) return 'this network gives every destination another UDP port';
    return 'no UDP packet of the peer arrives';
  }
}
