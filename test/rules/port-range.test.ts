import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { allowsPort, formatPortRanges, parsePortRanges, PortRangeError } from '../../src/rules/port-range.ts';
import { anyText, cases, hold, parsed } from '../support/outside-input.ts';

const port = fc.integer({ min: 1, max: 65535 });
const range = fc.tuple(port, port).map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) }));

describe('a list of ports', () => {
  test('is read as contract 4.4 writes it', () => {
    expect(parsePortRanges('9001-9009,10001,11000-12000')).toEqual([
      { from: 9001, to: 9009 },
      { from: 10001, to: 10001 },
      { from: 11000, to: 12000 },
    ]);
  });

  test('that touch are merged, those with a port between them are not', () => {
    expect(parsePortRanges('4-5,1-3')).toEqual([{ from: 1, to: 5 }]);
    expect(parsePortRanges('5-6,1-3')).toEqual([{ from: 1, to: 3 }, { from: 5, to: 6 }]);
    expect(parsePortRanges('1-9,2-3')).toEqual([{ from: 1, to: 9 }]);
  });

  test('that is blank allows every port', () => {
    expect(parsePortRanges('  ')).toEqual([]);
    expect(allowsPort([], 65535)).toBe(true);
  });

  test('allows exactly the ports that one of its parts names, however they overlap', () => {
    fc.assert(fc.property(fc.array(range, { minLength: 1, maxLength: 6 }), port, (ranges, probe) => {
      const ports = parsePortRanges(ranges.map(({ from, to }) => ` ${from} - ${to} `).join(','));
      for (const candidate of [probe, ...ranges.flatMap(({ from, to }) => [from - 1, from, to, to + 1])]) {
        expect(allowsPort(ports, candidate)).toBe(ranges.some(({ from, to }) => from <= candidate && candidate <= to));
      }
    }));
  });

  test('comes back ascending with gaps between its ranges, and survives being written and read', () => {
    fc.assert(fc.property(fc.array(range, { maxLength: 6 }), (ranges) => {
      const ports = parsePortRanges(formatPortRanges(ranges));
      for (const [index, { from }] of ports.entries()) expect(from).toBeGreaterThan((ports[index - 1]?.to ?? -1) + 1);
      expect(parsePortRanges(formatPortRanges(ports))).toEqual(ports);
    }));
  });

  test.each([
    ['80,', '"" is neither a port nor a range like 9001-9009'],
    ['80;90', '"80;90" is neither a port nor a range like 9001-9009'],
    ['-5', '"-5" is neither a port nor a range like 9001-9009'],
    ['0-80', '0-80 goes beyond the ports 1 to 65535'],
    ['80-65536', '80-65536 goes beyond the ports 1 to 65535'],
    ['90-80', '90-80 ends before it begins'],
  ])('%j is refused with the part and the reason', (text, message) => {
    expect(() => parsePortRanges(text)).toThrow(new PortRangeError(message));
  });

  test('is either read or refused with a PortRangeError, whatever the text', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.stringMatching(/^[\d,\- ]{0,20}$/)), (text) => {
        const ranges = parsed(() => parsePortRanges(text), PortRangeError) ?? [];
        hold(ranges.every(({ from, to }) => 1 <= from && from <= to && to <= 65535), 'lies within the ports');
      }),
      cases,
    );
  });
});
