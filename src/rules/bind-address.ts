import { canonicalAddress } from './ip-address.ts';

/**
 * An address to bind in its one canonical spelling; '' = all addresses.
 * @returns undefined when the text is neither blank nor an IP address.
 */
export function canonicalBindAddress(text: string): string | undefined {
  return text.trim() === '' ? '' : canonicalAddress(text);
}
