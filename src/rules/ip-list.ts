/**
 * A list of addresses as callers send it, made plain: lines split, trimmed, blank ones dropped, of equal ones the last kept
 * (contract 2.2).
 */
export function cleanIpList(items: readonly string[]): string[] {
  const lines = items.flatMap((item) => item.split(/[\r\n]+/)).map((line) => line.trim()).filter((line) => line !== '');
  return [...new Set(lines.toReversed())].toReversed();
}

/** The list as it is stored: one address a line. */
export function joinIpList(list: readonly string[]): string {
  return list.join('\n');
}

/** The inverse of {@link joinIpList}. */
export function splitIpList(stored: string): string[] {
  return stored === '' ? [] : stored.split('\n');
}
