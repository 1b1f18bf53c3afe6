import { isIPv4, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import ipaddr from 'ipaddr.js';
import { remember } from './remember.ts';

/** Maximum length of a DNS name. */
const nameLength = 253;
const label = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * The canonical spelling of a rule's host: lower case, ASCII, without a trailing dot, IPv6 without brackets (contract 4.7).
 * It is a name, an address, or a wildcard (`*.` and a name).
 * @returns undefined if the text is none of these
 */
export function hostPattern(text: string): string | undefined {
  const trimmed = text.trim();
  if (!trimmed.startsWith('*.')) return hostName(trimmed);
  const name = dnsName(trimmed.slice(2));
  return name === undefined || name.length + 2 > nameLength ? undefined : `*.${name}`;
}

/** Whether a pattern matches all names below its suffix. */
export function isWildcard(pattern: string): boolean {
  return pattern.startsWith('*.');
}

/**
 * The host that a visitor requests: a Host header without its port, in the spelling of {@link hostPattern}.
 * @returns undefined if the text is not a host; then no rule matches
 */
export function requestedHost(header: string): string | undefined {
  return known(header).host;
}

const known = remember((header) => ({ host: readHost(header) }));

function readHost(header: string): string | undefined {
  const trimmed = header.trim();
  const bracketed = /^(\[[^\]]*\])(?::\d*)?$/.exec(trimmed);
  if (bracketed !== null) return hostName(bracketed[1] ?? '');
  // An IPv6 address without brackets has no port.
  return hostName(isIPv6(trimmed) ? trimmed : trimmed.replace(/:\d*$/, ''));
}

/** The host of a URL, or of an address without a scheme, in the spelling of {@link hostPattern}; "" = it contains none. */
export function hostOfUrl(text: string): string {
  const [, authority = ''] = /^(?:[a-z][a-z0-9+.-]*:\/\/)?(?:[^/?#]*@)?([^/?#]*)/i.exec(text.trim()) ?? [];
  return requestedHost(authority) ?? '';
}

function hostName(text: string): string | undefined {
  if (isIPv4(text)) return text;
  const bare = text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
  if (isIPv6(bare)) return bare.includes('%') ? undefined : ipaddr.IPv6.parse(bare).toString();
  return dnsName(text);
}

/** Labels as a browser would send them: international names in ASCII form. Only addresses may end in a label of digits. */
function dnsName(text: string): string | undefined {
  if (text.length > 4 * nameLength) return undefined;
  const plain = text.endsWith('.') ? text.slice(0, -1) : text;
  const name = /^[\0-\x7f]*$/.test(plain) ? plain.toLowerCase() : domainToASCII(plain);
  if (name === '' || name.length > nameLength) return undefined;
  const labels = name.split('.');
  return labels.every((part) => label.test(part)) && !/^\d+$/.test(labels.at(-1) ?? '') ? name : undefined;
}
