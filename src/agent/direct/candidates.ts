import { BlockList, isIP } from 'node:net';
import os from 'node:os';
import { MAX_CANDIDATES } from '../../wire/direct-messages.ts';
import type { Endpoint } from '../../wire/stun.ts';

/** Addresses that are never candidates: loopback, multicast, broadcast and unspecified addresses, and those that need a zone id. */
const forbidden4 = new BlockList();
forbidden4.addSubnet('0.0.0.0', 8, 'ipv4');
forbidden4.addSubnet('127.0.0.0', 8, 'ipv4');
forbidden4.addSubnet('169.254.0.0', 16, 'ipv4');
forbidden4.addSubnet('224.0.0.0', 3, 'ipv4');
/** A separate list: in a list with IPv4 rules the rule for mapped addresses would match all of IPv4. */
const forbidden6 = new BlockList();
forbidden6.addSubnet('::', 127, 'ipv6');
forbidden6.addSubnet('::ffff:0:0', 96, 'ipv6');
forbidden6.addSubnet('fe80::', 10, 'ipv6');
forbidden6.addSubnet('ff00::', 8, 'ipv6');

/** The addresses that this side tries: those that the peer named, and those that its probes come from. There is a limit, since a peer could name others than its own. */
export class Candidates implements Iterable<Endpoint> {
  readonly #tried: Endpoint[] = [];
  readonly #family: number;

  /** @param family 4 or 6: what our socket can reach */
  constructor(family: number) {
    this.#family = family;
  }

  /** Adds an address. @returns false if it is known or may not be tried */
  add({ host, port }: Endpoint): boolean {
    const known = this.#tried.some((other) => host === other.host && port === other.port);
    if (known || this.#tried.length >= 2 * MAX_CANDIDATES || !isUsable({ host, port }, this.#family)) return false;
    this.#tried.push({ host, port });
    return true;
  }

  [Symbol.iterator](): Iterator<Endpoint> {
    return this.#tried.values();
  }
}

/** Whether packets may be sent to an address that the peer named. @param family 4 or 6: what our socket can reach */
export function isUsable({ host }: Endpoint, family: number): boolean {
  if (isIP(host) !== family) return false;
  return family === 4 ? !forbidden4.check(host, 'ipv4') : !forbidden6.check(host, 'ipv6');
}

/** The candidate addresses of this side: the public address first, then the machine's own ones with the local port. */
export function ownCandidates(mapped: Endpoint, localPort: number, family: number): Endpoint[] {
  const local = Object.values(os.networkInterfaces()).flatMap((list) => list ?? []).filter(({ internal }) => !internal);
  const all = [mapped, ...local.map(({ address }) => ({ host: address, port: localPort }))].filter((candidate) => isUsable(candidate, family));
  return all.filter(({ host, port }, index) => all.findIndex((other) => other.host === host && other.port === port) === index).slice(0, MAX_CANDIDATES);
}
