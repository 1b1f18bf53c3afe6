import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { formatHostPort, type HostPort } from '../rules/host-port.ts';
import { HandshakeError, type Refusal } from '../wire/handshake-error.ts';
import type { OtherServers } from '../wire/other-servers.ts';
import { messageOf } from '../wire/system-error.ts';
import type { DialTimeouts } from './dial-bridge.ts';
import { KnownServers } from './known-servers.ts';
import { ReconnectDelay } from './reconnect.ts';
import type { SessionEnd } from './server-session.ts';
import { logState } from './state-change.ts';

/** Open connections get this long to end when the program is stopped, in ms. */
const DRAIN_MS = 5000;
/** The agents of a server that is being drained move within this time, in ms. */
const MOVE_SPREAD_MS = 1000;
/** After an outage, agents spread their data connections over this much time, in ms. */
const DATA_SPREAD_MS = 10_000;
/** Longest wait that a server may ask for, in ms. */
const LONGEST_ASKED_MS = 60_000;
/** Refusals that concern one server only: the next one is tried at once. All others would say the same. */
const ELSEWHERE: ReadonlySet<string> = new Set(['shutdown', 'starting', 'crowded', 'busy']);
/** Those of them with which a server says that it does not serve at the moment. */
const ABSENT: ReadonlySet<string> = new Set(['shutdown', 'starting']);
/** Of how many servers the log says why they could not be reached. */
const NAMED_PROBLEMS = 4;

/** A session that can be kept. */
export interface KeptSession {
  /** Resolves when it is over. */
  readonly ended: Promise<SessionEnd>;
  /** Gives open connections `ms` to end, then ends it cleanly. */
  close(ms: number): Promise<void>;
  /** Another one takes its place: ends it when its last connection has ended. */
  leave(): Promise<void>;
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
  /** The last server that was tried. */
  readonly server: string;
  readonly text: string;
  /** The session was lost, and there are other servers, which may be there. */
  readonly elsewhere?: boolean;
  /** The session goes on until there is one with another server. */
  readonly moving?: boolean;
  /** The server answered, and refused. */
  readonly refused?: boolean;
  /** How long the server asks to wait. */
  readonly retryAfterMs?: number;
}

/** How a session is opened. */
interface SessionAttempt {
  readonly server: HostPort;
  readonly timeouts: DialTimeouts;
  /** Data connections are dialed after this many ms. */
  readonly dataAfterMs: number;
  /** The server tells of the others of its installation. */
  readonly onServers: (servers: OtherServers) => void;
  /** The server will end. */
  readonly onDrain: () => void;
}

/** How a session is kept. */
export interface KeepOptions<S extends KeptSession> {
  /** The bridges. */
  readonly servers: readonly HostPort[];
  /** They are the TLS ports. */
  readonly overTls: boolean;
  readonly log: Logger;
  /** Opens the next session. Errors are logged, and it is called again later. */
  readonly open: (attempt: SessionAttempt) => Promise<S>;
  /** The identity of a session, for the log: "client 1". */
  readonly whoIs: (session: S) => string;
  /** Yields 0 <= x < 1: the jitter of the reconnect delays. */
  readonly random?: () => number;
}

/** Keeps a session with one of the servers: reconnects whenever it is lost, and moves to another server when its own is being drained. Logs one line for each change of state. */
export class KeptConnection<S extends KeptSession> {
  readonly #options: KeepOptions<S>;
  readonly #servers: KnownServers;
  readonly #delay: ReconnectDelay;
  readonly #stopped = new AbortController();
  #current: { readonly session: S; readonly server: HostPort } | undefined;
  /** All sessions, also those whose last connections are ending. */
  readonly #sessions = new Set<S>();
  /** Delay before data connections are dialed, in ms: 0 for the first session, random later, so that after an outage the sessions of all agents come first. */
  #dataAfterMs = 0;
  #state: ConnectionState = { connected: false, since: Date.now(), text: 'connecting' };

  constructor(options: KeepOptions<S>) {
    this.#options = options;
    this.#servers = new KnownServers(options.servers, options.overTls, options.random);
    this.#delay = new ReconnectDelay(options.random);
  }

  /** Its state. */
  get state(): ConnectionState {
    return this.#state;
  }

  /** The session, while there is one. */
  get current(): S | undefined {
    return this.#current?.session;
  }

  /** Resolves some time after `stop`. Never rejects: it tries again after any failure. */
  async run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      let problem = await this.#session();
      if (signal.aborted) break;
      let wait = this.#waitAfter(problem);
      if (this.#current) {
        this.#options.log.info(`${problem.text}; the session goes on until another server takes it over`);
        const lost = await this.#lostWithin(this.#current, wait);
        if (signal.aborted) break;
        if (!lost) continue;
        problem = lost;
        wait = this.#waitAfter(problem);
      }
      this.#state = { connected: false, since: Date.now(), text: problem.text };
      logState(
        this.#options.log,
        'warn',
        { event: 'disconnected', server: problem.server, reason: problem.text, retryMs: Math.round(wait) },
        `${problem.text}; trying again in ${(wait / 1000).toFixed(1)} s`,
      );
      await delay(wait, undefined, { signal }).catch(() => undefined); // rejects when stopped
    }
  }

  /** Stops gracefully: the server is notified, and open connections get a moment to end. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all(Array.from(this.#sessions, (session) => session.close(DRAIN_MS)));
  }

  #waitAfter({ moving, elsewhere, retryAfterMs, refused }: Ended): number {
    if (moving) return (this.#options.random ?? Math.random)() * MOVE_SPREAD_MS;
    return elsewhere ? this.#delay.elsewhere(performance.now()) : retryAfterMs ?? this.#delay.next(refused);
  }

  /** One session from the connect to its end. */
  async #session(): Promise<Ended> {
    const opened = await this.#open();
    if (!('session' in opened)) return opened;
    const { session, drained, server: { host, port } } = opened;
    const server = formatHostPort({ host, port });
    if (this.#stopped.signal.aborted) {
      await session.close(0);
      return { server, text: 'stopped' };
    }
    void this.#current?.session.leave();
    const current = this.#current = { session, server: { host, port } };
    this.#sessions.add(session);
    const since = performance.now();
    void session.ended.then(() => {
      this.#sessions.delete(session);
      if (this.#current !== current) return;
      this.#current = undefined;
      // Also while its server is being drained: how often others refused until then does not count.
      this.#delay.sessionLasted(performance.now() - since);
    });
    this.#dataAfterMs = (this.#options.random ?? Math.random)() * DATA_SPREAD_MS;
    const who = this.#options.whoIs(session);
    this.#state = { connected: true, since: Date.now(), text: `connected to ${server} as ${who}` };
    logState(this.#options.log, 'info', { event: 'connected', server, as: who }, this.#state.text);
    const end = await Promise.race([session.ended, drained]);
    if (end) return this.#lost({ host, port }, end);
    this.#servers.failed({ host, port });
    return { server, text: `${server} is being drained`, moving: true };
  }

  /** Waits before another server is tried again. @returns how the session ended meanwhile, as it also does when the program is stopped; undefined = it goes on */
  async #lostWithin({ session, server }: { readonly session: S; readonly server: HostPort }, ms: number): Promise<Ended | undefined> {
    const over = new AbortController();
    const end = await Promise.race([session.ended, delay(ms, undefined, { signal: over.signal }).catch(() => undefined)]); // rejects when aborted
    over.abort();
    return end && this.#lost(server, end);
  }

  /** The session has ended that was not left for another one. */
  #lost(place: HostPort, { code, text }: SessionEnd): Ended {
    this.#servers.failed(place);
    const server = formatHostPort(place);
    // Two agents with one vkey would replace each other all the time.
    if (code === 'replaced') this.#delay.slowDown();
    const elsewhere = this.#servers.several && (code === '' || ELSEWHERE.has(code));
    return { server, text: `connection to ${server} lost: ${text}`, elsewhere };
  }

  /** Tries all servers, one after another. */
  async #open(): Promise<{ readonly session: S; readonly server: HostPort; readonly drained: Promise<undefined> } | Ended> {
    const { servers, timeouts } = await this.#servers.inOrder();
    const problems: Ended[] = [];
    const refusals: string[] = [];
    for (const server of servers) {
      if (this.#stopped.signal.aborted) break;
      let onDrain: () => void = () => undefined;
      const drained = new Promise<undefined>((resolve) => {
        onDrain = () => {
          if (this.#servers.several) resolve(undefined);
        };
      });
      try {
        const session = await this.#options.open({
          server,
          timeouts,
          dataAfterMs: this.#dataAfterMs,
          onServers: (others) => this.#servers.tell(others),
          onDrain,
        });
        this.#servers.reached(server);
        return { session, server, drained };
      } catch (error) {
        const refusal = error instanceof HandshakeError ? error.refusal : undefined;
        this.#servers.failed(server);
        problems.push(problemWith(formatHostPort(server), error, refusal));
        if (refusal) refusals.push(refusal.code);
        if (refusal && !ELSEWHERE.has(refusal.code)) break;
      }
    }
    this.#servers.allFailed();
    // The others at the address may accept it.
    const elsewhere = this.#servers.severalHere && refusals.length > 0 && refusals.every((code) => ABSENT.has(code));
    return { ...together(problems), elsewhere };
  }
}

function problemWith(server: string, error: unknown, refusal: Refusal | undefined): Ended {
  if (!refusal) return { server, text: `cannot connect to ${server}: ${messageOf(error)}` };
  const { text, retryAfterMs } = refusal;
  return {
    server,
    text: `refused by ${server}: ${text}`,
    refused: true,
    ...retryAfterMs !== undefined && { retryAfterMs: Math.min(retryAfterMs, LONGEST_ASKED_MS) },
  };
}

function together(problems: readonly Ended[]): Ended {
  const more = problems.length - NAMED_PROBLEMS;
  const waits = problems.flatMap(({ retryAfterMs }) => retryAfterMs ?? []);
  return {
    server: problems.at(-1)?.server ?? '',
    text: [...problems.slice(0, NAMED_PROBLEMS).map(({ text }) => text), ...more > 0 ? [`and so with ${more} others`] : []].join('; '),
    refused: problems.some(({ refused }) => refused),
    ...waits.length > 0 && { retryAfterMs: Math.max(...waits) },
  };
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
