import { randomBytes } from 'node:crypto';
import zlib from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from '@jest/globals';
import { MAX_DATA } from '../../src/wire/frames.ts';
import { Packer, unpack } from '../../src/wire/packing.ts';

const text = Buffer.alloc(MAX_DATA, 'all work and no play makes a dull boy, ');

test('what is packed comes out as it was', () => {
  const payload = fc.uint8Array({ minLength: 1, maxLength: 3000 }).map((bytes) => Buffer.concat([bytes, bytes, bytes]));
  fc.assert(fc.property(payload, (bytes) => {
    const packed = new Packer().pack(bytes);
    if (packed) expect(unpack(packed).equals(bytes)).toBe(true);
    else expect(bytes.length).toBeLessThan(256);
  }));
  const whole = new Packer().pack(text);
  expect(whole?.length).toBeLessThan(1000);
  expect(whole && unpack(whole).equals(text)).toBe(true);
});

test('short payloads are left alone', () => {
  const packer = new Packer();
  expect(packer.pack(text.subarray(0, 255))).toBeUndefined();
  expect(packer.pack(text.subarray(0, 256))).toBeDefined();
});

test('after payloads that do not shrink ever fewer are tried, and after one that does all are', () => {
  const packer = new Packer();
  const noise = randomBytes(1000);
  let tried = 0;
  const brotli = zlib.brotliCompressSync;
  zlib.brotliCompressSync = (...given) => {
    tried++;
    return brotli(...given);
  };
  try {
    for (let i = 0; i < 1000; i++) expect(packer.pack(noise)).toBeUndefined();
    expect(tried).toBeLessThan(25);
    expect(packer.givenUp).toBe(true);
    for (let i = 0; i < 64; i++) packer.pack(text);
    expect(packer.givenUp).toBe(false);
    tried = 0;
    for (let i = 0; i < 10; i++) expect(packer.pack(text)).toBeDefined();
    expect(tried).toBe(10);
  } finally {
    zlib.brotliCompressSync = brotli;
  }
});

test.each([
  ['that is broken', Buffer.from('this is no brotli')],
  ['that is cut off', (new Packer().pack(text) ?? Buffer.alloc(0)).subarray(0, 10)],
  ['of more than a frame holds', zlib.brotliCompressSync(Buffer.alloc(MAX_DATA + 1))],
  ['of a hundred megabytes of zeros', zlib.brotliCompressSync(Buffer.alloc(100 * 1024 * 1024), { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ['of nothing', zlib.brotliCompressSync(Buffer.alloc(0))],
])('a payload %s is a protocol error', (_, payload) => {
  expect(() => unpack(payload)).toThrow(expect.objectContaining({ name: 'ProtocolError' }));
});

test('random bytes give a payload or a protocol error, nothing else', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
    try {
      expect(unpack(Buffer.from(bytes)).length).toBeLessThanOrEqual(MAX_DATA);
    } catch (error) {
      expect(error).toMatchObject({ name: 'ProtocolError' });
    }
  }));
});
