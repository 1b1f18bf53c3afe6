import { isIP } from 'node:net';

/**
 * One entry of an X-Forwarded-For. Some proxies add the port that the visitor came from, `192.0.2.1:5678` or `[2001:db8::1]:5678`.
 * @returns the address alone; what is none stays as it came
 */
export function forwardedAddress(entry: string): string {
  const text = entry.trim();
  const address = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1];
  return address !== undefined && isIP(address) !== 0 ? address : text;
}
