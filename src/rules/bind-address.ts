import { isIPv4, isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * An address to bind in its one canonical spelling; '' = all addresses.
 * @returns undefined when the text is neither blank nor an IP address.
 */
export function canonicalBindAddress(text: string): string | undefined {
  const trimmed = text.trim();
  if (trimmed === '' || isIPv4(trimmed)) return trimmed;
  // Node takes more zones (`::1%a:b`) for addresses than there are.
  if (!isIPv6(trimmed) || !ipaddr.IPv6.isValid(trimmed)) return undefined;
  const address = ipaddr.IPv6.parse(trimmed);
  return address.isIPv4MappedAddress() ? address.toIPv4Address().toString() : address.toString();
}
