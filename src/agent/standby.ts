import type { Logger } from 'pino';
import { formatHostPort, type HostPort } from '../rules/host-port.ts';
import { HandshakeError } from '../wire/handshake-error.ts';
import type { OtherServers } from '../wire/other-servers.ts';
import { sessionWelcome } from '../wire/session-messages.ts';
import { doubtSchema } from '../wire/standby-messages.ts';
import { messageOf } from '../wire/system-error.ts';
import { type BridgeDialler, SHORT_TIMEOUTS } from './dial-bridge.ts';
import { placeOf } from './known-servers.ts';
import type { Link } from './link.ts';
import { ReconnectDelay } from './reconnect.ts';
import { agreeOnSession, ServerSession } from './server-session.ts';

/** The agents of a server spread their sessions in reserve over this much time, in ms. */
const SPREAD_MS = 1000;
/** How soon it tries again when the agent's own server answered instead of another one at the same address, in ms, and how often in a row. */
const MISSED_MS = 100;
const MOST_MISSES = 30;
/** How long a server that is in doubt may take to answer, in ms. */
const ANSWER_MS = 500;

/** What a session in reserve needs. */
export interface StandbyOptions extends Pick<BridgeDialler, 'sockets' | 'tls'> {
  readonly vkey: string;
  readonly log: Logger;
  /** The session with the agent's own server; undefined = there is none. */
  readonly current: () => Pick<Link, 'answers' | 'answersPings' | 'giveUp' | 'ended'> | undefined;
  /** Yields 0 <= x < 1. */
  readonly random?: (() => number) | undefined;
}

/**
 * The agent's session in reserve, with another server than its own. When that server says that the agent's own one seems not to answer, the agent asks both. If only the one in
 * reserve answers, the agent gives the other session up, and connects to another server as if it had been lost.
 */
export class Standby {
  readonly #options: StandbyOptions;
  readonly #random: () => number;
  readonly #delay: ReconnectDelay;
  /** The servers other than the agent's own, which may be at the same address. */
  #places: ReadonlyMap<string, HostPort> = new Map();
  #session: ServerSession | undefined;
  /** The server of the session, or the one that was tried last. */
  #place = '';
  /** A session is being opened, or will be. */
  #dialing = false;
  #timer: NodeJS.Timeout | undefined;
  #asking = false;
  /** How often in a row the agent's own server answered instead of another one at the same address. */
  #misses = 0;
  #stopped = false;

  constructor(options: StandbyOptions) {
    this.#options = options;
    this.#random = options.random ?? Math.random;
    this.#delay = new ReconnectDelay(options.random);
  }

  /** Its server; undefined = there is none at the moment. */
  get place(): string | undefined {
    return this.#session && this.#place;
  }

  /** The agent's own server has reported all others. @param own the address of that one */
  use({ servers, here }: OtherServers, own: HostPort): void {
    const overTls = this.#options.tls !== undefined;
    const places = [...servers.map((server) => placeOf(server, overTls)), ...here ? [own] : []];
    this.#places = new Map(places.map((place) => [formatHostPort(place), place]));
    if (!this.#places.has(this.#place)) this.#session?.giveUp('another server is the one in reserve');
    this.#dialAfter(this.#random() * SPREAD_MS);
  }

  /** Ends it. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#session?.giveUp('the agent was stopped');
  }

  #dialAfter(ms: number): void {
    if (this.#stopped || this.#session || this.#dialing || this.#places.size === 0) return;
    this.#dialing = true;
    this.#timer = setTimeout(() => void this.#keep(), ms);
  }

  /** One session from the connect to its end. */
  async #keep(): Promise<void> {
    let wait = 0;
    try {
      const session = await this.#open();
      this.#dialing = false;
      this.#misses = 0;
      if (session) wait = await this.#use(session);
    } catch (error) {
      this.#dialing = false;
      const refused = error instanceof HandshakeError && error.refusal !== undefined;
      // The system gives the connection to one of the servers at the address.
      const missed = refused && error.refusal?.code === 'same-server' && this.#misses++ < MOST_MISSES;
      wait = missed ? this.#random() * MISSED_MS : this.#delay.next(refused);
      this.#options.log.debug(`no session in reserve with ${this.#place}: ${messageOf(error)}`);
    }
    this.#dialAfter(wait);
  }

  /** Another one than the last, if there is one. */
  async #open(): Promise<ServerSession | undefined> {
    const places = [...this.#places.keys()];
    const others = places.filter((place) => place !== this.#place);
    const from = others.length > 0 ? others : places;
    const name = from[Math.floor(this.#random() * from.length)];
    const server = name === undefined ? undefined : this.#places.get(name);
    if (name === undefined || !server) return undefined;
    this.#place = name;
    const { sockets, tls, vkey, log } = this.#options;
    const agreed = await agreeOnSession({ sockets, tls, server, timeouts: SHORT_TIMEOUTS, role: 'standby', key: vkey, info: {}, welcome: sessionWelcome, log });
    const session = new ServerSession(agreed, {
      onOpen: (stream) => stream.reset(),
      onControl: (message) => {
        if (doubtSchema.safeParse(message).success) void this.#ask(session);
      },
      onServers: () => undefined,
    });
    return session;
  }

  /** @returns how long to wait before the next one */
  async #use(session: ServerSession): Promise<number> {
    const { log } = this.#options;
    if (this.#stopped || !this.#places.has(this.#place)) session.giveUp('another server is the one in reserve');
    else this.#session = session;
    log.debug(`session in reserve with ${this.#place}`);
    const since = performance.now();
    const { code, text } = await session.ended;
    log.debug(`session in reserve with ${this.#place} ended: ${text}`);
    this.#session = undefined;
    this.#delay.sessionLasted(performance.now() - since);
    // Two agents with one vkey would replace each other all the time.
    if (code === 'replaced') this.#delay.slowDown();
    return this.#delay.next();
  }

  /** The agent's own server is in doubt: asks it, and this one, to know that it is not the agent that is cut off. */
  async #ask(session: ServerSession): Promise<void> {
    const own = this.#options.current();
    if (this.#asking || !own?.answersPings) return;
    this.#asking = true;
    for (let none = true; none;) {
      const [ownAnswers, answers] = await Promise.all([own.answers(ANSWER_MS), session.answers(ANSWER_MS)]);
      none = !ownAnswers && !answers;
      if (!ownAnswers && answers) own.giveUp(`it did not answer within ${ANSWER_MS} ms`);
    }
    this.#asking = false;
  }
}
