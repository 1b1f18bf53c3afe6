import { canonicalAddress } from './ip-address.ts';

/**
 * The canonical spelling of an address to bind; '' = all addresses.
 * @returns undefined if the text is neither blank nor an IP address
 */
export function canonicalBindAddress(text: string): string | undefined {
  return text.trim() === '' ? '' : canonicalAddress(text);
}
