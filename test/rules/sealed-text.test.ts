import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { sealed, unsealed } from '../../src/rules/sealed-text.ts';

test('what is sealed is read with the same key and name only, and not after any change', () => {
  const key = randomBytes(32);
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), fc.nat(), (text, name, at) => {
      const closed = sealed(key, name, text);
      expect(unsealed(key, name, closed)).toBe(text);
      expect(unsealed(key, `${name}x`, closed)).toBeUndefined();
      expect(unsealed(randomBytes(32), name, closed)).toBeUndefined();
      const bytes = Buffer.from(closed, 'base64');
      bytes.writeUInt8((bytes[at % bytes.length] ?? 0) ^ 1, at % bytes.length);
      expect(unsealed(key, name, bytes.toString('base64'))).toBeUndefined();
      expect(sealed(key, name, text)).not.toBe(closed);
    }),
    { numRuns: 50 },
  );
  for (const text of ['', 'AAAA', 'not base64 !']) expect(unsealed(key, 'name', text)).toBeUndefined();
});
