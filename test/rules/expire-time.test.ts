import process from 'node:process';
import { afterEach, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { expireTimeText, parseExpireTime } from '../../src/rules/expire-time.ts';
import { anyText, cases, hold } from '../support/outside-input.ts';

test.each([
  ['2027-01-05 08:09:07', new Date(2027, 0, 5, 8, 9, 7)],
  ['2027-01-05 08:09', new Date(2027, 0, 5, 8, 9)],
  ['2027-01-05T08:09:07', new Date(2027, 0, 5, 8, 9, 7)],
  ['2027-01-05T08:09', new Date(2027, 0, 5, 8, 9)],
  ['2027-01-05', new Date(2027, 0, 5)],
  ['2027/01/05', new Date(2027, 0, 5)],
  ['2027/01/05 08:09', new Date(2027, 0, 5, 8, 9)],
  ['2027/01/05 08:09:07', new Date(2027, 0, 5, 8, 9, 7)],
  ['  2027-01-05  ', new Date(2027, 0, 5)],
  ['2028-02-29', new Date(2028, 1, 29)],
  ['2027-01-05T08:09:07Z', new Date(Date.UTC(2027, 0, 5, 8, 9, 7))],
  ['2027-01-05t08:09:07z', new Date(Date.UTC(2027, 0, 5, 8, 9, 7))],
  ['2027-01-05T08:09:07.25+02:30', new Date(Date.UTC(2027, 0, 5, 5, 39, 7))],
  ['2027-01-05T08:09:07-05:00', new Date(Date.UTC(2027, 0, 5, 13, 9, 7))],
  ['2027-01-05T08:09:07+23:59', new Date(Date.UTC(2027, 0, 4, 8, 10, 7))],
  ['2027-01-05 23:59:59', new Date(2027, 0, 5, 23, 59, 59)],
  ['2000-02-29', new Date(2000, 1, 29)],
])('%s is read', (text, expected) => {
  expect(parseExpireTime(text)).toEqual(expected);
});

test.each([
  'never',
  '9999-12-31T23:59:59-14:00',
  '2027',
  '2027-1-5',
  '2027-01-05 8:09',
  '2027-13-01',
  '2027-00-01',
  '2027-02-30',
  '2027-02-29',
  '2027-01-05 24:00',
  '2027-01-05 23:60',
  '2027-01-05 23:59:60',
  '2027-01-05 08:09:07.5',
  '2027-01-05T08:09Z',
  '2027/01/05T08:09:07Z',
  '2027-01/05',
  '2027-01-05T08:09:07+24:00',
  '2027-01-05T08:09:07+01:60',
  '2100-02-29',
  '2028-02-30',
  '0001-01-01T00:00:00+23:00',
  '2027-01-00',
  '2027-01-05T08:09:07+0200',
  '0000-01-01',
  '1700000000',
  '2027-01-05 08:09:07 pm',
])('%s is no time', (text) => {
  expect(parseExpireTime(text)).toBeUndefined();
});

test('each month has its days', () => {
  const days = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  for (const [index, count] of days.entries()) {
    const date = (day: number) => `2027-${String(index + 1).padStart(2, '0')}-${day}`;
    expect([parseExpireTime(date(count)), parseExpireTime(date(count + 1))]).toEqual([new Date(2027, index, count), undefined]);
  }
});

test('the first and the last year have four digits', () => {
  const first = new Date(0);
  first.setFullYear(1, 0, 1);
  first.setHours(0, 0, 0, 0);
  expect([parseExpireTime('0001-01-01'), expireTimeText(first)]).toEqual([first, '0001-01-01 00:00:00']);
  expect(parseExpireTime('0001-12-31T00:00:00Z')?.toISOString()).toBe('0001-12-31T00:00:00.000Z');
  expect(parseExpireTime('9999-12-31 23:59:59')).toEqual(new Date(9999, 11, 31, 23, 59, 59));
});

const serverZone = process.env['TZ'];
afterEach(() => {
  if (serverZone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = serverZone;
});

test.each([
  ['west', 'America/Los_Angeles', '2027-01-05T08:00:00.000Z', '2027-01-06T04:09:07.000Z', '0001-01-01T00:00:00Z'],
  ['east', 'Asia/Kolkata', '2027-01-04T18:30:00.000Z', '2027-01-05T14:39:07.000Z', '9999-12-31T23:59:59Z'],
])("times without a zone are the server's, %s of Greenwich; so are the years that are possible", (_, zone, day, evening, outside) => {
  process.env['TZ'] = zone;
  expect(['2027-01-05', '2027-01-05 20:09:07'].map((text) => parseExpireTime(text)?.toISOString())).toEqual([day, evening]);
  expect([day, evening].map((at) => expireTimeText(new Date(at)))).toEqual(['2027-01-05 00:00:00', '2027-01-05 20:09:07']);
  expect(parseExpireTime('2027-01-05T01:00:00+02:00')?.toISOString()).toBe('2027-01-04T23:00:00.000Z');
  expect(parseExpireTime(outside)).toBeUndefined();
});

test('no time is written as an empty text', () => {
  expect(expireTimeText(null)).toBe('');
});

const seconds = fc.integer({ min: 0, max: Date.UTC(9999, 11, 30) / 1000 });

test('a time that was written is read as the same time of day', () => {
  fc.assert(fc.property(seconds, (at) => {
    const text = expireTimeText(new Date(at * 1000));
    const again = parseExpireTime(text);
    expect(again && expireTimeText(again)).toBe(text);
    expect(text).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  }));
});

test('RFC 3339 names the same moment wherever the server is', () => {
  fc.assert(fc.property(seconds, (at) => {
    expect(parseExpireTime(new Date(at * 1000).toISOString())).toEqual(new Date(at * 1000));
  }));
});

test('no text makes the parser throw or give a time that is none', () => {
  const digits = fc.stringMatching(/^[0-9]{4}[-/][0-9]{2}[-/][0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]+)?)?(Z|[+-][0-9]{2}:[0-9]{2})?)?$/);
  fc.assert(
    fc.property(fc.oneof(anyText, digits), (text) => {
      const at = parseExpireTime(text);
      hold(at === undefined || !Number.isNaN(at.getTime()), 'is a time');
    }),
    cases,
  );
});
