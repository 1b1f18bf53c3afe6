import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BodyEnd, type Framing, passedTrailer, requestFraming, responseFraming } from '../../../src/engine/http/body.ts';
import { Dechunker } from '../../../src/engine/http/dechunk.ts';
import { endToEnd, endToEndOfResponse } from '../../../src/engine/http/end-to-end.ts';
import { Field } from '../../../src/engine/http/field.ts';
import { InterimLimit } from '../../../src/engine/http/interim-limit.ts';
import { HttpSyntaxError } from '../../../src/engine/http/syntax-error.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { sized } from '../../support/endurance.ts';
import { longestHold } from '../../support/thread-time.ts';

const runs = { numRuns: sized(200, 100_000) };
const LONG = sized(20_000, 600_000);
const chunked: Framing = { kind: 'chunked' };
const none: Framing = { kind: 'length', bytes: 0 };

const fieldsOf = (lines: readonly string[]) => lines.map((line) => Field.of(line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)));
const ofRequest = (minor: 0 | 1, ...lines: string[]) => requestFraming({ minor, fields: fieldsOf(lines) });
const ofResponse = (method: string, status: number, minor: 0 | 1, ...lines: string[]) => responseFraming({ status, minor, fields: fieldsOf(lines) }, method);

test('the body of a request has a length, is chunked, or is empty', () => {
  expect(ofRequest(1)).toEqual(none);
  expect(ofRequest(1, 'Content-Length:12')).toEqual({ kind: 'length', bytes: 12 });
  expect(ofRequest(1, 'transfer-encoding:Chunked')).toEqual(chunked);
});

test('the body of a response has a length, is chunked, is empty, or ends with the connection', () => {
  expect(ofResponse('GET', 200, 1)).toEqual({ kind: 'close' });
  expect(ofResponse('GET', 200, 1, 'Content-Length:12')).toEqual({ kind: 'length', bytes: 12 });
  expect(ofResponse('GET', 200, 1, 'Transfer-Encoding:gzip, chunked')).toEqual(chunked);
  for (const status of [100, 199, 204, 304]) expect(ofResponse('GET', status, 1, 'Content-Length:12')).toEqual(none);
  for (const status of [200, 203, 205, 303, 305]) expect(ofResponse('GET', status, 1, 'Content-Length:12')).toEqual({ kind: 'length', bytes: 12 });
  expect(ofResponse('HEAD', 200, 1, 'Transfer-Encoding:chunked')).toEqual(none);
});

test.each(
  [
    ['a length and chunks', 1, ['Content-Length:1', 'Transfer-Encoding:chunked'], 400],
    ['two lengths', 1, ['Content-Length:1', 'Content-Length:2'], 400],
    ['the same length twice', 1, ['Content-Length:1', 'content-length:1'], 400],
    ['a list of lengths', 1, ['Content-Length:1, 1'], 400],
    ['a length with a sign', 1, ['Content-Length:+1'], 400],
    ['a length with leading zeros', 1, ['Content-Length:05'], 400],
    ['a length of zeros', 1, ['Content-Length:00'], 400],
    ['a negative length', 1, ['Content-Length:-1'], 400],
    ['a hexadecimal length', 1, ['Content-Length:0x1'], 400],
    ['an empty length', 1, ['Content-Length:'], 400],
    ['a length beyond all numbers', 1, ['Content-Length:9999999999999999'], 400],
    ['chunks in HTTP/1.0', 0, ['Transfer-Encoding:chunked'], 400],
    ['an empty coding', 1, ['Transfer-Encoding:'], 400],
    ['an empty coding behind chunks', 1, ['Transfer-Encoding:chunked,'], 400],
    ['an empty coding before chunks', 1, ['Transfer-Encoding: ,chunked'], 400],
    ['an empty coding beside chunks', 1, ['Transfer-Encoding:chunked', 'Transfer-Encoding:'], 400],
    ['chunks twice', 1, ['Transfer-Encoding:chunked', 'Transfer-Encoding:chunked'], 400],
    ['another coding', 1, ['Transfer-Encoding:gzip, chunked'], 501],
    ['identity', 1, ['Transfer-Encoding:identity'], 400],
    ['a blank that only some programs know', 1, ['Transfer-Encoding:\xa0chunked'], 400],
  ] as const,
)('a request with %s is refused', (_, minor, lines, status) => {
  expect(() => ofRequest(minor, ...lines)).toThrow(expect.objectContaining({ name: 'HttpSyntaxError', status }));
});

test.each(
  [
    ['a length and chunks', 1, ['Content-Length:1', 'Transfer-Encoding:chunked']],
    ['two lengths', 1, ['Content-Length:1', 'Content-Length:1']],
    ['chunks that are coded again', 1, ['Transfer-Encoding:chunked, gzip']],
    ['chunks twice', 1, ['Transfer-Encoding:chunked, chunked']],
    ['an empty coding', 1, ['Transfer-Encoding:chunked,']],
    ['chunks in HTTP/1.0', 0, ['Transfer-Encoding:chunked']],
  ] as const,
)('a response with %s is refused, to HEAD too', (_, minor, lines) => {
  for (const method of ['GET', 'HEAD']) expect(() => ofResponse(method, 200, minor, ...lines)).toThrow(HttpSyntaxError);
});

test('a coding that is known, and not supported, is no attack', () => {
  for (const coding of ['gzip', 'x-gzip', 'deflate', 'compress', 'x-compress']) {
    expect(() => ofRequest(1, `Transfer-Encoding:${coding}, chunked`)).toThrow(expect.objectContaining({ status: 501 }));
  }
  expect(() => ofRequest(1, 'Transfer-Encoding:chunked, gzip, chunked')).toThrow(expect.objectContaining({ status: 400 }));
});

/** Whether something that may throw {@link HttpSyntaxError} does not. */
function accepted(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(HttpSyntaxError);
    return false;
  }
}

const chunks = (text: string) => bodyOf(chunked, [Buffer.from(text)]);
const filled = (begin: string, length: number, end: string) => begin + 'x'.repeat(length - begin.length - end.length) + end;

test.each<[string, number, (count: number) => unknown]>([
  ["bytes of the line with a chunk's size", 256, (bytes) => chunks(filled('1;', bytes, '\r\n'))],
  ["digits of a chunk's size", 12, (digits) => chunks(`${'1'.padStart(digits, '0')}\r\na`)],
  ["digits of a complete chunk's size", 12, (digits) => chunks(`${'1'.padStart(digits, '0')}\r\na\r\n`)],
  ['bytes of a trailer', 8192, (bytes) => chunks(`0\r\n${filled('A: ', bytes, '\r\n')}\r\n`)],
  ['bytes of a trailer of two lines, without the first line end', 8192, (bytes) => chunks(`0\r\nB: b\r\n${filled('A: ', bytes - 4, '\r\n')}\r\n`)],
  ['fields of a trailer', 128, (fields) => chunks(`0\r\n${'A: b\r\n'.repeat(fields)}\r\n`)],
  ['fields of a trailer over HTTP/2', 128, (fields) => passedTrailer(Array.from({ length: fields }, () => Field.of('A', 'b')))],
  ['bytes of a trailer over HTTP/2', 8192, (bytes) => passedTrailer([Field.of('A', 'b'), Field.of('B', 'x'.repeat(bytes - 11))])],
  ["digits of a request's length", 15, (digits) => ofRequest(1, `Content-Length:${'9'.repeat(digits)}`)],
  ["digits of a response's length", 15, (digits) => ofResponse('GET', 200, 1, `Content-Length:${'9'.repeat(digits)}`)],
  ['interim responses', 16, (responses) => {
    const limit = new InterimLimit();
    for (let count = 0; count < responses; count++) limit.count({ status: 103, reason: '', minor: 1, fields: [], length: 30 });
  }],
  ['bytes of interim responses', 65_536, (bytes) => {
    const limit = new InterimLimit();
    for (const length of [30, bytes - 30]) limit.count({ status: 103, reason: '', minor: 1, fields: [], length });
  }],
])('there may be so many %s, and no more: %i', (_, most, read) => {
  expect([most, most + 1].map((count) => accepted(() => read(count)))).toEqual([true, false]);
});

test('of a message, all fields go on that concern its other end, and none that concerns the connection', () => {
  const onward = ['Host', 'Trailer', 'X-Forwarded-For', 'X-Real-IP', 'X-Forwarded-Proto', 'X-Forwarded-Host', 'Authorization', 'Cookie', 'Server'];
  const own = ['Keep-Alive', 'Proxy-Connection', 'Proxy-Authorization', 'Proxy-Authenticate', 'TE', 'Upgrade', 'HTTP2-Settings', 'Proxy', 'X-Own'];
  const length = ['Content-Length:007'];
  // What Connection names is withheld, too, unless that would change where the message ends, where it goes, or who sent it.
  const named = [...onward, 'Content-Length', 'X-Own', 'Connection'].filter((name) => name !== 'Server').join();
  const fields = fieldsOf([`Connection:${named}`, ...[...onward, ...own].map((name) => `${name}:a`), ...length]);
  expect(endToEnd(fields).map(({ name, value }) => `${name}:${value}`)).toEqual([...onward.map((name) => `${name}:a`), 'Content-Length:7']);
  expect(endToEnd(fieldsOf(['Transfer-Encoding:GZIP,  Chunked', 'Connection:transfer-encoding'])).map(({ value }) => value)).toEqual(['gzip, chunked']);
  expect(endToEnd(fieldsOf(['Keep_Alive:a', 'Content_Length:1', 'Transfer_Encoding:chunked', 'X_Own:b'])).map(({ name }) => name)).toEqual(['X_Own']);
});

test('a response without a body does not describe one', () => {
  const fields = fieldsOf(['Content-Length:3', 'Transfer-Encoding:chunked', 'Trailer:a', 'A:b']);
  const passed = (status: number, minor: 0 | 1 = 1) => endToEndOfResponse(fields, { status, minor }).map(({ name }) => name).join();
  expect([100, 199, 204].map((status) => passed(status))).toEqual(['A', 'A', 'A']);
  expect([passed(304), passed(200, 0)]).toEqual(['Content-Length,A', 'Content-Length,A']);
  expect([200, 203, 205, 303, 305].map((status) => passed(status))).toEqual(Array.from({ length: 5 }, () => 'Content-Length,Transfer-Encoding,Trailer,A'));
});

/** Feeds `pieces` to a body: the bytes that belong to it, and what is passed on of them. */
function bodyOf(framing: Framing, pieces: readonly Uint8Array[]): { readonly taken: Buffer; readonly passed: string; readonly over: boolean } {
  const end = new BodyEnd(framing);
  const [taken, passed]: [Uint8Array[], Buffer[]] = [[], []];
  for (const piece of pieces) {
    const read = end.take(Buffer.from(piece));
    taken.push(piece.subarray(0, read.taken));
    passed.push(read.passed);
  }
  return { taken: Buffer.concat(taken), passed: Buffer.concat(passed).toString('latin1'), over: end.over };
}

test.each([
  ['a size that is no number', 'x\r\n'],
  ['no size', '\r\n'],
  ['a size with a sign', '+1\r\na\r\n'],
  ['a size with a prefix', '0x1\r\na\r\n'],
  ['a blank behind the size', '1 \r\na\r\n'],
  ['a blank before the size', ' 1\r\na\r\n'],
  ['a size beyond all numbers', 'fffffffffffff\r\n'],
  ['a bare LF behind the size', '1\na\r\n'],
  ['a bare CR behind the size', '1\ra\r\n'],
  ['a chunk longer than its size', '1\r\nab\r\n'],
  ['a bare LF behind a chunk', '1\r\na\n'],
  ['a byte and a CR behind a chunk', '1\r\n\0\x000\r'],
  ['a line without end', 'a'.repeat(300)],
  ['an extension without end', `1;${'a'.repeat(300)}`],
  ['a NUL in an extension', '1;\0\r\n'],
  ['a trailer that is no field', '0\r\nA b\r\n'],
  ['a folded trailer', '0\r\nA: b\r\n c\r\n'],
  ['a trailer without end', `0\r\n${'A: b\r\n'.repeat(2000)}`],
  ['a long trailer', `0\r\nA: ${'b'.repeat(9000)}`],
])('a chunked body with %s is refused', (_, text) => {
  expect(() => bodyOf(chunked, [Buffer.from(text, 'latin1')])).toThrow(HttpSyntaxError);
  expect(() => bodyOf(chunked, Array.from(Buffer.from(text, 'latin1'), (byte) => Uint8Array.of(byte)))).toThrow(HttpSyntaxError);
});

test('a connection that ends in the middle of a body is an error, unless its end is that of the body', () => {
  for (const [framing, text] of [[{ kind: 'length', bytes: 3 }, 'ab'], [chunked, '2\r\nab\r\n'], [chunked, '0\r\n']] as const) {
    const end = new BodyEnd(framing);
    end.take(Buffer.from(text));
    expect(() => end.end()).toThrow(HttpSyntaxError);
  }
  const end = new BodyEnd({ kind: 'close' });
  expect(end.take(Buffer.from('abc'))).toEqual({ taken: 3, passed: Buffer.from('abc') });
  end.end();
  expect(end.over).toBe(true);
});

const trailer = fc.array(fc.stringMatching(/^X-[A-Za-z-]{1,10}: ?[!-~]{0,20}$/), { maxLength: 3 });
const extension = fc.stringMatching(/^(;[a-z]{1,5}(=[a-z"]{1,5})?){0,2}$/);
const body = fc.tuple(
  fc.array(fc.tuple(fc.string({ minLength: 1, maxLength: 20 }).map((text) => Buffer.from(text)), extension), { maxLength: 3 }),
  extension,
  trailer,
).map(([chunks, last, fields]) =>
  Buffer.concat([
    ...chunks.flatMap(([data, extra]) => [Buffer.from(`${data.length.toString(16)}${extra}\r\n`), data, Buffer.from('\r\n')]),
    Buffer.from(`0${last}\r\n${fields.map((field) => `${field}\r\n`).join('')}\r\n`),
  ])
);

function cutUp(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return at.slice(1).map((to, i) => bytes.subarray(at[i], to));
}

test('a chunked body ends where it ends, however it is cut up and whatever follows it', () => {
  fc.assert(
    fc.property(body, fc.string({ maxLength: 10 }), fc.array(fc.nat(), { maxLength: 5 }), (whole, more, cuts) => {
      const { taken, passed, over } = bodyOf(chunked, cutUp(Buffer.concat([whole, Buffer.from(more)]), cuts));
      expect(over && taken.equals(whole)).toBe(true);
      expect(passed.replaceAll(': ', ':')).toBe(whole.toString('latin1').replaceAll(': ', ':'));
    }),
    runs,
  );
}, LONG);

const withheld = [
  'Content-Length: 5',
  'content_length: 5',
  'Transfer-Encoding: chunked',
  'Transfer_Encoding: chunked',
  'Host: other.test',
  'Connection: close',
  'Keep-Alive: a',
  'Upgrade: a',
  'HTTP2-Settings: a',
  'Proxy-Connection: a',
  'Proxy-Authorization: a',
  'Proxy-Authenticate: a',
  'Trailer: X',
  'TE: trailers',
  'Expect: x',
  'Cookie: a=b',
  'Set-Cookie: a=b',
  'Authorization: Basic x',
  'X-Forwarded-For: 192.0.2.1',
  'x_forwarded_for: 192.0.2.1',
  'X-Real-IP: 192.0.2.1',
  'X-Forwarded-Proto: https',
  'X-Forwarded-Host: a',
  'Forwarded: for=a',
  'Proxy: a',
];

test('a trailer is forwarded without fields for routing, framing or identity, however it is split', () => {
  const lines = fc.array(fc.constantFrom('X-Sum: 1', 'ETag: "a"', ...withheld), { maxLength: 6 });
  expect(passedTrailer(fieldsOf([...withheld, 'A:b'])).map(({ name }) => name)).toEqual(['A']);
  fc.assert(
    fc.property(lines, fc.array(fc.nat(), { maxLength: 5 }), (trailers, cuts) => {
      const begin = '5\r\nhello\r\n0\r\n';
      const { passed, over } = bodyOf(chunked, cutUp(Buffer.from(`${begin}${trailers.map((one) => `${one}\r\n`).join('')}\r\n`), cuts));
      expect(over).toBe(true);
      expect(passed).toBe(`${begin}${trailers.filter((one) => !withheld.includes(one)).map((one) => `${one}\r\n`).join('')}\r\n`);
    }),
    runs,
  );
}, LONG);

test('a body of a length ends where it ends', () => {
  fc.assert(
    fc.property(fc.nat({ max: 60 }), fc.nat({ max: 60 }), fc.array(fc.nat(), { maxLength: 5 }), (length, more, cuts) => {
      const bytes = Buffer.from(Array.from({ length: length + more }, (_, at) => at));
      const { taken, over } = bodyOf({ kind: 'length', bytes: length }, cutUp(bytes, cuts));
      expect(over && taken.equals(bytes.subarray(0, length))).toBe(true);
    }),
    runs,
  );
}, LONG);

const nearly = fc.array(
  fc.oneof(
    fc.constantFrom('0', '1', 'a', 'ff', '\r\n', '\r', '\n', ';', 'A: b', ':', ' ', '0\r\n\r\n', '2\r\nab\r\n', '\0'),
    fc.string({ unit: anyCharacter, maxLength: 3 }),
  ),
  { maxLength: 12 },
).map((parts) => Buffer.from(parts.join(''), 'latin1'));

test('any bytes are refused or taken, however they are cut up', () => {
  fc.assert(
    fc.property(nearly, fc.array(fc.nat(), { maxLength: 4 }), (bytes, cuts) => {
      const outcome = (pieces: readonly Buffer[]): string => {
        try {
          const { taken, passed, over } = bodyOf(chunked, pieces);
          return `${taken.toString('latin1')} ${passed} ${over}`;
        } catch (error) {
          expect(error).toBeInstanceOf(HttpSyntaxError);
          return 'refused';
        }
      };
      expect(outcome(cutUp(bytes, cuts))).toBe(outcome([bytes]));
    }),
    runs,
  );
}, LONG);

test('chunks of one byte are read without a text for each, and their content goes on as one piece', async () => {
  const chunks = Buffer.from('1\r\na\r\n'.repeat(1_000_000));
  const work = async (): Promise<void> => {
    expect(new BodyEnd(chunked).take(chunks).taken).toBe(chunks.length);
    return Promise.resolve();
  };
  await work();
  // With texts it is half a second.
  expect(await longestHold(work)).toBeLessThan(250);
  expect(new Dechunker().push(chunks).length).toBe(1_000_000);
});

test('after the end of a body nothing more is taken, and its trailer is not passed on again', () => {
  const body = new BodyEnd(chunked);
  const whole = Buffer.from('1\r\na\r\n0\r\nX: 1\r\n\r\n');
  expect(body.take(whole)).toMatchObject({ taken: whole.length });
  const { taken, passed } = body.take(Buffer.from('GET / HTTP/1.1\r\n'));
  expect([taken, passed.length]).toEqual([0, 0]);
});
