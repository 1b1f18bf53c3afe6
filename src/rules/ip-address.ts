import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** The canonical spelling of an IP address, IPv4-mapped ones as IPv4; undefined = not an address. */
export function canonicalAddress(text: string): string | undefined {
  const trimmed = text.trim();
  if (isIPv4(trimmed)) return trimmed;
  // Node accepts zones (`::1%a:b`) that don't exist.
  if (!isIPv6(trimmed) || !ipaddr.IPv6.isValid(trimmed)) return undefined;
  const address = ipaddr.IPv6.parse(trimmed);
  return address.isIPv4MappedAddress() ? address.toIPv4Address().toString() : address.toString();
}

/** The addresses that count as one caller: an IPv4 address, or the first `bits` bits (a multiple of 8) of an IPv6 address. Other texts stay unchanged. */
export function networkOf(address: string, bits: number): string {
  if (!address.includes(':') || !ipaddr.IPv6.isValid(address)) return address;
  const parsed = ipaddr.IPv6.parse(address);
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  const network = parsed.toByteArray().map((byte, index) => index < bits / 8 ? byte : 0);
  return `${ipaddr.fromByteArray(network).toString()}/${bits}`;
}
