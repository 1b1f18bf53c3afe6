import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import fc from 'fast-check';
import { damaged, lines, noise } from './fuzz.ts';

const latin = (text: string): Buffer => Buffer.from(text, 'latin1');

const startLine = fc.tuple(
  fc.constantFrom('GET', 'POST', 'HEAD', 'OPTIONS', 'CONNECT', 'get', 'G@T', ''),
  fc.oneof(
    fc.constantFrom(
      '/',
      '*',
      '/a?b',
      'http://a.example/',
      'http://a:1/x?y',
      'http://[::1]:2',
      'a:443',
      '[::1]:443',
      'http://u@a/',
      'http://a:0/',
      'a',
      'https://a/#b',
    ),
    fc.stringMatching(/^http:\/\/[\x21-\x7e]{1,12}$/),
  ),
  fc.constantFrom('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/1.1 '),
).map((parts) => parts.join(' '));
const field = fc.tuple(
  fc.constantFrom(
    'Host',
    'Host',
    'Content-Length',
    'Transfer-Encoding',
    'Connection',
    'Upgrade',
    'Expect',
    'X-Forwarded-For',
    'Forwarded',
    'Proxy-Authorization',
    'Cookie',
    'TE',
    'x',
    'Host ',
  ),
  fc.constantFrom(
    'a.example',
    '5',
    '3',
    '0',
    '+1',
    '5, 5',
    'chunked',
    'gzip, chunked',
    'close',
    'keep-alive, host',
    'upgrade',
    'websocket',
    'h2c',
    '100-continue',
    '192.0.2.1',
    'Basic YTpi',
    '',
    'a:1',
    '\xe4',
  ),
).map(([name, value]) => `${name}: ${value}\r\n`);
const head = (start: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(start, fc.array(field, { maxLength: 4 })).map(([line, fields]) => `${line}\r\n${fields.join('')}\r\n`);
const chunk = fc.tuple(fc.string({ minLength: 1, maxLength: 20 }).map((text) => Buffer.from(text).toString('latin1')), fc.constantFrom('', ';a', ';a=b')).map((
  [data, extra],
) => `${data.length.toString(16)}${extra}\r\n${data}\r\n`);
const chunks = fc.tuple(fc.array(chunk, { maxLength: 3 }), fc.constantFrom('0\r\n\r\n', '0;x\r\nA: b\r\n\r\n', '00\r\n\r\n')).map(([some, last]) =>
  some.join('') + last
);
const requests = fc.array(
  fc.oneof(
    fc.constantFrom(
      'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
      '\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n',
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc',
      'POST http://a/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n',
    ),
    head(startLine),
    chunks,
  ),
  { maxLength: 4 },
).map((all) => latin(all.join('')));
const statusLine = fc.constantFrom(
  'HTTP/1.1 200 OK',
  'HTTP/1.1 200',
  'HTTP/1.0 404 No',
  'HTTP/1.1 204 ',
  'HTTP/1.1 100 Go on',
  'HTTP/1.1 101 Other',
  'HTTP/1.1 304 Same',
  'HTTP/2 200',
  'HTTP/1.1 20 OK',
);
const responses = fc.array(fc.oneof(head(statusLine), chunks, fc.constantFrom('abc', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')), {
  maxLength: 4,
}).map((all) => latin(all.join('')));
const words = [
  'GET / HTTP/1.1',
  'HTTP/1.1 200 OK',
  'Host: a',
  '\r\n',
  '\r\n\r\n',
  '\n',
  '\r',
  '\0',
  ' ',
  ':',
  'Content-Length: 1',
  'Transfer-Encoding: chunked',
  '0\r\n\r\n',
  '1\r\na\r\n',
];

/** What visitors send to hosts and forward proxies, in order and not. */
export const httpRequests: fc.Arbitrary<Buffer> = fc.oneof(damaged(requests), lines(words));
/** What targets answer. */
export const httpResponses: fc.Arbitrary<Buffer> = fc.oneof(damaged(responses), lines(words));
/** Chunked bodies. */
export const chunkedBodies: fc.Arbitrary<Buffer> = fc.oneof(damaged(chunks.map(latin)), lines(words));

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
/** An address as SOCKS5 has it. */
const socksAddress = fc.oneof(
  fc.constantFrom(
    '01 7f000001 0050',
    '04 00000000000000000000000000000001 1f90',
    '03 09 6c6f63616c686f7374 0001',
    '03 03 3a3a31 0001',
    '03 03 610062 0050',
    '03 00 0050',
  ).map(hex),
  fc.tuple(noise, fc.nat({ max: 65_535 })).map(([name, port]) => Buffer.concat([Buffer.of(3, name.length), name, Buffer.of(port >> 8, port & 255)])),
);
/** Greeting, login and request in a row. */
export const socksDialogs: fc.Arbitrary<Buffer> = damaged(
  fc.tuple(
    fc.constantFrom('05 02 00 02', '05 01 02', '05 00', '04 01 0050 7f000001'),
    fc.constantFrom('01 01 61 01 62', '01 00 00', ''),
    fc.constantFrom('05 01 00', '05 03 00', '05 02 00', '05 01 01'),
    socksAddress,
  )
    .map(([greeting, login, start, address]) => Buffer.concat([hex(greeting), hex(login), hex(start), address])),
);
/** Datagrams of UDP ASSOCIATE. */
export const socksDatagrams: fc.Arbitrary<Buffer> = damaged(
  fc.tuple(fc.constantFrom('000000', '000001', '010000'), socksAddress, noise).map(([start, address, data]) => Buffer.concat([hex(start), address, data])),
);

/** The first flight of a real TLS client that asks for a name. */
export async function tlsHello(servername: string): Promise<Buffer> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  const client = tls.connect({ port: address.port, host: '127.0.0.1', servername });
  client.on('error', () => undefined);
  const [socket]: net.Socket[] = await once(server, 'connection');
  const [first]: Buffer[] = socket ? await once(socket, 'data') : [];
  client.destroy();
  socket?.destroy();
  server.close();
  return first ?? Buffer.alloc(0);
}

/** The same message in records of `size` bytes. */
export function inRecords(bytes: Buffer, size: number): Buffer {
  const message = bytes.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) {
    const part = message.subarray(at, at + size);
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part);
  }
  return Buffer.concat(records);
}

const proxyLine = fc.tuple(
  fc.constantFrom('PROXY ', 'PROXY ', 'PROXY ', 'PROXY', 'proxy '),
  fc.constantFrom(
    'TCP4 192.0.2.7 198.51.100.1 12345 443',
    'TCP6 2001:db8::1 ::1 1 65535',
    'TCP6 ::ffff:192.0.2.7 ::1 0 0',
    'UNKNOWN',
    'UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535',
    'TCP4 192.0.2.256 ::1 65536 01',
    'UDP4 192.0.2.7 192.0.2.8 1 2',
  ),
  fc.constantFrom('\r\n', '\r\n', '\n', ' x\r\n', ''),
  fc.constantFrom('GET / HTTP/1.1\r\n\r\n', '', '\x16\x03\x01'),
).map((parts) => latin(parts.join('')));
const proxyBinary = fc.tuple(
  fc.constantFrom(0x20, 0x21, 0x22, 0x11),
  fc.constantFrom(0x11, 0x21, 0x31, 0x00, 0x12, 0x41),
  fc.constantFrom(12, 36, 216, 0, 11),
  fc.oneof(fc.constant(Buffer.alloc(0)), fc.constant(Buffer.of(4, 0, 1, 0)), noise),
  fc.constantFrom('GET / HTTP/1.1\r\n\r\n', ''),
).map(([command, family, addresses, more, after]) => {
  const length = addresses + more.length;
  return Buffer.concat([latin('\r\n\r\n\0\r\nQUIT\n'), Buffer.of(command, family, length >> 8, length & 255), Buffer.alloc(addresses, 7), more, latin(after)]);
});
/** What proxies in front of hosts say first, in version 1 and 2 of the PROXY protocol. */
export const proxyPrefaces: fc.Arbitrary<Buffer> = fc.oneof(damaged(proxyLine), damaged(proxyBinary));
