import dns from 'node:dns/promises';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { formatHostPort, type HostPort } from '../rules/host-port.ts';
import type { OtherServer, OtherServers } from '../wire/other-servers.ts';
import { type DialTimeouts, DIAL_TIMEOUTS, SHORT_TIMEOUTS } from './dial-bridge.ts';

/** A name that is not resolved within this time, in ms, is left to the attempt to connect: the other servers must not wait for it. */
const LOOKUP_MS = 2000;
/** Most addresses of a name that are used. */
const MOST_ADDRESSES = 16;

/**
 * The servers of an installation, as an agent or visitor knows them: those that it was started with, and those that a server has reported. Whichever it reaches has to prove
 * that it knows the key, so an address that somebody else has put in is useless to them.
 */
export class KnownServers {
  readonly #given: readonly HostPort[];
  readonly #overTls: boolean;
  readonly #random: () => number;
  #others: readonly HostPort[] = [];
  #here = false;
  /** Those that could not be reached when they were last tried: others come first. */
  readonly #failed = new Set<string>();
  /** Attempts in a row of which each has failed at all servers. */
  #rounds = 0;

  /** @param overTls sessions begin on the TLS port @param random yields 0 <= x < 1 */
  constructor(given: readonly HostPort[], overTls: boolean, random: () => number = Math.random) {
    this.#given = given;
    this.#overTls = overTls;
    this.#random = random;
  }

  /** A server has reported all others of its installation. */
  tell({ servers, here }: OtherServers): void {
    this.#others = servers.map((server) => placeOf(server, this.#overTls));
    this.#here = here;
  }

  /** There are several at the address of the last one. */
  get severalHere(): boolean {
    return this.#here;
  }

  /** There is another server than the last one. */
  get several(): boolean {
    return this.#here || this.#given.length + this.#others.length > 1;
  }

  /**
   * The servers in the order in which they are tried: those that were given in their order, each with all addresses of its name; then the others in random order, so
   * that the agents of a server that has died spread over the rest; last those that failed before.
   */
  async inOrder(): Promise<{ readonly servers: readonly HostPort[]; readonly timeouts: DialTimeouts }> {
    const others = this.#others.map((server) => ({ server, at: this.#random() })).toSorted((one, other) => one.at - other.at).map(({ server }) => server);
    const all = new Map((await Promise.all([...this.#given, ...others].map(addressesOf))).flat().map((server) => [formatHostPort(server), server]));
    for (const key of this.#failed) if (!all.has(key)) this.#failed.delete(key);
    const ordered = [...all].toSorted(([one], [other]) => Number(this.#failed.has(one)) - Number(this.#failed.has(other)));
    return { servers: ordered.map(([, server]) => server), timeouts: all.size > 1 && this.#rounds === 0 ? SHORT_TIMEOUTS : DIAL_TIMEOUTS };
  }

  /** It could not be reached, or its session was lost. */
  failed(server: HostPort): void {
    this.#failed.add(formatHostPort(server));
  }

  /** None of them could be reached. */
  allFailed(): void {
    this.#rounds++;
    this.#failed.clear();
  }

  /** A session with it has begun. */
  reached(server: HostPort): void {
    this.#failed.delete(formatHostPort(server));
    this.#rounds = 0;
  }
}

/** Where sessions with a server begin. @param overTls on its TLS port */
export function placeOf({ host, port, tlsPort }: OtherServer, overTls: boolean): HostPort {
  return { host, port: overTls ? tlsPort : port };
}

/** The addresses of a name with several; otherwise the server itself. */
async function addressesOf(server: HostPort): Promise<readonly HostPort[]> {
  if (net.isIP(server.host) !== 0) return [server];
  const ended = new AbortController();
  // If the name can't be resolved, the attempt to connect says why.
  const found = await Promise.race([
    dns.lookup(server.host, { all: true }).catch(() => []),
    delay(LOOKUP_MS, [], { signal: ended.signal, ref: false }).catch(() => []),
  ]);
  ended.abort();
  return found.length > 1 ? found.slice(0, MOST_ADDRESSES).map(({ address }) => ({ host: address, port: server.port })) : [server];
}
