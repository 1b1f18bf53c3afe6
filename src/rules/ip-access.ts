import { setImmediate } from 'node:timers/promises';
import { type IpNumber, ipNumber } from './ip-number.ts';

/** Lines that are parsed at once: about a millisecond of work. */
const PIECE = 1000;

/**
 * A set of IP addresses and networks (CIDR) with fast lookups: a lookup costs one step for each prefix length in the set, however
 * many networks it has. IPv4-mapped addresses and networks count as IPv4.
 */
export class AddressSet {
  readonly #malformed: string[] = [];
  /** By prefix length: the network numbers without the bits after the prefix. An address is a network of one address. */
  readonly #networks = { 32: new Map<number, Set<number | bigint>>(), 128: new Map<number, Set<number | bigint>>() };

  constructor(lines: readonly string[]) {
    for (const line of lines) this.#add(line);
  }

  /** Builds a set of many lines in small parts, so that other work is not delayed. */
  static async gradually(lines: readonly string[]): Promise<AddressSet> {
    if (lines.length === 0) return noAddresses;
    const set = new AddressSet([]);
    for (let at = 0; at < lines.length; at += PIECE) {
      if (at > 0) await setImmediate();
      for (const line of lines.slice(at, at + PIECE)) set.#add(line);
    }
    return set;
  }

  /** The lines that are neither an address nor a network; they match nothing. */
  get malformed(): readonly string[] {
    return this.#malformed;
  }

  #add(line: string): void {
    const { address, prefix } = parse(line) ?? {};
    if (address === undefined || prefix === undefined) {
      this.#malformed.push(line);
      return;
    }
    const networks = this.#networks[address.bits];
    const known = networks.get(prefix) ?? new Set();
    networks.set(prefix, known.add(networkOf(address, prefix)));
  }

  /** @param address in any spelling; a text that is not an address is never in the set */
  has(address: string): boolean {
    if (this.empty) return false;
    const visitor = ipNumber(address);
    if (visitor === undefined) return false;
    for (const [prefix, known] of this.#networks[visitor.bits]) if (known.has(networkOf(visitor, prefix))) return true;
    return false;
  }

  /** Whether the set matches nothing. */
  get empty(): boolean {
    return this.#networks[32].size === 0 && this.#networks[128].size === 0;
  }
}

const noAddresses = new AddressSet([]);

/** The set of a list's lines. Empty lists, the most common case, share one set. */
export function addressSet(lines: readonly string[]): AddressSet {
  return lines.length === 0 ? noAddresses : new AddressSet(lines);
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

function networkOf({ bits, value }: IpNumber, prefix: number): number | bigint {
  if (bits === 128) return value >> BigInt(128 - prefix);
  // A shift by 32 bits would change nothing.
  return prefix === 0 ? 0 : value >>> (32 - prefix);
}
