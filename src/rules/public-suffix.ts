import { getPublicSuffix } from 'tldts';
import { isWildcard } from './host-name.ts';

/**
 * Whether a host pattern is a wildcard for names of unrelated owners: `*.com`, `*.co.uk`, `*.github.io`, and `*.` before any
 * single label (https://publicsuffix.org, with its private section).
 * @param pattern in the spelling of rules/host-name.ts
 */
export function coversPublicSuffix(pattern: string): boolean {
  if (!isWildcard(pattern)) return false;
  const suffix = pattern.slice(2);
  // The list also contains wildcards (`*.ck`), for which every name below the suffix is itself a public suffix.
  const below = `any.${suffix}`;
  const found = getPublicSuffix(below, { allowPrivateDomains: true, validateHostname: false });
  return found === suffix || found === below;
}
