/**
 * Parses a SHA-256 fingerprint: hex digits in either case, with or without colons, optionally after `sha256:`.
 * @returns 64 lower-case hex digits; undefined = not a fingerprint
 */
export function parseFingerprint(text: string): string | undefined {
  const digits = text.trim().replace(/^sha-?256[:=]/i, '').replaceAll(':', '').toLowerCase();
  return /^[0-9a-f]{64}$/.test(digits) ? digits : undefined;
}
