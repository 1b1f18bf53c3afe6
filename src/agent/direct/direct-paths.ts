import type { Logger } from 'pino';
import type { DirectWay } from '../../wire/direct-messages.ts';
import { Mux, type Stream } from '../../wire/mux.ts';
import type { ByteSocket } from '../../wire/socket.ts';
import { messageOf } from '../../wire/system-error.ts';
import { ASK_DIRECT, type FromVisitor } from '../../wire/visit-messages.ts';
import { openPath, type OpenPath } from './open-path.ts';
import { logState } from '../state-change.ts';
import { Signal } from './signal.ts';
import { formatHostPort } from '../../rules/host-port.ts';

/** Waits between attempts, in ms: doubling from the first to the longest. */
export interface DirectRetry {
  readonly first: number;
  readonly longest: number;
}

const RETRY: DirectRetry = { first: 5000, longest: 10 * 60_000 };
const NO_PAYLOAD = Buffer.alloc(0);

/** What the direct paths need of the visitor's session with the server. */
export interface DirectPathsOptions {
  readonly password: string;
  readonly log: Logger;
  /** The server's address. */
  readonly server: string;
  /** Opens a stream to the server. */
  readonly open: (payload: Uint8Array) => Stream | undefined;
  readonly send: (message: FromVisitor) => void;
  readonly retry?: DirectRetry | undefined;
}

/** The visitor's direct paths to the agent, without the server: tried when the agent is connected, and again later when a path fails or is lost. */
export class DirectPaths {
  readonly #options: DirectPathsOptions;
  #mux: Mux | undefined;
  #signal: Signal | undefined;
  #retry: NodeJS.Timeout | undefined;
  readonly #waits: DirectRetry;
  #wait: number;
  /** The transport of the next attempt: UDP succeeds more often, TCP works where UDP is blocked. */
  #preferred: DirectWay = 'udp';
  #failureReported = false;
  #draining = false;
  #closed = false;

  constructor(options: DirectPathsOptions) {
    this.#options = options;
    this.#waits = options.retry ?? RETRY;
    this.#wait = this.#waits.first;
  }

  /** Tries immediately, unless there is a path or an attempt already. */
  start(): void {
    if (this.#closed || this.#draining || this.#signal) return;
    clearTimeout(this.#retry);
    this.#wait = this.#waits.first;
    this.#preferred = 'udp';
    void this.#attempt();
  }

  /** The agent has disconnected: an attempt would be useless. */
  stop(): void {
    clearTimeout(this.#retry);
  }

  /** Carries a local connection if a path is open; false = no path. @param hold as for the session */
  carry(socket: ByteSocket, hold: () => () => void): boolean {
    const stream = this.#draining ? undefined : this.#mux?.open(NO_PAYLOAD);
    if (!stream) return false;
    const release = hold();
    stream.join(socket, {
      onClose: () => {
        release();
        this.#closeWhenIdle();
      },
    });
    return true;
  }

  /** The server is shutting down: the path takes no new connections and ends with its last one. */
  drain(): void {
    this.#draining = true;
    clearTimeout(this.#retry);
    this.#closeWhenIdle();
  }

  #closeWhenIdle(): void {
    if (this.#draining && this.#mux?.streamCount === 0) this.close();
  }

  /** Ends the path and every attempt. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#mux?.close('the visitor ended it');
    this.#signal?.destroy();
  }

  async #attempt(): Promise<void> {
    const { open, password, server } = this.#options;
    const stream = open(ASK_DIRECT);
    if (!stream) return;
    const signal = new Signal();
    this.#signal = signal;
    stream.join(signal);
    try {
      const path = await openPath({ role: 'visitor', password, signal, server, stunPorts: [], preferred: this.#preferred });
      this.#use(path, signal);
    } catch (error) {
      signal.destroy();
      this.#signal = undefined;
      this.#preferred = this.#preferred === 'udp' ? 'tcp' : 'udp';
      this.#tellFailure(messageOf(error));
      this.#tryLater();
    }
  }

  #use({ socket, way, peer, life }: OpenPath, signal: Signal): void {
    const { log, send } = this.#options;
    const mux = new Mux(socket, 'server', {
      onOpen: (stream) => stream.reset(),
      onControl: () => undefined,
      onClose: (reason, cut) => {
        this.#mux = undefined;
        this.#signal = undefined;
        signal.destroy();
        if (this.#closed) return;
        send({ type: 'path', path: 'relay' });
        logState(
          log,
          'warn',
          { event: 'path', path: 'relay' },
          `direct path lost: ${reason}; ${cut} ${cut === 1 ? 'connection' : 'connections'} on it cut, new ones go through the server`,
        );
        this.#tryLater();
      },
    }, life);
    if (this.#closed) {
      mux.close('the visitor ended it');
      return;
    }
    this.#mux = mux;
    this.#wait = this.#waits.first;
    this.#failureReported = false;
    void signal.closed.then(() => mux.close('the server or the agent ended it'));
    send({ type: 'path', path: 'direct' });
    logState(
      log,
      'info',
      { event: 'path', path: 'direct' },
      `direct path to the agent at ${formatHostPort(peer)} (${way}): new connections use it`,
    );
  }

  #tellFailure(reason: string): void {
    if (this.#closed) return;
    const text = `no direct path: ${reason}`;
    // At info level only once until the state changes: attempts never stop.
    if (this.#failureReported) this.#options.log.debug(text);
    else this.#options.log.info(`${text}; connections go through the server, and a direct path is tried again from time to time`);
    this.#failureReported = true;
  }

  #tryLater(): void {
    if (this.#closed || this.#draining) return;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => void this.#attempt(), this.#wait);
    this.#wait = Math.min(this.#wait * 2, this.#waits.longest);
  }
}
