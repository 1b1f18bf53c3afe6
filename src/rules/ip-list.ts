/**
 * Cleans up a list of addresses from a caller: splits lines, trims, and drops blank lines and duplicates (the last one is kept)
 * (contract 2.2).
 */
export function cleanIpList(items: readonly string[]): string[] {
  const lines = items.flatMap((item) => item.split(/[\r\n]+/)).map((line) => line.trim()).filter((line) => line !== '');
  return [...new Set(lines.toReversed())].toReversed();
}

/** The list in its stored form, one address per line. */
export function joinIpList(list: readonly string[]): string {
  return list.join('\n');
}

/** The inverse of {@link joinIpList}. */
export function splitIpList(stored: string): string[] {
  return stored === '' ? [] : stored.split('\n');
}
