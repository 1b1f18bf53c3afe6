import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { dialTargets, malformedTarget, parseTarget, targetLines } from '../../src/rules/targets.ts';
import { anyText, cases, hold } from '../support/outside-input.ts';
import { formatHostPort } from '../../src/rules/host-port.ts';

test.each([
  ['127.0.0.1:80', '127.0.0.1', 80],
  ['localhost:1', 'localhost', 1],
  ['my_host-1.example.com:65535', 'my_host-1.example.com', 65535],
  ['[::1]:22', '::1', 22],
  ['[2001:db8::1]:8080', '2001:db8::1', 8080],
  ['8080', '127.0.0.1', 8080],
  ['host:080', 'host', 80],
])('%s is a target', (text, host, port) => {
  expect(parseTarget(text)).toEqual({ host, port });
});

test.each([
  '',
  ':80',
  'host',
  'host:',
  'host:0',
  'host:65536',
  'host:99999999999',
  'host:-1',
  'host:1.5',
  '::1:80',
  '[::1]',
  `[fe80::1%${'a'.repeat(246)}]:80`,
  '[]:80',
  '[127.0.0.1]:80',
  '[host]:80',
  'a b:80',
  'host :80',
  'http://host:80',
  'host:80/path',
  '-host:80',
  'host-:80',
  '1.2.3:80',
  '1.2.3.256:80',
  'a..b:80',
  `${'a'.repeat(64)}:80`,
  'host:80\n',
  'user@host:80',
  '0',
  '65536',
  'hôst:80',
])('%j is none', (text) => {
  expect(parseTarget(text)).toBeUndefined();
});

const host = fc.oneof(fc.ipV4(), fc.ipV6(), fc.domain());
const target = fc.record({ host, port: fc.integer({ min: 1, max: 65535 }) });

test('what is written for an agent reads as the same target', () => {
  fc.assert(fc.property(target, (value) => {
    expect(parseTarget(formatHostPort(value))).toEqual(value);
  }));
});

test('any text is a target that can be written and read again, or none; nothing throws', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const parsed = parseTarget(text);
      hold(parsed === undefined || JSON.stringify(parseTarget(formatHostPort(parsed))) === JSON.stringify(parsed), 'is read as it was written');
    }),
    cases,
  );
});

test("lines end with CR, LF or both; blank ones don't count; the agent gets each of the rest in its full form", () => {
  expect(targetLines(['a:1\r\nb:2\n\n  c:3 ', '', '4'])).toEqual(['a:1', 'b:2', 'c:3', '4']);
  expect(dialTargets('a:1\n[::1]:2\n3')).toEqual(['a:1', '[::1]:2', '127.0.0.1:3']);
  expect(dialTargets('')).toEqual([]);
  expect(malformedTarget(['a:1', 'b', 'c'])).toBe('b');
  expect(malformedTarget([])).toBeUndefined();
});
