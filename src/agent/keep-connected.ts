import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { formatHostPort } from '../rules/host-port.ts';
import { HandshakeError } from '../wire/handshake-error.ts';
import { messageOf } from '../wire/system-error.ts';
import { ReconnectDelay } from './reconnect.ts';
import type { SessionEnd } from './server-session.ts';
import { logState } from './state-change.ts';

/** Open connections get this long to end when the program is stopped, in ms. */
const DRAIN_MS = 5000;
/** After an outage, agents spread their data connections over this much time, in ms. */
const DATA_SPREAD_MS = 10_000;
/** Longest wait that a server may ask for, in ms. */
const LONGEST_ASKED_MS = 60_000;

/** A session that can be kept. */
export interface KeptSession {
  /** Resolves when it is over. */
  readonly ended: Promise<SessionEnd>;
  /** Gives open connections `ms` to end, then ends it cleanly. */
  close(ms: number): Promise<void>;
}

/** The state of a connection. */
export interface ConnectionState {
  readonly connected: boolean;
  /** ms since the epoch. */
  readonly since: number;
  /** The identity of the session, or why there is no connection. */
  readonly text: string;
}

/** Why a session ended, or could not be opened. */
interface Ended {
  readonly text: string;
  /** The server answered, and refused. */
  readonly refused?: boolean;
  /** How long the server asks to wait. */
  readonly retryAfterMs?: number;
}

/** How a session is kept. */
export interface KeepOptions<S extends KeptSession> {
  /** The bridge, for the log. */
  readonly server: { readonly host: string; readonly port: number };
  readonly log: Logger;
  /** Opens the next session, which dials its data connections after `dataAfterMs`. Errors are logged, and it is called again later. */
  readonly open: (dataAfterMs: number) => Promise<S>;
  /** The identity of a session, for the log: "client 1". */
  readonly whoIs: (session: S) => string;
  /** Yields 0 <= x < 1: the jitter of the reconnect delays. */
  readonly random?: () => number;
}

/** Keeps a session with the server: reconnects whenever it is lost. Logs one line for each change of state. */
export class KeptConnection<S extends KeptSession> {
  readonly #options: KeepOptions<S>;
  readonly #server: string;
  readonly #delay: ReconnectDelay;
  readonly #stopped = new AbortController();
  #current: S | undefined;
  /** Delay before data connections are dialed, in ms: 0 for the first session, random later, so that after an outage the sessions of all agents come first. */
  #dataAfterMs = 0;
  #state: ConnectionState = { connected: false, since: Date.now(), text: 'connecting' };

  constructor(options: KeepOptions<S>) {
    const { host, port } = options.server;
    this.#options = options;
    this.#server = formatHostPort({ host, port });
    this.#delay = new ReconnectDelay(options.random);
  }

  /** Its state. */
  get state(): ConnectionState {
    return this.#state;
  }

  /** The session, while there is one. */
  get current(): S | undefined {
    return this.#current;
  }

  /** Resolves some time after `stop`. Never rejects: it tries again after any failure. */
  async run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const problem = await this.#session();
      if (signal.aborted) break;
      const wait = problem.retryAfterMs ?? this.#delay.next(problem.refused);
      this.#state = { connected: false, since: Date.now(), text: problem.text };
      logState(
        this.#options.log,
        'warn',
        { event: 'disconnected', server: this.#server, reason: problem.text, retryMs: Math.round(wait) },
        `${problem.text}; trying again in ${(wait / 1000).toFixed(1)} s`,
      );
      await delay(wait, undefined, { signal }).catch(() => undefined); // rejects when stopped
    }
  }

  /** Stops gracefully: the server is notified, and open connections get a moment to end. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#current?.close(DRAIN_MS);
  }

  /** One session from the connect to its end. */
  async #session(): Promise<Ended> {
    let session: S;
    try {
      session = await this.#options.open(this.#dataAfterMs);
    } catch (error) {
      const refusal = error instanceof HandshakeError ? error.refusal : undefined;
      return {
        text: refusal ? `refused by ${this.#server}: ${refusal.text}` : `cannot connect to ${this.#server}: ${messageOf(error)}`,
        refused: refusal !== undefined,
        ...(refusal?.retryAfterMs !== undefined && { retryAfterMs: Math.min(refusal.retryAfterMs, LONGEST_ASKED_MS) }),
      };
    }
    if (this.#stopped.signal.aborted) {
      await session.close(0);
      return { text: 'stopped' };
    }
    this.#current = session;
    this.#dataAfterMs = (this.#options.random ?? Math.random)() * DATA_SPREAD_MS;
    const who = this.#options.whoIs(session);
    this.#state = { connected: true, since: Date.now(), text: `connected to ${this.#server} as ${who}` };
    logState(this.#options.log, 'info', { event: 'connected', server: this.#server, as: who }, this.#state.text);
    const since = performance.now();
    const end = await session.ended;
    this.#current = undefined;
    this.#delay.sessionLasted(performance.now() - since);
    // Two agents with one vkey would replace each other all the time.
    if (end.code === 'replaced') this.#delay.slowDown();
    return { text: `connection to ${this.#server} lost: ${end.text}` };
  }
}

/**
 * Runs an agent or a visitor as the program: SIGINT or SIGTERM stops it cleanly, a second signal immediately. Ends the process, because a
 * pending connection attempt would keep it running for seconds.
 */
export async function runUntilStopped(kept: { run(): Promise<void>; stop(): Promise<void> }, log: Logger): Promise<void> {
  let signals = 0;
  const onSignal = (): void => {
    if (++signals > 1) process.exit(130);
    log.info('stopping; a second signal stops at once');
    void kept.stop().then(() => {
      logState(log, 'info', { event: 'stopped' }, 'stopped');
      process.exit(0);
    });
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  await kept.run();
}
