/**
 * Reads a SHA-256 fingerprint as people and other programs write it: hex digits of either case, with or without colons, or with
 * `sha256:` before them. @returns 64 lower-case hex digits; undefined = it is none
 */
export function parseFingerprint(text: string): string | undefined {
  const digits = text.trim().replace(/^sha-?256[:=]/i, '').replaceAll(':', '').toLowerCase();
  return /^[0-9a-f]{64}$/.test(digits) ? digits : undefined;
}
