import { isIP } from 'node:net';

/**
 * Parses one entry of X-Forwarded-For. Some proxies add the visitor's port: `192.0.2.1:5678` or `[2001:db8::1]:5678`.
 * @returns the address alone; other texts unchanged
 */
export function forwardedAddress(entry: string): string {
  const text = entry.trim();
  const address = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1];
  return address !== undefined && isIP(address) !== 0 ? address : text;
}
