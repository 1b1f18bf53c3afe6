const PREFIX = '::ffff:';

/** Converts an IPv4-mapped IPv6 address to IPv4; other addresses stay unchanged. */
export function unmapped(address: string): string {
  return address.startsWith(PREFIX) ? address.slice(PREFIX.length) : address;
}

/** An IPv4 address in the form that an IPv6 socket needs. */
export function mapped(address: string): string {
  return PREFIX + address;
}
