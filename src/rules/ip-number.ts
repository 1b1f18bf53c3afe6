import { isIPv4, isIPv6 } from 'node:net';

/** An IP address as a number; an IPv4-mapped one is IPv4. */
export type IpNumber = { readonly bits: 32; readonly value: number } | { readonly bits: 128; readonly value: bigint };

/** The number of an address; undefined = not an address. A zone (fe80::1%eth0) is dropped, since it does not identify the peer. */
export function ipNumber(text: string): IpNumber | undefined {
  const address = text.trim();
  if (isIPv4(address)) return { bits: 32, value: ipv4Number(address) };
  const zone = address.indexOf('%');
  const bare = zone < 0 ? address : address.slice(0, zone);
  if (!isIPv6(bare)) return undefined;
  const value = ipv6Number(bare);
  return value >> 32n === 0xffffn ? { bits: 32, value: Number(value & 0xffff_ffffn) } : { bits: 128, value };
}

/** @param address a valid one */
function ipv4Number(address: string): number {
  let value = 0;
  for (const part of address.split('.')) value = value * 256 + Number(part);
  return value;
}

/** @param address a valid one, without a zone */
function ipv6Number(address: string): bigint {
  const [head = '', tail] = address.split('::');
  const before = groupsOf(head);
  const after = groupsOf(tail ?? '');
  return BigInt(`0x${before}${'0'.repeat(32 - before.length - after.length)}${after}`);
}

/** The groups between colons as hex digits: four for each group, eight for an IPv4 address. */
function groupsOf(text: string): string {
  if (text === '') return '';
  let digits = '';
  for (const group of text.split(':')) digits += group.includes('.') ? ipv4Number(group).toString(16).padStart(8, '0') : group.padStart(4, '0');
  return digits;
}
