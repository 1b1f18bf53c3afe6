import { expect, test } from '@jest/globals';
import { OwnNames } from '../../src/rules/own-names.ts';
import { coversPublicSuffix } from '../../src/rules/public-suffix.ts';

test("the server's own names are those of its addresses in the settings, localhost, and every IP address", () => {
  const names = new OwnNames(['https://Panel.Example.com:8443/adit?x', 'api.example.com.:80', '', ' not a host ']);
  for (const own of ['panel.example.com', 'api.example.com', 'localhost', '127.0.0.1', '203.0.113.9', '::1', '2001:db8::1']) {
    expect([own, names.has(own)]).toEqual([own, true]);
  }
  for (const other of ['example.com', 'x.panel.example.com', 'app.localhost', '*.example.com', '']) expect([other, names.has(other)]).toEqual([other, false]);
});

test.each([
  '*.com',
  '*.test',
  '*.co.uk',
  '*.github.io',
  '*.uk',
  '*.ck',
  '*.anything.ck',
  '*.kawasaki.jp',
  '*.xn--p1ai',
])('%s covers a public suffix', (pattern) => {
  expect(coversPublicSuffix(pattern)).toBe(true);
});

test.each([
  '*.example.com',
  '*.example.co.uk',
  '*.somebody.github.io',
  '*.a.anything.ck',
  'com',
  'co.uk',
  'example.com',
  '127.0.0.1',
  '*.a_b.example.com',
])('%s covers none', (pattern) => {
  expect(coversPublicSuffix(pattern)).toBe(false);
});
