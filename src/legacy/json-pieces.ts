import { StoredIpList } from '../rules/ip-list.ts';

/**
 * Writes a record as JSON: in one piece, or in several if it has long lists of addresses, which take tens of milliseconds. A caller can let other work
 * run between two pieces.
 */
export function* jsonPieces(record: object): Generator<string, void, undefined> {
  if (!hasLongList(record)) return yield JSON.stringify(record);
  if (record instanceof StoredIpList) return yield* piecesOf(record);
  let before = '{';
  for (const [name, value] of Object.entries(record) as [string, unknown][]) {
    if (value === undefined) continue;
    yield `${before}${JSON.stringify(name)}:`;
    if (typeof value === 'object' && value !== null) yield* jsonPieces(value);
    else yield JSON.stringify(value);
    before = ',';
  }
  yield '}';
}

/** Called for every row of every list. `for in` creates no array of the values. */
function hasLongList(record: object): boolean {
  if (record instanceof StoredIpList) return record.long;
  if (Array.isArray(record)) return false;
  for (const name in record) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it is only read
    const value = (record as Readonly<Record<string, unknown>>)[name];
    if (typeof value === 'object' && value !== null && hasLongList(value)) return true;
  }
  return false;
}

function* piecesOf(list: StoredIpList): Generator<string, void, undefined> {
  let before = '[';
  for (const part of list.parts()) {
    yield before + JSON.stringify(part).slice(1, -1);
    before = ',';
  }
  yield ']';
}
