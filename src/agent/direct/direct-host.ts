import type { Logger } from 'pino';
import { Mux, type Stream } from '../../wire/mux.ts';
import type { Joinable } from '../../wire/stream.ts';
import type { OpenRequest } from '../../wire/open.ts';
import type { AgentMessage } from '../../wire/agent-messages.ts';
import type { SocketBackend } from '../../wire/socket.ts';
import { messageOf } from '../../wire/system-error.ts';
import { dial } from '../../stream-handlers/dial-target.ts';
import { openPath } from './open-path.ts';
import { Signal } from './signal.ts';
import { formatHostPort } from '../../rules/host-port.ts';

/** Maximum direct paths of one agent, including attempts: each uses a socket. */
const MAX_PATHS = 1000;
/** Targets that are dialed concurrently for one path. */
const MAX_DIALS = 1024;
/** How often the traffic of direct paths is reported to the server, in ms. */
const REPORT_MS = 1000;

/** What direct paths need of the agent's session with the server. */
export interface DirectHostOptions {
  readonly sockets: SocketBackend;
  readonly log: Logger;
  /** The server's address. */
  readonly server: string;
  readonly send: (message: AgentMessage) => void;
  /** Delays the session's close until the returned function is called. */
  readonly hold: () => () => void;
}

/** The agent's ends of direct paths, by which visitors reach a tunnel's targets without the server. */
export class DirectHost {
  readonly #options: DirectHostOptions;
  readonly #paths = new Set<HostedPath>();
  readonly #report: NodeJS.Timeout;

  constructor(options: DirectHostOptions) {
    this.#options = options;
    this.#report = setInterval(() => this.#sendTraffic(), REPORT_MS).unref();
  }

  /** Opens a path with the visitor at the other end of `stream`. */
  accept(request: OpenRequest<'direct'>, stream: Joinable): void {
    if (this.#paths.size >= MAX_PATHS) {
      stream.reset();
      return;
    }
    const signal = new Signal();
    stream.join(signal);
    const path = new HostedPath(this.#options, request, signal);
    this.#paths.add(path);
    void path.run().finally(() => {
      this.#sendTraffic();
      this.#paths.delete(path);
    });
  }

  /** The targets of a tunnel were changed: the next connection uses the new ones. */
  retarget(tunnelId: number, targets: readonly string[]): void {
    for (const path of this.#paths) if (path.tunnelId === tunnelId) path.targets = targets;
  }

  /** The session with the server is over, and the paths end with it. */
  close(): void {
    clearInterval(this.#report);
  }

  #sendTraffic(): void {
    for (const path of this.#paths) {
      const { inlet, exported } = path.takeBytes();
      if (inlet + exported > 0) this.#options.send({ type: 'traffic', tunnelId: path.tunnelId, inlet, exported });
    }
  }
}

class HostedPath {
  readonly tunnelId: number;
  targets: readonly string[];
  readonly #options: DirectHostOptions;
  readonly #request: OpenRequest<'direct'>;
  readonly #signal: Signal;
  #next = 0;
  #dials = 0;
  /** Not yet reported. */
  #inlet = 0;
  #exported = 0;

  constructor(options: DirectHostOptions, request: OpenRequest<'direct'>, signal: Signal) {
    this.#options = options;
    this.#request = request;
    this.#signal = signal;
    this.tunnelId = request.tunnelId;
    this.targets = request.targets;
  }

  /** Resolves when the path is over, or could not be opened. */
  async run(): Promise<void> {
    const { log, server } = this.#options;
    const { password, stunPorts } = this.#request;
    try {
      const { socket, way, peer, life } = await openPath({ role: 'agent', password, signal: this.#signal, server, stunPorts, preferred: 'udp' });
      log.info(`direct path with a visitor of tunnel ${this.tunnelId} at ${formatHostPort(peer)} (${way})`);
      await new Promise<void>((resolve) => {
        const mux = new Mux(socket, 'agent', {
          onOpen: (stream) => void this.#onOpen(stream),
          onControl: () => undefined,
          onClose: (reason, cut) => {
            log.info(`direct path with a visitor of tunnel ${this.tunnelId} ended: ${reason}; ${cut} ${cut === 1 ? 'connection' : 'connections'} on it cut`);
            resolve();
          },
        }, life);
        void this.#signal.closed.then(() => mux.close('the visitor or the server ended it'));
      });
    } catch (error) {
      log.debug(`no direct path with a visitor of tunnel ${this.tunnelId}: ${messageOf(error)}`);
    } finally {
      this.#signal.destroy();
    }
  }

  /** Bytes carried since the last call. */
  takeBytes(): { readonly inlet: number; readonly exported: number } {
    const bytes = { inlet: this.#inlet, exported: this.#exported };
    this.#inlet = 0;
    this.#exported = 0;
    return bytes;
  }

  async #onOpen(stream: Stream): Promise<void> {
    if (this.#dials >= MAX_DIALS) {
      stream.reset();
      return;
    }
    this.#dials++;
    const first = this.#next++ % this.targets.length;
    try {
      const socket = await dial(this.#options.sockets, [...this.targets.slice(first), ...this.targets.slice(0, first)]);
      stream.join(socket, {
        onSent: (bytes) => {
          this.#exported += bytes;
        },
        onReceived: (bytes) => {
          this.#inlet += bytes;
        },
        onClose: this.#options.hold(),
      });
    } catch (error) {
      this.#options.log.warn(`no target responds: ${messageOf(error)}`);
      stream.reset();
    } finally {
      this.#dials--;
    }
  }
}
