import { isIP, isIPv6 } from 'node:net';
import { formatHostPort } from './host-port.ts';

/** An address that an agent dials. */
export interface Target {
  /** A name, an IPv4 address, or an IPv6 address without brackets. */
  readonly host: string;
  /** 1 to 65535 */
  readonly port: number;
}

/** Most characters of a host, as in DNS: what servers and agents tell each other about a target has limits. */
const MOST_HOST = 253;
const hostName = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/i;

/**
 * Parses one target: `name:port`, `1.2.3.4:port`, `[::1]:port`, or a port alone, which means 127.0.0.1:port (contract 4.5).
 * @returns undefined if the text has another format
 */
export function parseTarget(text: string): Target | undefined {
  const match = /^(?:(?:\[([^\]]*)\]|([^:[\]]*)):)?(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const [, bracketed, plain, digits] = match;
  const port = Number(digits);
  if (port < 1 || port > 65535) return undefined;
  // Node accepts zones of any length.
  if (bracketed !== undefined) return bracketed.length <= MOST_HOST && isIPv6(bracketed) ? { host: bracketed, port } : undefined;
  if (plain === undefined) return { host: '127.0.0.1', port };
  return isHost(plain) ? { host: plain, port } : undefined;
}

/** Some resolvers treat a name whose last label is a number as an IPv4 address, so only real addresses may have this form. */
function isHost(text: string): boolean {
  if (isIP(text) !== 0) return true;
  return hostName.test(text) && !/(^|\.)\d+$/.test(text);
}

/** Splits the text of targets into lines, trims them, and drops blank ones (contract 4.5: LF or CRLF). */
export function targetLines(lines: readonly string[]): string[] {
  return lines.flatMap((text) => text.split(/[\r\n]+/)).map((line) => line.trim()).filter((line) => line !== '');
}

/** The first line that is not a target; undefined = all are. */
export function malformedTarget(lines: readonly string[]): string | undefined {
  return lines.find((line) => parseTarget(line) === undefined);
}

/** The targets for the engine: every well-formed line of the stored text as host:port. */
export function dialTargets(stored: string): string[] {
  // Most have one: a start with many rows would spend a tenth of its time on lists of one line.
  const only = parseTarget(stored);
  if (only !== undefined) return [formatHostPort(only)];
  return targetLines([stored]).map(parseTarget).filter((target) => target !== undefined).map(formatHostPort);
}
