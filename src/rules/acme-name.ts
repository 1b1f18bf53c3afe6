import { isIP } from 'node:net';
import { isWildcard } from './host-name.ts';

const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** Longest name for which a file name with a suffix still fits. */
const nameLength = 240;

/**
 * Why a host can't get a certificate by ACME with http-01 (RFC 8555, 8.3); "" = it can.
 * @param host in the canonical spelling of rules/host-name.ts
 */
export function acmeFault(host: string): string {
  if (isWildcard(host)) return 'not for a wildcard';
  if (isIP(host) !== 0) return 'not for an address';
  const labels = host.split('.');
  if (labels.length < 2) return 'only for a name with a dot';
  if (host.length > nameLength) return `only for a name of at most ${nameLength} characters`;
  return labels.every((part) => label.test(part)) ? '' : 'only for a name of letters, digits and hyphens';
}
