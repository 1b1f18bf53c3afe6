import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MAX_HELLO, readClientHello } from '../../../src/engine/vhost/tls/client-hello.ts';
import { sized } from '../../support/endurance.ts';

/** The first flight of a real TLS client. */
async function hello(options: tls.ConnectionOptions): Promise<Buffer> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  const client = tls.connect({ port: address.port, host: '127.0.0.1', ...options });
  client.on('error', () => undefined);
  const [socket] = await once(server, 'connection') as [net.Socket];
  const [first] = await once(socket, 'data') as [Buffer];
  client.destroy();
  socket.destroy();
  server.close();
  return first;
}

/** The same hello in records of `size` bytes. */
function fragmented(bytes: Buffer, size: number): Buffer {
  const message = bytes.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) {
    const part = message.subarray(at, at + size);
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part);
  }
  return Buffer.concat(records);
}

test('the name that a client asks for is found, in lower case', async () => {
  expect(readClientHello(await hello({ servername: 'WWW.Example.com' }))).toEqual({ kind: 'hello', serverName: 'www.example.com' });
  expect(readClientHello(await hello({ servername: 'a.example.com', maxVersion: 'TLSv1.2' }))).toEqual({ kind: 'hello', serverName: 'a.example.com' });
  expect(readClientHello(await hello({ servername: '' }))).toEqual({ kind: 'hello', serverName: '' });
});

test('a hello that arrives in pieces, or in many records, is read when it is whole', async () => {
  const bytes = await hello({ servername: 'www.example.com' });
  for (let length = 0; length < bytes.length; length++) expect(readClientHello(bytes.subarray(0, length))).toEqual({ kind: 'incomplete' });
  expect(readClientHello(fragmented(bytes, 10))).toEqual({ kind: 'hello', serverName: 'www.example.com' });
  expect(readClientHello(Buffer.concat([bytes, Buffer.from('more')]))).toEqual({ kind: 'hello', serverName: 'www.example.com' });
});

test.each([['HTTP', 'GET / HTTP/1.1\r\n'], ['SSH', 'SSH-2.0-x'], ['an alert', '\x15\x03\x01\x00\x02\x02\x28'], ['an empty record', '\x16\x03\x01\x00\x00']])(
  '%s is no hello',
  (_name, text) => {
    expect(readClientHello(Buffer.from(text, 'latin1'))).toEqual({ kind: 'invalid' });
  },
);

test('a server name of another type, an odd or a cut one is refused; a final dot is dropped', async () => {
  const name = 'www.example.com';
  const bytes = await hello({ servername: name });
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
  const bytes = await hello({ servername: 'www.example.com' });
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
