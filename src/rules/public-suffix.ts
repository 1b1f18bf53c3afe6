import { getPublicSuffix } from 'tldts';
import { isWildcard } from './host-name.ts';

/**
 * Whether a host pattern is a wildcard for names that belong to different people: `*.com`, `*.co.uk`, `*.github.io`, and `*.` before any
 * single label (https://publicsuffix.org, with its private section).
 * @param pattern as rules/host-name.ts spells it
 */
export function coversPublicSuffix(pattern: string): boolean {
  if (!isWildcard(pattern)) return false;
  const suffix = pattern.slice(2);
  // The list also has wildcards (`*.ck`): then each name below the suffix is a public suffix itself.
  const below = `any.${suffix}`;
  const found = getPublicSuffix(below, { allowPrivateDomains: true, validateHostname: false });
  return found === suffix || found === below;
}
