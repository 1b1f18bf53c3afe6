const PREFIX = '::ffff:';

/** An IPv4 address that came in the clothes of IPv6, as IPv4; any other as it is. */
export function unmapped(address: string): string {
  return address.startsWith(PREFIX) ? address.slice(PREFIX.length) : address;
}

/** An IPv4 address as a socket wants it that speaks IPv6. */
export function mapped(address: string): string {
  return PREFIX + address;
}
