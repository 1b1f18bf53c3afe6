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
