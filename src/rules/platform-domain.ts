import { hash } from 'node:crypto';

const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const nameLength = 253;

/** What is wrong with the pattern of a platform domain: it is not `*.` and a name, or the name is not valid in DNS. */
export type WildcardFault = 'pattern' | 'name';

/** The canonical pattern of a platform domain: lower case, no trailing dot (contract 4.7). */
export function platformWildcard(text: string): { readonly wildcard: string } | { readonly fault: WildcardFault } {
  const wildcard = text.trim().toLowerCase().replace(/\.$/, '');
  if (!wildcard.startsWith('*.') || wildcard.includes('*', 1)) return { fault: 'pattern' };
  const labels = wildcard.slice(2).split('.');
  if (labels.length < 2) return { fault: 'pattern' };
  const isName = labels.every((part) => label.test(part)) && !/^\d+$/.test(labels.at(-1) ?? '') && wildcard.length <= nameLength;
  return isName ? { wildcard } : { fault: 'name' };
}

/** The canonical spelling of a prefix: one DNS label, lower case. @returns undefined = not a label */
export function platformPrefix(text: string): string | undefined {
  const prefix = text.trim().toLowerCase();
  return label.test(prefix) ? prefix : undefined;
}

/** The host that a prefix forms below a platform domain. @returns undefined = longer than DNS allows */
export function platformHost(wildcard: string, prefix: string): string | undefined {
  const host = `${prefix}${wildcard.slice(1)}`;
  return host.length <= nameLength ? host : undefined;
}

/** The id of a new platform domain: always the same for a pattern, unless that id is in use (contract 4.7). */
export function platformDomainId(wildcard: string, taken: ReadonlySet<string>): string {
  const digest = hash('sha256', wildcard, 'hex');
  for (let length = 16; length < digest.length; length += 8) {
    const id = `platform-${digest.slice(0, length)}`;
    if (!taken.has(id)) return id;
  }
  return `platform-${digest}`;
}
