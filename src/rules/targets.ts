import { isIP, isIPv6 } from 'node:net';

/** Where an agent dials. */
export interface Target {
  /** A name, an IPv4 address, or an IPv6 address without brackets. */
  readonly host: string;
  /** 1 to 65535 */
  readonly port: number;
}

const hostName = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/i;

/**
 * Reads one target: `name:port`, `1.2.3.4:port`, `[::1]:port`, or a bare `port`, which means 127.0.0.1:port (contract 4.5).
 * @returns undefined when the text is none of these.
 */
export function parseTarget(text: string): Target | undefined {
  const match = /^(?:(?:\[([^\]]*)\]|([^:[\]]*)):)?(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const [, bracketed, plain, digits] = match;
  const port = Number(digits);
  if (port < 1 || port > 65535) return undefined;
  if (bracketed !== undefined) return isIPv6(bracketed) ? { host: bracketed, port } : undefined;
  if (plain === undefined) return { host: '127.0.0.1', port };
  return isHost(plain) ? { host: plain, port } : undefined;
}

/** A name whose last label is a number would be taken for an IPv4 address by some resolvers, so only a real address may look so. */
function isHost(text: string): boolean {
  if (isIP(text) !== 0) return true;
  return hostName.test(text) && !/(^|\.)\d+$/.test(text);
}

/** The text an agent is given: brackets around IPv6. The inverse of {@link parseTarget}. */
export function formatTarget(target: Target): string {
  return isIPv6(target.host) ? `[${target.host}]:${target.port}` : `${target.host}:${target.port}`;
}

/** Splits target text into its lines, trimmed, blank ones dropped (contract 4.5: LF or CRLF). */
export function targetLines(lines: readonly string[]): string[] {
  return lines.flatMap((text) => text.split(/[\r\n]+/)).map((line) => line.trim()).filter((line) => line !== '');
}

/** The first line that is no target; undefined = all are. */
export function malformedTarget(lines: readonly string[]): string | undefined {
  return lines.find((line) => parseTarget(line) === undefined);
}

/** What the engine gets: every well-formed line of the stored text as host:port. */
export function dialTargets(stored: string): string[] {
  return targetLines([stored]).map(parseTarget).filter((target) => target !== undefined).map(formatTarget);
}
