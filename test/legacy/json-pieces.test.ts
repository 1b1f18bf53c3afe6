import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { jsonPieces } from '../../src/legacy/json-pieces.ts';
import { StoredIpList } from '../../src/rules/ip-list.ts';

const addresses = (count: number) => Array.from({ length: count }, (_, n) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`);
const stored = (list: readonly string[]) => new StoredIpList(list.join('\n'));

test('the pieces of a record with long lists are its JSON, and each is short', () => {
  const long = addresses(80_000);
  const record = {
    Id: 1,
    Absent: undefined,
    None: null,
    Remark: 'a "note"\n',
    BlackIpList: stored(long),
    Client: { Flow: { InletFlow: 2 }, IpWhiteList: stored(long), BlackIpList: stored([]) },
  };
  const pieces = [...jsonPieces(record)];
  expect(JSON.parse(pieces.join(''))).toEqual({
    Id: 1,
    None: null,
    Remark: 'a "note"\n',
    BlackIpList: long,
    Client: { Flow: { InletFlow: 2 }, IpWhiteList: long, BlackIpList: [] },
  });
  expect(pieces.join('')).toBe(JSON.stringify(record));
  expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(100_000);
});

test('a record without long lists is one piece', () => {
  const record = { Id: 1, BlackIpList: stored(addresses(1000)), Client: { IpWhiteList: stored([]) } };
  expect([...jsonPieces(record)]).toEqual([JSON.stringify(record)]);
});

test('the parts of a list together are the list, wherever its lines end', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom('a', '"', '\\', 'č', '\u{1F600}'), fc.integer({ min: 1, max: 40_000 })), { minLength: 1, maxLength: 10 }),
      (list) => {
        const lines = list.map(([character, count]) => character.repeat(count));
        expect([...stored(lines).parts()].flat()).toEqual(lines);
        expect([...stored(lines)]).toEqual(lines);
      },
    ),
  );
});
