/** An address to listen on or to connect to. */
export interface HostPort {
  /** A name or address, IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

/**
 * Parses `host:port`, `[IPv6]:port`, or a port alone.
 * @param fallback the host for a port alone; undefined = the host is required
 * @returns undefined = the text has another format
 */
export function parseHostPort(text: string, fallback?: string): HostPort | undefined {
  const match = /^(?:(?:\[([\da-f:.]+)\]|([^\s:[\]/]+)):)?(\d{1,5})$/i.exec(text);
  const host = match?.[1] ?? match?.[2] ?? fallback;
  const port = Number(match?.[3]);
  return match === null || host === undefined || port > 65535 ? undefined : { host, port };
}

/** A host as it is written before a port: IPv6 in brackets. */
export function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** The inverse of {@link parseHostPort}, for display. */
export function formatHostPort({ host, port }: HostPort): string {
  return `${bracketed(host)}:${port}`;
}
