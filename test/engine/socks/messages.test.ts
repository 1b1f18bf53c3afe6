import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DATAGRAM_START, formatReply, parseDatagram, parseGreeting, parseLogin, parseRequest, SocksError } from '../../../src/engine/socks/messages.ts';
import { socksAddress } from '../../../src/wire/socks-address.ts';
import { sized } from '../../support/endurance.ts';

const runs = { numRuns: sized(200, 100_000) };
const LONG = sized(20_000, 600_000);
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

/** The reply code that a request is refused with; undefined = it is read, or too short. */
function refusal(bytes: Buffer): number | undefined {
  try {
    parseRequest(bytes);
    return undefined;
  } catch (error) {
    if (error instanceof SocksError) return error.reply;
    throw error;
  }
}

test('a greeting names the ways to log in', () => {
  expect(parseGreeting(hex('05 02 00 02 05'))).toEqual({ methods: [0, 2], length: 4 });
  expect(parseGreeting(hex('05 00'))).toEqual({ methods: [], length: 2 });
  for (const short of ['', '05', '05 01', '05 02 00']) expect(parseGreeting(hex(short))).toBeUndefined();
  for (const wrong of ['04 01 00 50', '47 45 54 20', '00']) expect(() => parseGreeting(hex(wrong))).toThrow(SocksError);
});

test('a login is read byte by byte', () => {
  const login = Buffer.concat([hex('01 02'), Buffer.from('me'), hex('06'), Buffer.from('söhne')]);
  expect(parseLogin(Buffer.concat([login, hex('05')]))).toEqual({ user: 'me', password: 'söhne', length: login.length });
  expect(parseLogin(hex('01 00 00'))).toEqual({ user: '', password: '', length: 3 });
  for (let length = 0; length < login.length; length++) expect(parseLogin(login.subarray(0, length))).toBeUndefined();
  expect(() => parseLogin(hex('05 01 41 01 42'))).toThrow(SocksError);
});

test.each([
  ['an IPv4 address', '05 01 00 01 7f000001 0050', '127.0.0.1:80'],
  ['an IPv6 address', '05 01 00 04 00000000000000000000000000000001 1f90', '[::1]:8080'],
  ['a name', '05 01 00 03 09 6c6f63616c686f7374 0001', 'localhost:1'],
  ['an absolute name', '05 01 00 03 0a 6c6f63616c686f73742e 0001', 'localhost:1'],
  ['an address as a name', '05 01 00 03 03 3a3a31 0001', '[::1]:1'],
])('a request names %s', (_, request, target) => {
  const bytes = hex(request);
  expect(parseRequest(Buffer.concat([bytes, hex('ff')]))).toEqual({ command: 'connect', target, length: bytes.length });
  for (let length = 0; length < bytes.length; length++) expect(parseRequest(bytes.subarray(0, length))).toBeUndefined();
});

test('UDP ASSOCIATE may say where its datagrams will come from, or not', () => {
  expect(parseRequest(hex('05 03 00 01 00000000 0000'))).toEqual({ command: 'associate', target: '', length: 10 });
});

test.each([
  ['BIND', '05 02 00 01 7f000001 0050', 7],
  ['an unknown command', '05 09 00 01 7f000001 0050', 7],
  ['an unknown type of address', '05 01 00 02', 8],
  ['another version', '04 01 00 01 7f000001 0050', 1],
  ['a reserved byte that is set', '05 01 01', 1],
  ['port 0', '05 01 00 01 7f000001 0000', 1],
  ['an empty name', '05 01 00 03 00 0050', 1],
  ['a name with a NUL', '05 01 00 03 03 610062 0050', 1],
  ['a name that is a part of an address', '05 01 00 03 03 312e32 0050', 1],
])('%s is refused with the reply that the protocol has for it', (_, request, reply) => {
  expect(refusal(hex(request))).toBe(reply);
});

test('a reply holds an address whose type it says', () => {
  expect(formatReply(0)).toEqual(hex('05 00 00 01 00000000 0000'));
  expect(formatReply(5, { host: '::1', port: 258 })).toEqual(hex('05 05 00 04 00000000000000000000000000000001 0102'));
});

const from = fc.record({ host: fc.oneof(fc.ipV4(), fc.ipV6()), port: fc.integer({ min: 1, max: 65_535 }) });

test('of a datagram its address and its bytes are passed on, when all of them are there', () => {
  fc.assert(
    fc.property(from, fc.string({ maxLength: 20 }), fc.nat(), ({ host, port }, payload, cut) => {
      const address = socksAddress(host, port);
      const start = Buffer.concat([DATAGRAM_START, address]);
      const whole = Buffer.concat([start, Buffer.from(payload)]);
      expect([parseDatagram(whole), parseDatagram(start.subarray(0, cut % start.length))]).toEqual([whole.subarray(DATAGRAM_START.length), undefined]);
    }),
    runs,
  );
}, LONG);

test('fragments, and datagrams with bits set that are reserved, are dropped', () => {
  const good = Buffer.concat([DATAGRAM_START, socksAddress('127.0.0.1', 53), Buffer.from('x')]);
  expect(parseDatagram(good)).toBeDefined();
  for (const at of [0, 1, 2]) {
    const bad = Buffer.from(good);
    bad[at] = 1;
    expect(parseDatagram(bad)).toBeUndefined();
  }
});

const byte = fc.constantFrom(...Array.from({ length: 256 }, (_, code) => String.fromCharCode(code)));
const nearly = fc.tuple(
  fc.constantFrom('05', '0501', '050100', '05010001', '05010003', '05010004', '050300', '01', '0501000309', '000000', '00000001', '00000003', ''),
  fc.string({ unit: byte, maxLength: 30 }),
)
  .map(([start, more]) => Buffer.concat([hex(start), Buffer.from(more, 'latin1')]));

test('any bytes are read, too short, or refused with a reply; more of them change nothing', () => {
  fc.assert(
    fc.property(nearly, nearly, (bytes, more) => {
      for (const parse of [parseGreeting, parseLogin, parseRequest]) {
        const first = outcome(() => parse(bytes));
        if (first === undefined) continue;
        expect(outcome(() => parse(Buffer.concat([bytes, more])))).toEqual(first);
        if (typeof first === 'object' && first.length > bytes.length) throw new Error('more was read than there is');
      }
      const datagram = parseDatagram(bytes);
      if (datagram && !datagram.equals(bytes.subarray(3))) throw new Error('a datagram was changed');
    }),
    runs,
  );
}, LONG);

/** What was read, undefined = too short, or the reply that it is refused with. */
function outcome<T extends object>(parse: () => T | undefined): T | number | undefined {
  try {
    return parse();
  } catch (error) {
    if (error instanceof SocksError) return error.reply;
    throw error;
  }
}
