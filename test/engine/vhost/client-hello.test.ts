import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MAX_HELLO, readClientHello } from '../../../src/engine/vhost/tls/client-hello.ts';
import { clientHello } from '../../support/client-hello.ts';
import { sized } from '../../support/endurance.ts';

/** A handshake message in as many records as there are parts. */
function inRecords(parts: readonly Buffer[]): Buffer {
  return Buffer.concat(parts.flatMap((part) => [Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part]));
}

/** The same hello in records of `size` bytes. */
function fragmented(bytes: Buffer, size: number): Buffer {
  const message = bytes.subarray(5);
  return inRecords(Array.from({ length: Math.ceil(message.length / size) }, (_, index) => message.subarray(index * size, (index + 1) * size)));
}

test('the name that a client asks for is found, in lower case', async () => {
  expect(readClientHello(await clientHello({ servername: 'WWW.Example.com' }))).toEqual({ kind: 'hello', serverName: 'www.example.com' });
  expect(readClientHello(await clientHello({ servername: 'a.example.com', maxVersion: 'TLSv1.2' }))).toEqual({ kind: 'hello', serverName: 'a.example.com' });
  expect(readClientHello(await clientHello({ servername: '' }))).toEqual({ kind: 'hello', serverName: '' });
});

test('a hello that arrives in pieces, or in many records, is read when it is whole', async () => {
  const bytes = await clientHello({ servername: 'www.example.com' });
  for (let length = 0; length < bytes.length; length++) expect(readClientHello(bytes.subarray(0, length))).toEqual({ kind: 'incomplete' });
  expect(readClientHello(fragmented(bytes, 10))).toEqual({ kind: 'hello', serverName: 'www.example.com' });
  expect(readClientHello(Buffer.concat([bytes, Buffer.from('more')]))).toEqual({ kind: 'hello', serverName: 'www.example.com' });
});

test.each([
  ['HTTP', 'GET / HTTP/1.1\r\n'],
  ['SSH', 'SSH-2.0-x'],
  ['an alert', '\x15\x03\x01\x00\x02\x02\x28'],
  ['an empty record', '\x16\x03\x01\x00\x00'],
  ['a record of another protocol', '\x16\x02'],
  ['another message of a handshake', '\x16\x03\x01\x00\x01\x02'],
])('%s is no hello', (_name, text) => {
  expect(readClientHello(Buffer.from(text, 'latin1'))).toEqual({ kind: 'invalid' });
});

test('a hello may have 64 records, a name of 255 characters, and no extensions', async () => {
  const message = (await clientHello({ servername: 'www.example.com' })).subarray(5);
  const records = (count: number) => inRecords([...Array.from({ length: count - 1 }, (_, at) => message.subarray(at, at + 1)), message.subarray(count - 1)]);
  expect([64, 65].map((count) => readClientHello(records(count)).kind)).toEqual(['hello', 'invalid']);
  const vector = (size: 1 | 2 | 3, ...parts: readonly Buffer[]): Buffer => {
    const content = Buffer.concat(parts);
    const length = Buffer.alloc(size);
    length.writeUIntBE(content.length, 0, size);
    return Buffer.concat([length, content]);
  };
  // No session, one cipher, no compression.
  const helloWith = (...extensions: readonly Buffer[]) =>
    readClientHello(
      inRecords([
        Buffer.concat([Buffer.of(1), vector(3, Buffer.alloc(2 + 32), vector(1), vector(2, Buffer.alloc(2)), vector(1, Buffer.of(0)), ...extensions)]),
      ]),
    );
  const named = (name: string) => helloWith(vector(2, Buffer.alloc(2), vector(2, vector(2, Buffer.of(0), vector(2, Buffer.from(name))))));
  const longest = 'a'.repeat(255);
  expect(named(longest)).toEqual({ kind: 'hello', serverName: longest });
  expect(named(`${longest}a`)).toEqual({ kind: 'invalid' });
  // Old programs send no extensions. Others end where their lengths say.
  const noName = { kind: 'hello', serverName: '' };
  expect([helloWith(), helloWith(vector(2)), helloWith(vector(2, Buffer.of(0, 5), vector(2)))]).toEqual([noName, noName, noName]);
  expect([helloWith(Buffer.of(0)), helloWith(vector(2, Buffer.of(0, 5, 0, 1))), helloWith(vector(2, Buffer.of(0, 5, 0)))].map(({ kind }) => kind))
    .toEqual(['invalid', 'invalid', 'invalid']);
});

test('a server name of another type, an odd or a cut one is refused; a final dot is dropped', async () => {
  const name = 'www.example.com';
  const bytes = await clientHello({ servername: name });
  const at = bytes.indexOf(name);
  /** The hello with other bytes at a place, counted from the first letter of the name. */
  const changed = (from: number, ...values: readonly number[]): Buffer => {
    const copy = Buffer.from(bytes);
    copy.set(values, at + from);
    return copy;
  };
  expect(bytes.subarray(at - 5, at)).toEqual(Buffer.from([0, name.length + 3, 0, 0, name.length]));
  expect(readClientHello(changed(name.length - 1, 0x2e))).toEqual({ kind: 'hello', serverName: 'www.example.co' });
  expect(readClientHello(changed(-3, 1))).toEqual({ kind: 'invalid' }); // the type
  expect(readClientHello(changed(-1, name.length + 1))).toEqual({ kind: 'invalid' }); // longer than the list of names
  expect(readClientHello(changed(-5, 1, name.length + 3))).toEqual({ kind: 'invalid' }); // a list longer than the extension
  expect(readClientHello(changed(0, 0x2f))).toEqual({ kind: 'invalid' });
  expect(readClientHello(changed(0, 0x2e))).toEqual({ kind: 'invalid' });
});

test('any bytes, and any damage of a real hello, are answered without an error', async () => {
  const bytes = await clientHello({ servername: 'www.example.com' });
  const damaged = fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)).map(([at, value]) => {
    const copy = Buffer.from(bytes);
    copy[at] = value;
    return copy;
  });
  const any = fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.concat([Buffer.from([22, 3, 1]), array]));
  fc.assert(
    fc.property(fc.oneof(damaged, any), (given) => {
      expect(['incomplete', 'invalid', 'hello']).toContain(readClientHello(given).kind);
    }),
    { numRuns: sized(300, 100_000) },
  );
});

test.each([[MAX_HELLO, 'incomplete'], [MAX_HELLO + 1, 'invalid']])('a hello or a record of %i bytes is %s as long as it is not whole', (length, kind) => {
  const record = Buffer.from([22, 3, 1, length >> 8, length & 255]);
  expect(readClientHello(record)).toEqual({ kind });
  expect(readClientHello(Buffer.from([22, 3, 1, 0, 4, 1, 0, length >> 8, length & 255]))).toEqual({ kind });
});
