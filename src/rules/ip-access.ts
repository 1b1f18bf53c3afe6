import { setImmediate } from 'node:timers/promises';
import { type IpNumber, ipNumber } from './ip-number.ts';

/** Lines that are parsed at once: about a millisecond of work. */
const PIECE = 1000;
/** Invalid lines that a set remembers, to report them. */
const MALFORMED = 10;

/** What a set is built from. By prefix length: the network numbers without the bits after the prefix. An address is a network of one address. */
class Networks {
  readonly malformed: string[] = [];
  readonly ipv4 = new Map<number, number[]>();
  readonly ipv6 = new Map<number, Set<bigint>>();

  add(line: string): void {
    const { address, prefix } = parse(line) ?? {};
    if (address === undefined || prefix === undefined) {
      if (this.malformed.length < MALFORMED) this.malformed.push(line);
    } else if (address.bits === 32) {
      const known = this.ipv4.get(prefix);
      const network = ipv4Network(address.value, prefix);
      if (known === undefined) this.ipv4.set(prefix, [network]);
      else known.push(network);
    } else {
      const known = this.ipv6.get(prefix) ?? new Set();
      this.ipv6.set(prefix, known.add(ipv6Network(address.value, prefix)));
    }
  }
}

/**
 * A set of IP addresses and networks (CIDR) with fast lookups: a lookup costs one search for each prefix length in the set, however
 * many networks it has. IPv4-mapped addresses and networks count as IPv4. A server has millions of addresses in all lists together, so an
 * IPv4 address takes 4 bytes.
 */
export class AddressSet {
  /** A set that matches nothing. */
  static readonly none = new AddressSet(new Networks());

  readonly #malformed: readonly string[];
  /** The numbers are sorted. */
  readonly #ipv4: ReadonlyArray<readonly [prefix: number, networks: Uint32Array]>;
  readonly #ipv6: ReadonlyMap<number, ReadonlySet<bigint>>;

  private constructor({ malformed, ipv4, ipv6 }: Networks) {
    this.#malformed = malformed;
    this.#ipv4 = Array.from(ipv4, ([prefix, networks]) => [prefix, Uint32Array.from(networks).toSorted()]);
    this.#ipv6 = ipv6;
  }

  /** Builds a set at once. Empty lists, the most common case, share one set. */
  static of(lines: readonly string[]): AddressSet {
    if (lines.length === 0) return AddressSet.none;
    const networks = new Networks();
    for (const line of lines) networks.add(line);
    return new AddressSet(networks);
  }

  /** Builds a set of many lines in small parts, so that other work is not delayed. */
  static async gradually(lines: readonly string[]): Promise<AddressSet> {
    if (lines.length <= PIECE) return AddressSet.of(lines);
    const networks = new Networks();
    for (let at = 0; at < lines.length; at += PIECE) {
      if (at > 0) await setImmediate();
      for (const line of lines.slice(at, at + PIECE)) networks.add(line);
    }
    return new AddressSet(networks);
  }

  /** The first lines that are neither an address nor a network; they match nothing. */
  get malformed(): readonly string[] {
    return this.#malformed;
  }

  /** @param address in any spelling; a text that is not an address is never in the set */
  has(address: string): boolean {
    if (this.empty) return false;
    const visitor = ipNumber(address);
    if (visitor === undefined) return false;
    if (visitor.bits === 32) return this.#ipv4.some(([prefix, networks]) => isIn(networks, ipv4Network(visitor.value, prefix)));
    for (const [prefix, networks] of this.#ipv6) if (networks.has(ipv6Network(visitor.value, prefix))) return true;
    return false;
  }

  /** Whether the set matches nothing. */
  get empty(): boolean {
    return this.#ipv4.length === 0 && this.#ipv6.size === 0;
  }
}

/** The lists that decide whether a visitor is allowed (contract 4.9). */
export interface AccessLists {
  readonly globalBlackList: AddressSet;
  /** Whether only visitors on `whiteList` are admitted (contract D14). */
  readonly ipWhite: boolean;
  readonly whiteList: AddressSet;
  readonly blackList: AddressSet;
}

/** The first list that refuses a visitor (contract 4.9); undefined = the visitor is admitted. */
export function turnedAwayBy(address: string, lists: AccessLists): 'globalBlackList' | 'whiteList' | 'blackList' | undefined {
  if (lists.globalBlackList.has(address)) return 'globalBlackList';
  if (lists.ipWhite && !lists.whiteList.has(address)) return 'whiteList';
  return lists.blackList.has(address) ? 'blackList' : undefined;
}

/** @returns the address and its prefix length (for an address, all bits); undefined = the line is neither an address nor a network */
function parse(line: string): { readonly address: IpNumber; readonly prefix: number } | undefined {
  const slash = line.indexOf('/');
  const text = slash < 0 ? line : line.slice(0, slash);
  const address = ipNumber(text);
  if (address === undefined) return undefined;
  if (slash < 0) return { address, prefix: address.bits };
  const given = line.slice(slash + 1);
  if (!/^\d{1,3}$/.test(given.trim())) return undefined;
  // The prefix of a mapped network includes the 96 bits before the IPv4 address.
  const prefix = Number(given) - (address.bits === 32 && text.includes(':') ? 96 : 0);
  return prefix >= 0 && prefix <= address.bits ? { address, prefix } : undefined;
}

function ipv4Network(value: number, prefix: number): number {
  // A shift by 32 bits would change nothing.
  return prefix === 0 ? 0 : value >>> (32 - prefix);
}

function ipv6Network(value: bigint, prefix: number): bigint {
  return value >> BigInt(128 - prefix);
}

/** Whether a number is in a sorted list. */
function isIn(sorted: Uint32Array, value: number): boolean {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const found = sorted[middle] ?? 0;
    if (found === value) return true;
    if (found < value) low = middle + 1;
    else high = middle;
  }
  return false;
}
