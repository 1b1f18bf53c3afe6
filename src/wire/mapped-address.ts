const PREFIX = '::ffff:';

/** Converts an IPv4-mapped IPv6 address to IPv4; other addresses stay unchanged. */
export function unmapped(address: string): string {
  return address.startsWith(PREFIX) ? address.slice(PREFIX.length) : address;
}

/** An IPv4 address as a socket wants it that speaks IPv6. */
export function mapped(address: string): string {
  return PREFIX + address;
}
