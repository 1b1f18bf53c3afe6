/** Ports from `from` to `to`, both included. */
export interface PortRange {
  readonly from: number;
  readonly to: number;
}

/** A text that isn't a list of ports; the message names the invalid part and the reason. */
export class PortRangeError extends Error {
  override readonly name = 'PortRangeError';
}

/**
 * Parses a list of ports and port ranges such as `9001-9009,10001,11000-12000` (contract 4.4). Spaces around a part are
 * ignored; a blank text is the empty list. The result is sorted, and ranges that touch or overlap are merged.
 * @throws {PortRangeError}
 */
export function parsePortRanges(text: string): PortRange[] {
  if (text.trim() === '') return [];
  const ranges = text.split(',').map((part) => parsePart(part.trim())).toSorted((a, b) => a.from - b.from);
  const joined: PortRange[] = [];
  for (const range of ranges) {
    const last = joined.at(-1);
    if (last === undefined || range.from > last.to + 1) joined.push(range);
    else joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, range.to) };
  }
  return joined;
}

function parsePart(part: string): PortRange {
  const match = /^(\d{1,5})(?:\s*-\s*(\d{1,5}))?$/.exec(part);
  if (match === null) throw new PortRangeError(`${JSON.stringify(part)} is neither a port nor a range like 9001-9009`);
  const from = Number(match[1]);
  const to = Number(match[2] ?? match[1]);
  if (from < 1 || from > 65535 || to > 65535) throw new PortRangeError(`${part} goes beyond the ports 1 to 65535`);
  if (to < from) throw new PortRangeError(`${part} ends before it begins`);
  return { from, to };
}

/** The inverse of `parsePortRanges`. */
export function formatPortRanges(ranges: readonly PortRange[]): string {
  return ranges.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join(',');
}

/** Whether a list of allowed ports contains this port. The empty list allows every port. */
export function allowsPort(ranges: readonly PortRange[], port: number): boolean {
  return ranges.length === 0 || ranges.some(({ from, to }) => from <= port && port <= to);
}
