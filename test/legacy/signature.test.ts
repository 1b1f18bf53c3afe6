import { createDecipheriv } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createSignatureCheck, encryptAuthKey, sign } from '../../src/legacy/signature.ts';
import { anyCharacter } from '../support/any-character.ts';

const key = 'a key that nobody knows';
const time = 1_700_000_000;
const check = createSignatureCheck(key, () => time * 1000 + 999);
const signed = (timestamp: number, text = String(timestamp)) => new Map([['auth_key', sign(key, timestamp)], ['timestamp', text]]);

test('the digest is the one of the test vector', () => {
  expect(sign('test', 1_700_000_000)).toBe('39ba07baf7f6a895b54815075cd9312f');
});

test('the encrypted key is the one of the test vectors', () => {
  expect(encryptAuthKey('test', '1234567812345678')).toBe('04acf026285da15817ac9a072c1259ac');
  expect(encryptAuthKey('', '1234567812345678')).toBe('5acabcf051cd55abca03d18294422e01');
});

test('what was encrypted is decrypted by the crypt key alone', () => {
  fc.assert(fc.property(fc.string({ unit: anyCharacter }), fc.uint8Array({ minLength: 16, maxLength: 16 }), (text, bytes) => {
    const cryptKey = Buffer.from(bytes.map((byte) => byte & 0x7f)).toString();
    const cipher = createDecipheriv('aes-128-cbc', cryptKey, cryptKey);
    expect(cipher.update(encryptAuthKey(text, cryptKey), 'hex', 'utf8') + cipher.final('utf8')).toBe(Buffer.from(text).toString());
  }));
});

describe('the window', () => {
  test.each([-20, -19, 0, 19, 20])("%i s from the server's time is inside", (offset) => {
    expect(check(signed(time + offset))).toBeUndefined();
  });

  test.each([-21, 21, -86_400, 86_400])("%i s from the server's time is outside", (offset) => {
    expect(check(signed(time + offset))).toBe('timestamp outside the 20 second window (server time 1700000000)');
  });

  test('a fraction of a second does not move its edges', () => {
    const edge = createSignatureCheck(key, () => time * 1000);
    expect(edge(signed(time + 20))).toBeUndefined();
    expect(edge(signed(time - 20))).toBeUndefined();
  });

  test.each(['now', '1.7e9', '1700000000.0', '0x6553f100', '-'])('timestamp %s is outside', (text) => {
    expect(check(signed(time, text))).toBe('timestamp outside the 20 second window (server time 1700000000)');
  });
});

test.each(['+1700000000', '001700000000', ' 1700000000 '])('timestamp "%s" is hashed as the number it is', (text) => {
  expect(check(signed(time, text))).toBeUndefined();
});

test.each([
  [{}],
  [{ auth_key: sign(key, time) }],
  [{ timestamp: String(time) }],
  [{ auth_key: '', timestamp: String(time) }],
  [{ auth_key: sign(key, time), timestamp: ' ' }],
])('%j lacks a part of the signature', (parameters) => {
  expect(check(new Map(Object.entries(parameters)))).toBe('missing auth_key/timestamp');
});

test.each([
  ['upper case', sign(key, time).toUpperCase()],
  ['another timestamp', sign(key, time - 1)],
  ['another key', sign('another key', time)],
  ['a part of it', sign(key, time).slice(0, 31)],
  ['the key itself', key],
])('%s is a bad digest', (_, digest) => {
  expect(check(new Map([['auth_key', digest], ['timestamp', String(time)]]))).toBe('bad auth_key');
});

test('the same pair is valid again while its window is open', () => {
  expect([check(signed(time)), check(signed(time))]).toEqual([undefined, undefined]);
});

test('an empty key turns signed calls off', () => {
  const off = createSignatureCheck('', () => time * 1000);
  expect(off(new Map([['auth_key', sign('', time)], ['timestamp', String(time)]])))
    .toBe('bad auth_key (the signed API is off: the configured auth_key is empty or well known)');
});

test('no pair that was not signed with the key is valid', () => {
  fc.assert(fc.property(fc.string(), fc.oneof(fc.string(), fc.constant(String(time))), (digest, timestamp) => {
    expect(check(new Map([['auth_key', digest], ['timestamp', timestamp]]))).not.toBeUndefined();
  }));
});
