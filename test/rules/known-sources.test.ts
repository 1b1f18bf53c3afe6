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
