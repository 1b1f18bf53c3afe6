import os from 'node:os';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { HandshakeError } from '../wire/handshake-error.ts';
import { netBackend } from '../wire/net-socket.ts';
import type { SocketBackend } from '../wire/socket.ts';
import { messageOf } from '../wire/system-error.ts';
import { Link, type LinkEnd, type LinkOptions } from './link.ts';
import { ReconnectDelay } from './reconnect.ts';

/** Open connections get this long to end when the agent is stopped, in ms. */
const DRAIN_MS = 5000;
/** Longest wait that a server may ask for, in ms. */
const LONGEST_ASKED_MS = 60_000;

/** How an agent is started. */
export interface AgentOptions {
  /** The bridge. */
  readonly server: { readonly host: string; readonly port: number };
  /** The client's verification key; proven, never sent. */
  readonly vkey: string;
  readonly log: Logger;
  /** The program's version, told to the server. */
  readonly version: string;
  readonly sockets?: SocketBackend;
  /** Yields 0 <= x < 1: the jitter of the reconnect delays. */
  readonly random?: () => number;
}

/** Keeps a session with the server, for ever: reconnects whenever it is lost. Logs one line for each change of state. */
export class Agent {
  readonly #link: LinkOptions;
  readonly #log: Logger;
  readonly #delay: ReconnectDelay;
  readonly #stopped = new AbortController();
  #current: Link | undefined;

  constructor({ server, vkey, log, version, sockets = netBackend, random }: AgentOptions) {
    this.#link = { server, vkey, info: { version, localAddress: localAddresses() }, sockets, log };
    this.#log = log;
    this.#delay = new ReconnectDelay(random);
  }

  /** Resolves some time after `stop`. Never rejects: whatever a server does, the agent tries again. */
  async run(): Promise<void> {
    const { signal } = this.#stopped;
    while (!signal.aborted) {
      const problem = await this.#session();
      if (signal.aborted) break;
      const wait = Math.max(this.#delay.next(), problem.waitMs);
      this.#log.warn(`${problem.text}; trying again in ${(wait / 1000).toFixed(1)} s`);
      await delay(wait, undefined, { signal }).catch(() => undefined); // rejects when stopped
    }
  }

  /** Ends in good order: the server is told, and open connections get a moment to end. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#current?.close(DRAIN_MS);
    this.#log.info('stopped');
  }

  /** One session from the connect to its end. @returns why it ended, and how long to wait at least */
  async #session(): Promise<{ readonly text: string; readonly waitMs: number }> {
    const { host, port } = this.#link.server;
    const server = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    let link: Link;
    try {
      link = await Link.open(this.#link);
    } catch (error) {
      const refusal = error instanceof HandshakeError ? error.refusal : undefined;
      return {
        text: refusal ? `refused by ${server}: ${refusal.text}` : `cannot connect to ${server}: ${messageOf(error)}`,
        waitMs: Math.min(refusal?.retryAfterMs ?? 0, LONGEST_ASKED_MS),
      };
    }
    if (this.#stopped.signal.aborted) {
      await link.close(0);
      return { text: 'stopped', waitMs: 0 };
    }
    this.#current = link;
    this.#log.info(`connected to ${server} as client ${link.clientId}`);
    const since = performance.now();
    const end = await link.ended;
    this.#current = undefined;
    this.#adjustDelay(performance.now() - since, end);
    return { text: `connection to ${server} lost: ${end.text}`, waitMs: 0 };
  }

  #adjustDelay(ms: number, end: LinkEnd): void {
    this.#delay.sessionLasted(ms);
    // Two agents with one vkey would throw each other out all the time.
    if (end.code === 'replaced') this.#delay.slowDown();
  }
}

/** This machine's addresses, the loopback left out; at most what the server takes. */
function localAddresses(): string {
  const all = Object.values(os.networkInterfaces()).flatMap((list) => list ?? []);
  const own = all.filter(({ internal, family }) => !internal && family === 'IPv4').map(({ address }) => address);
  return own.slice(0, 10).join(', ');
}

/**
 * Runs an agent as the program: SIGINT or SIGTERM stops it in good order, a second one at once. Ends the process: a connection
 * that is just being made would keep it for seconds.
 */
export async function runAgent(options: AgentOptions): Promise<void> {
  const agent = new Agent(options);
  let signals = 0;
  const onSignal = (): void => {
    if (++signals > 1) process.exit(130);
    options.log.info('stopping; once more to stop at once');
    void agent.stop().then(() => process.exit(0));
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  await agent.run();
}
