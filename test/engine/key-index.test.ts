import { expect, test } from '@jest/globals';
import { KeyIndex } from '../../src/engine/key-index.ts';
import { keyIdOf } from '../../src/wire/handshake.ts';

test('finds the record that has a key, among others that come and go', () => {
  const index = new KeyIndex<number>();
  const model = new Map<string, number>();
  const wrong: string[] = [];
  const check = (key: string) => {
    if (index.get(keyIdOf(key)) !== model.get(key)) wrong.push(key);
  };
  for (let n = 0; n < 4000; n++) {
    const key = `key ${(n * 7919) % 1000}`;
    const known = model.get(key);
    // A third of them go again, and the table never has more than a thousand.
    if (known !== undefined && n % 3 === 0) {
      index.delete(key, known);
      model.delete(key);
    } else {
      index.set(key, n);
      model.set(key, n);
    }
    check(key);
  }
  for (let n = 0; n < 1001; n++) check(`key ${n}`);
  expect(wrong).toEqual([]);
});

test('keeps the record that took a key over, and knows no key of another length', () => {
  const index = new KeyIndex<string>();
  index.set('key', 'former');
  index.set('key', 'present');
  index.delete('key', 'former');
  expect(index.get(keyIdOf('key'))).toBe('present');
  expect([index.get(keyIdOf('key').slice(0, 8)), index.get('')]).toEqual([undefined, undefined]);
  index.delete('key', 'present');
  expect(index.get(keyIdOf('key'))).toBeUndefined();
});
