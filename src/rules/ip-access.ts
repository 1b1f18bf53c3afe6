import { BlockList, isIPv4 } from 'node:net';
import { canonicalAddress } from './ip-address.ts';

/** IP addresses and networks (CIDR), made ready once to be asked often. IPv4-mapped addresses and networks are IPv4. */
export class AddressSet {
  /** The lines that are neither an address nor a network: they hold nobody. */
  readonly malformed: readonly string[];
  readonly #addresses = new Set<string>();
  /** By family: Node holds an IPv4 address against IPv6 networks too. */
  readonly #networks: { ipv4?: BlockList; ipv6?: BlockList } = {};

  constructor(lines: readonly string[]) {
    this.malformed = lines.filter((line) => !this.#add(line));
  }

  #add(line: string): boolean {
    const [address, prefix] = parse(line) ?? [];
    if (address === undefined) return false;
    const family = familyOf(address);
    if (prefix === undefined) this.#addresses.add(address);
    else (this.#networks[family] ??= new BlockList()).addSubnet(address, prefix, family);
    return true;
  }

  /** @param address in any spelling; what is no address is never held */
  has(address: string): boolean {
    if (this.empty) return false;
    const visitor = canonicalAddress(withoutZone(address));
    if (visitor === undefined) return false;
    const family = familyOf(visitor);
    return this.#addresses.has(visitor) || this.#networks[family]?.check(visitor, family) === true;
  }

  /** It holds nobody. */
  get empty(): boolean {
    return this.#addresses.size === 0 && !this.#networks.ipv4 && !this.#networks.ipv6;
  }
}

const noAddresses = new AddressSet([]);

/** The set of a list's lines; those of empty lists, which most are, cost nothing. */
export function addressSet(lines: readonly string[]): AddressSet {
  return lines.length === 0 ? noAddresses : new AddressSet(lines);
}

/** The lists that decide whether a visitor is let in (contract 4.9). */
export interface AccessLists {
  readonly globalBlackList: AddressSet;
  /** Whether only visitors of `whiteList` are let in (contract D14). */
  readonly ipWhite: boolean;
  readonly whiteList: AddressSet;
  readonly blackList: AddressSet;
}

/** The list that turns a visitor away, the first that does (contract 4.9); undefined = he is let in. */
export function turnedAwayBy(address: string, lists: AccessLists): 'globalBlackList' | 'whiteList' | 'blackList' | undefined {
  if (lists.globalBlackList.has(address)) return 'globalBlackList';
  if (lists.ipWhite && !lists.whiteList.has(address)) return 'whiteList';
  return lists.blackList.has(address) ? 'blackList' : undefined;
}

/** @returns address and, of a network, its prefix; undefined = it is neither */
function parse(line: string): readonly [string, number?] | undefined {
  const [text = '', prefix, more] = line.split('/');
  const address = canonicalAddress(withoutZone(text));
  if (address === undefined || more !== undefined) return undefined;
  if (prefix === undefined) return [address];
  if (!/^\d{1,3}$/.test(prefix.trim())) return undefined;
  // A mapped network counts the 96 bits before the IPv4 address too.
  const bits = Number(prefix) - (isIPv4(address) && !isIPv4(text.trim()) ? 96 : 0);
  return bits >= 0 && bits <= (isIPv4(address) ? 32 : 128) ? [address, bits] : undefined;
}

/** The interface of a link-local address (fe80::1%eth0) says nothing about who it is. */
function withoutZone(address: string): string {
  return address.replace(/%.*$/, '');
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIPv4(address) ? 'ipv4' : 'ipv6';
}
