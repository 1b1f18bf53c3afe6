import { expect, test } from '@jest/globals';
import { KnownSources } from '../../src/rules/known-sources.ts';

test('a name has 32 addresses, those that it was used from last', () => {
  const sources = new KnownSources();
  for (let i = 0; i < 32; i++) sources.add('alice', `192.0.2.${i}`);
  sources.add('alice', '192.0.2.0');
  sources.add('alice', '198.51.100.1');
  expect(['192.0.2.0', '192.0.2.1', '192.0.2.2', '198.51.100.1'].map((address) => sources.has('alice', address))).toEqual([true, false, true, true]);
  expect(sources.has('bob', '192.0.2.0')).toBe(false);
});

test('10,000 names are remembered, those that were used last', () => {
  const sources = new KnownSources();
  for (let n = 0; n < 10_000; n++) sources.add(`name ${n}`, '192.0.2.1');
  sources.add('name 0', '192.0.2.1');
  expect(sources.has('name 1', '192.0.2.1')).toBe(true);
  sources.add('another', '192.0.2.1');
  expect(['name 0', 'name 1', 'name 2', 'another'].map((name) => sources.has(name, '192.0.2.1'))).toEqual([true, false, true, true]);
});
