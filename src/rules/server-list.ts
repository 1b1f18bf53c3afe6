import { formatHostPort, type HostPort, parseHostPort } from './host-port.ts';

/** Most servers in a list. */
export const MAX_SERVERS = 16;

/** Parses a list of `host:port`, separated by commas. @returns undefined = it has another format, no element, or too many */
export function parseServerList(text: string): readonly HostPort[] | undefined {
  const servers = text.split(',').map((each) => parseHostPort(each.trim()));
  if (servers.length > MAX_SERVERS) return undefined;
  const known = servers.flatMap((server) => server !== undefined && server.port > 0 ? [server] : []);
  return known.length === servers.length ? known : undefined;
}

/** The inverse of {@link parseServerList}, for display. */
export function formatServerList(servers: readonly HostPort[]): string {
  return servers.map(formatHostPort).join(',');
}
