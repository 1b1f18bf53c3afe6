import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** An IP address in its one canonical spelling, IPv4-mapped as IPv4; undefined = the text is none. */
export function canonicalAddress(text: string): string | undefined {
  const trimmed = text.trim();
  if (isIPv4(trimmed)) return trimmed;
  // Node takes more zones (`::1%a:b`) for addresses than there are.
  if (!isIPv6(trimmed) || !ipaddr.IPv6.isValid(trimmed)) return undefined;
  const address = ipaddr.IPv6.parse(trimmed);
  return address.isIPv4MappedAddress() ? address.toIPv4Address().toString() : address.toString();
}

/** What counts as one caller: an IPv4 address, the first `bits` bits (a multiple of 8) of an IPv6 address. A text that is no address is itself. */
export function networkOf(address: string, bits: number): string {
  if (!address.includes(':') || !ipaddr.IPv6.isValid(address)) return address;
  const parsed = ipaddr.IPv6.parse(address);
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  const network = parsed.toByteArray().map((byte, index) => index < bits / 8 ? byte : 0);
  return `${ipaddr.fromByteArray(network).toString()}/${bits}`;
}
