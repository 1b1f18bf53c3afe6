import { describe, expect, test } from '@jest/globals';
import { readProxyPreface } from '../../../src/engine/vhost/proxy-preface.ts';

const SIGNATURE = '\r\n\r\n\0\r\nQUIT\n';
const v2 = (command: number, family: number, rest: readonly number[], length = rest.length): Buffer =>
  Buffer.concat([Buffer.from(SIGNATURE), Buffer.of(command, family, length >> 8, length & 0xff), Buffer.from(rest)]);
const ipv4 = [192, 0, 2, 7, 198, 51, 100, 1, 0x30, 0x39, 0x01, 0xbb];
const ipv6 = [...Array.from({ length: 14 }, () => 0), 0, 1, 0x20, 0x01, 0x0d, 0xb8, ...Array.from({ length: 11 }, () => 0), 2, 0, 80, 1, 187];
const read = (bytes: Buffer | string) => readProxyPreface(Buffer.from(bytes as string, 'latin1'));

test.each([
  ['PROXY TCP4 192.0.2.7 198.51.100.1 12345 443\r\n', '192.0.2.7', 12_345, '198.51.100.1', 443],
  ['PROXY TCP6 2001:DB8::1 ::1 1 65535\r\n', '2001:db8::1', 1, '::1', 65_535],
  ['PROXY TCP6 ::ffff:192.0.2.7 ::ffff:198.51.100.1 1 2\r\n', '192.0.2.7', 1, '198.51.100.1', 2],
])('version 1 names the visitor: %j', (text, remoteAddress, remotePort, address, port) => {
  expect(read(`${text}GET / HTTP/1.1\r\n`)).toEqual({ kind: 'header', length: text.length, origin: { remoteAddress, remotePort, local: { address, port } } });
});

test('version 2 names the visitor, whatever else it holds', () => {
  expect(readProxyPreface(v2(0x21, 0x11, ipv4))).toEqual({
    kind: 'header',
    length: 28,
    origin: { remoteAddress: '192.0.2.7', remotePort: 12_345, local: { address: '198.51.100.1', port: 443 } },
  });
  expect(readProxyPreface(Buffer.concat([v2(0x21, 0x11, [...ipv4, 4, 0, 1, 0]), Buffer.from('GET /')]))).toMatchObject({
    length: 32,
    origin: { remoteAddress: '192.0.2.7' },
  });
  // A field without a meaning fills it up to the longest.
  expect(readProxyPreface(v2(0x21, 0x11, [...ipv4, 4, 505 >> 8, 505 & 255, ...Array.from({ length: 505 }, () => 0)]))).toMatchObject({ length: 536 });
  expect(readProxyPreface(v2(0x21, 0x21, ipv6))).toMatchObject({
    length: 52,
    origin: { remoteAddress: '::1', remotePort: 80, local: { address: '2001:db8::2', port: 443 } },
  });
});

test('a header without an address leaves the peer as the visitor', () => {
  const long = `PROXY UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535\r\n`;
  for (const text of ['PROXY UNKNOWN\r\n', long, `PROXY UNKNOWN ${'x'.repeat(91)}\r\n`]) {
    expect(read(text)).toEqual({ kind: 'header', length: text.length, origin: undefined });
  }
  for (const bytes of [v2(0x20, 0, []), v2(0x20, 0x11, ipv4), v2(0x21, 0, []), v2(0x21, 0x31, Array.from({ length: 216 }, () => 0))]) {
    expect(readProxyPreface(bytes)).toEqual({ kind: 'header', length: bytes.length, origin: undefined });
  }
});

test('every beginning of a header asks for more, and nothing else does', () => {
  for (const header of [Buffer.from('PROXY TCP4 192.0.2.7 198.51.100.1 12345 443\r\n'), v2(0x21, 0x11, ipv4)]) {
    for (let length = 0; length < header.length; length++) expect(readProxyPreface(header.subarray(0, length))).toEqual({ kind: 'incomplete' });
  }
  for (const text of ['GET / HTTP/1.1', 'PUT / HTTP', 'PROPFIND', 'proxy TCP4', '\x16\x03\x01', '\r\nGET', '\r\n\r\nGET']) {
    expect(read(text)).toEqual({ kind: 'none' });
  }
});

describe('bytes that begin like a header but are invalid are refused', () => {
  test.each([
    'PROXY TCP4 192.0.2.7 198.51.100.1 12345\r\n',
    'PROXY TCP4 192.0.2.7 198.51.100.1 12345 443 x\r\n',
    'PROXY TCP4  192.0.2.7 198.51.100.1 1 2\r\n',
    'PROXY TCP4 ::1 ::1 1 2\r\n',
    'PROXY TCP6 192.0.2.7 192.0.2.8 1 2\r\n',
    'PROXY TCP4 ::1 192.0.2.8 1 2\r\n',
    'PROXY TCP4 192.0.2.7 ::1 1 2\r\n',
    'PROXY TCP4 192.0.2.256 192.0.2.8 1 2\r\n',
    'PROXY TCP4 192.0.2.7 192.0.2.8 65536 2\r\n',
    'PROXY TCP4 192.0.2.7 192.0.2.8 1 65536\r\n',
    'PROXY TCP4 192.0.2.7 192.0.2.8 01 2\r\n',
    'PROXY TCP4 192.0.2.7 192.0.2.8 -1 2\r\n',
    'PROXY TCP6 fe80::1%1 ::1 1 2\r\n',
    'PROXY UDP4 192.0.2.7 192.0.2.8 1 2\r\n',
    'PROXY tcp4 192.0.2.7 192.0.2.8 1 2\r\n',
    'PROXY UNKNOWNx\r\n',
    'PROXY UNKNOWN \0\r\n',
    'PROXY / HTTP/1.1\r\n',
    `PROXY UNKNOWN ${'x'.repeat(92)}\r\n`,
    `PROXY ${'x'.repeat(101)}`,
  ])('%j', (text) => {
    expect(read(text)).toEqual({ kind: 'invalid' });
  });

  test.each([
    ['another version', v2(0x11, 0x11, ipv4)],
    ['an unknown command', v2(0x22, 0x11, ipv4)],
    ['an unknown family', v2(0x21, 0x41, ipv4)],
    ['datagrams', v2(0x21, 0x12, ipv4)],
    ['an unknown transport', v2(0x21, 0x13, ipv4)],
    ['addresses cut short', v2(0x21, 0x11, ipv4.slice(1))],
    ['more than 536 bytes', v2(0x21, 0x11, ipv4, 521)],
  ])('version 2 with %s', (_what, bytes) => {
    expect(readProxyPreface(bytes)).toEqual({ kind: 'invalid' });
  });
});
