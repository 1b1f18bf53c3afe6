import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { hostPattern } from '../../src/rules/host-name.ts';
import { platformDomainId, platformHost, platformPrefix, platformWildcard } from '../../src/rules/platform-domain.ts';
import { anyText, cases, hold } from '../support/outside-input.ts';

test.each([['*.example.com', '*.example.com'], [' *.Example.COM. ', '*.example.com'], ['*.a-b.c1.de', '*.a-b.c1.de']])('%s is kept as %s', (text, wildcard) => {
  expect(platformWildcard(text)).toEqual({ wildcard });
});

test.each([
  ['', 'pattern'],
  ['example.com', 'pattern'],
  ['*', 'pattern'],
  ['*.', 'pattern'],
  ['*.com', 'pattern'],
  ['a.*.com', 'pattern'],
  ['*.*.example.com', 'pattern'],
  ['*example.com', 'pattern'],
  ['*.-a.com', 'name'],
  ['*.a_b.com', 'name'],
  ['*.a..com', 'name'],
  ['*.ä.com', 'name'],
  [`*.${'a'.repeat(64)}.com`, 'name'],
  [`*.${'a.'.repeat(125)}com`, 'name'],
  ['*.a.com:80', 'name'],
  ['*.2.3.4', 'name'],
])('%j is none: %s', (text, fault) => expect(platformWildcard(text)).toEqual({ fault }));

test('a prefix is one label, in lower case', () => {
  expect(platformPrefix(' App-1 ')).toBe('app-1');
  expect(platformPrefix('a'.repeat(63))).toBe('a'.repeat(63));
  for (const text of ['', ' ', 'a.b', '-a', 'a-', 'a_b', '*', 'ä', 'a'.repeat(64), 'a b']) expect([text, platformPrefix(text)]).toEqual([text, undefined]);
});

test('prefix and pattern make the host', () => {
  expect(platformHost('*.example.com', 'app')).toBe('app.example.com');
  expect(platformHost(`*.${'a.'.repeat(124)}com`, 'a'.repeat(10))).toBeUndefined();
});

test('pattern and host have 253 characters at most; a label of digits is not the last one', () => {
  const wildcard = (length: number) => `*.${'a.'.repeat((length - 4) / 2)}${'b'.repeat(2 + length % 2)}`;
  expect([wildcard(252), wildcard(253), wildcard(254)].map((text) => [text.length, 'wildcard' in platformWildcard(text)])).toEqual([[252, true], [253, true], [
    254,
    false,
  ]]);
  expect([platformHost(wildcard(252), 'cc')?.length, platformHost(wildcard(252), 'ccc')]).toEqual([253, undefined]);
  expect([platformWildcard('*.1.example'), platformWildcard('*.example.1')]).toEqual([{ wildcard: '*.1.example' }, { fault: 'name' }]);
});

test('an id comes from the pattern alone, longer when it is taken', () => {
  expect(platformDomainId('*.example.com', new Set())).toBe('platform-47287a8f16ec75e6');
  const second = platformDomainId('*.example.com', new Set(['platform-47287a8f16ec75e6']));
  expect(second).toMatch(/^platform-47287a8f16ec75e6[0-9a-f]{8}$/);
  expect(platformDomainId('*.example.com', new Set(['platform-47287a8f16ec75e6', second]))).toHaveLength('platform-'.length + 32);
});

test('whatever text comes, a pattern and a prefix make a host that rules can have', () => {
  const text = fc.oneof(anyText, fc.domain().map((domain) => `*.${domain}`));
  fc.assert(
    fc.property(text, text, (a, b) => {
      const made = platformWildcard(a);
      const prefix = platformPrefix(b) ?? 'x';
      if (!('wildcard' in made)) return;
      hold(JSON.stringify(platformWildcard(made.wildcard)) === JSON.stringify(made), 'is kept as it is');
      const host = platformHost(made.wildcard, prefix);
      hold(host === undefined || hostPattern(host) === host, 'is a host');
    }),
    cases,
  );
});
