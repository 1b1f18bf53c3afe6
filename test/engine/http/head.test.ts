import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Field, listOf, valuesOf } from '../../../src/engine/http/field.ts';
import { asItGrows, formatHead, HEAD_LIMITS, MAX_FIELDS, MAX_HEAD, parseRequestHead, parseResponseHead } from '../../../src/engine/http/head.ts';
import { RequestReader } from '../../../src/engine/http/request-reader.ts';
import { ResponseReader } from '../../../src/engine/http/response-reader.ts';
import { HttpSyntaxError } from '../../../src/engine/http/syntax-error.ts';
import { anyCharacter } from '../../support/any-character.ts';
import { sized } from '../../support/endurance.ts';
import { longestHold } from '../../support/thread-time.ts';

const runs = { numRuns: sized(200, 100_000) };
const LONG = sized(20_000, 600_000);
const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
const request = (fields: string): Buffer => bytes(`GET / HTTP/1.1\r\n${fields}\r\n\r\n`);

/** What parsing throws, as its status; undefined = it threw nothing. */
function refusal(parse: () => unknown): number | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    if (error instanceof HttpSyntaxError) return error.status;
    throw error;
  }
}

test('a request head is read up to its empty line, and no further', () => {
  expect(parseRequestHead(bytes('POST http://a/b?c HTTP/1.1\r\nHost: a\r\nX-Empty:\r\nX:\t y z \t\r\n\r\nbody'))).toEqual({
    method: 'POST',
    target: 'http://a/b?c',
    minor: 1,
    length: 60,
    fields: [{ name: 'Host', value: 'a' }, { name: 'X-Empty', value: '' }, { name: 'X', value: 'y z' }],
  });
});

test('a response head may have a reason, an empty one or none', () => {
  expect(parseResponseHead(bytes('HTTP/1.1 200 All right\r\n\r\n'))).toMatchObject({ status: 200, reason: 'All right', minor: 1, fields: [] });
  expect(parseResponseHead(bytes('HTTP/1.0 404 \r\nA: b\r\n\r\n'))).toMatchObject({ status: 404, reason: '', minor: 0 });
  expect(parseResponseHead(bytes('HTTP/1.1 204\r\n\r\n'))).toMatchObject({ status: 204, reason: '' });
});

test.each([
  ['a bare LF', bytes('GET / HTTP/1.1\nHost: a\r\n\r\n'), 400],
  ['a bare LF before the end is there', bytes('GET / HTTP/1.1\n'), 400],
  ['a bare CR', request('A: b\rC: d'), 400],
  ['a CR too much', bytes('GET / HTTP/1.1\r\r\n\r\n'), 400],
  ['a CR too much at the last field', request('A: b\r'), 400],
  ['a NUL', request('A: b\0c'), 400],
  ['the beginning of TLS', Buffer.from('16030100f0010000', 'hex'), 400],
  ['a control character', request('A: b\x01c'), 400],
  ['a folded line', request('A: b\r\n c'), 400],
  ['a folded line with a tab', request('A: b\r\n\tc: d'), 400],
  ['a blank before the colon', request('A : b'), 400],
  ['a tab before the colon', request('A\t: b'), 400],
  ['no colon', request('A'), 400],
  ['no name', request(': b'), 400],
  ['a name that is no token', request('A(b): c'), 400],
  ['an empty request line', bytes('\r\n\r\n'), 400],
  ['an empty line before the request line', bytes('\r\nGET / HTTP/1.1\r\n\r\n'), 400],
  ['a blank too much in the request line', bytes('GET  / HTTP/1.1\r\n\r\n'), 400],
  ['a blank behind the request line', bytes('GET / HTTP/1.1 \r\n\r\n'), 400],
  ['a blank in the target', bytes('GET /a b HTTP/1.1\r\n\r\n'), 400],
  ['no version', bytes('GET /\r\n\r\n'), 400],
  ['a version in small letters', bytes('GET / http/1.1\r\n\r\n'), 400],
  ['HTTP/2', bytes('PRI * HTTP/2.0\r\n\r\n'), 505],
  ['HTTP/0.9 by number', bytes('GET / HTTP/0.9\r\n\r\n'), 505],
  ['a head that is too long', request(`A: ${'b'.repeat(MAX_HEAD)}`), 431],
  ['a head without an end', bytes(`GET /${'a'.repeat(MAX_HEAD)}`), 431],
  ['too many fields', request(Array.from({ length: MAX_FIELDS + 1 }, () => 'A: b').join('\r\n')), 431],
])('a request with %s is refused', (_, head, status) => {
  expect(refusal(() => parseRequestHead(head))).toBe(status);
});

test('a head has at most 32 KB, its empty line included, and 128 fields, and takes exactly so much', () => {
  const ofBytes = (length: number) => `GET / HTTP/1.1\r\nA: ${'b'.repeat(length - 23)}\r\n\r\n`;
  const ofFields = (count: number) => `GET / HTTP/1.1\r\n${'A: b\r\n'.repeat(count)}\r\n`;
  const responseOf = (head: string) => bytes(head.replace('GET / HTTP/1.1', 'HTTP/1.1 200 O'));
  for (const [head, tooMuch] of [[ofBytes(32_768), ofBytes(32_769)], [ofFields(128), ofFields(129)]] as const) {
    expect(parseRequestHead(bytes(head))?.length).toBe(head.length);
    expect(parseResponseHead(responseOf(head))?.length).toBe(head.length);
    expect([refusal(() => parseRequestHead(bytes(tooMuch))), refusal(() => parseResponseHead(responseOf(tooMuch)))]).toEqual([431, 431]);
  }
  // Without an end, it is refused as soon as it is as long.
  expect(parseRequestHead(bytes(ofBytes(40_000)).subarray(0, 32_767))).toBeUndefined();
  expect(refusal(() => parseRequestHead(bytes(ofBytes(40_000)).subarray(0, 32_768)))).toBe(431);
});

test.each(['HTTP/1.1 20 OK', 'HTTP/1.1 2000 OK', 'HTTP/1.1 600 OK', 'HTTP/1.1  200 OK', 'HTTP/1.1 200\tOK', 'ICY 200 OK', 'HTTP/2 200 OK'])(
  'the status line %j is refused',
  (line) => {
    expect(refusal(() => parseResponseHead(bytes(`${line}\r\n\r\n`)))).toBe(400);
  },
);

test('values and lists are found whatever the case of their names', () => {
  const fields = [Field.of('Connection', 'a, B'), Field.of('x', 'y'), Field.of('CONNECTION', ',c ,')];
  expect(valuesOf(fields, 'connection')).toEqual(['a, B', ',c ,']);
  expect(listOf(fields, 'connection')).toEqual(['a', 'b', 'c']);
});

const token = fc.stringMatching(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,20}$/);
const value = fc.stringMatching(/^([\x21-\x7e\x80-\xff]([\t\x20-\x7e\x80-\xff]{0,30}[\x21-\x7e\x80-\xff])?)?$/);
const fields = fc.array(fc.tuple(token, value).map(([name, text]) => Field.of(name, text)), { maxLength: 4 });
const target = fc.stringMatching(/^[\x21-\x7e\x80-\xff]{1,40}$/);

test('a written head parses as the same head, whatever follows it', () => {
  fc.assert(
    fc.property(token, target, fields, fc.string({ maxLength: 10 }), (method, to, written, more) => {
      const head = formatHead(`${method} ${to} HTTP/1.1`, written);
      expect(parseRequestHead(Buffer.concat([head, Buffer.from(more)]))).toEqual({ method, target: to, minor: 1, fields: written, length: head.length });
    }),
    runs,
  );
}, LONG);

test('no beginning of a head is taken for a whole one, and none is refused', () => {
  fc.assert(
    fc.property(token, target, fields, fc.nat(), (method, to, written, cut) => {
      const head = formatHead(`${method} ${to} HTTP/1.1`, written);
      expect(parseRequestHead(head.subarray(0, cut % head.length))).toBeUndefined();
    }),
    runs,
  );
}, LONG);

/** Something like a head: valid lines, and what could be taken for them. */
const nearly = fc.array(
  fc.oneof(
    fc.constantFrom(
      'GET / HTTP/1.1',
      'HTTP/1.1 200 OK',
      'Host: a',
      '\r\n',
      '\r\n\r\n',
      '\n',
      '\r',
      '\0',
      ' ',
      '\t',
      ':',
      'Content-Length: 1',
      'Transfer-Encoding: chunked',
    ),
    fc.string({ unit: anyCharacter, maxLength: 5 }),
  ),
  { maxLength: 12 },
).map((parts) => bytes(parts.join('')));

test('any bytes are a head that reads the same again, too short, or refused', () => {
  fc.assert(
    fc.property(nearly, (some) => {
      for (const [parse, start] of [[parseRequestHead, requestLineOf], [parseResponseHead, statusLineOf]] as const) {
        const parsed = attempt(() => parse(some));
        if (parsed === undefined) continue;
        const again = parse(formatHead(start(parsed), parsed.fields));
        expect({ ...again, length: 0 }).toEqual({ ...parsed, length: 0 });
        if (parsed.fields.some(({ name, value: text }) => /[\r\n\0]/.test(name + text))) throw new Error('a field holds a line end');
      }
    }),
    runs,
  );
}, LONG);

interface AnyHead {
  readonly minor: number;
  readonly fields: Parameters<typeof formatHead>[1];
  readonly method?: string;
  readonly target?: string;
  readonly status?: number;
  readonly reason?: string;
}
const requestLineOf = ({ method, target: to, minor }: AnyHead): string => `${method} ${to} HTTP/1.${minor}`;
const statusLineOf = ({ status, reason, minor }: AnyHead): string => `HTTP/1.${minor} ${status} ${reason}`;

function attempt<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch (error) {
    expect(error).toBeInstanceOf(HttpSyntaxError);
    return undefined;
  }
}

test('a head that arrives byte by byte is only parsed again when that can change the result', () => {
  const head = bytes(`GET / HTTP/1.1\r\nHost: a\r\n${'X: y\r\n'.repeat(100)}\r\n`);
  let readings = 0;
  const parse = asItGrows((some) => {
    readings++;
    return parseRequestHead(some);
  });
  for (let end = 1; end < head.length; end++) expect(parse(head.subarray(0, end))).toBeUndefined();
  expect(parse(head)).toEqual(parseRequestHead(head));
  expect(readings).toBe(2);
});

test('a head that comes in pieces reads the same, and is refused as early', () => {
  fc.assert(
    fc.property(nearly, fc.array(fc.nat(), { maxLength: 4 }), (some, cuts) => {
      const parse = asItGrows(parseRequestHead);
      for (const end of [...cuts.map((cut) => cut % (some.length + 1)).toSorted((a, b) => a - b), some.length]) {
        const whole = outcome(() => parseRequestHead(some.subarray(0, end)));
        expect(outcome(() => parse(some.subarray(0, end)))).toEqual(whole);
        if (whole !== undefined) return;
      }
    }),
    runs,
  );
}, LONG);

/** What parsing makes of it, a refusal included. */
function outcome(parse: () => unknown): unknown {
  try {
    return parse();
  } catch (error) {
    return error;
  }
}

test('a request and a response whose heads come byte by byte cost little', async () => {
  const fields = `Host: a\r\nX: ${'y'.repeat(31_000)}\r\n\r\n`;
  const nothing = (): void => undefined;
  const requests = new RequestReader({ onHeadBegun: nothing, onHead: nothing, onBody: nothing, onBodyOver: nothing, onAhead: nothing }, HEAD_LIMITS);
  const response = new ResponseReader('GET', { onInterim: nothing, onHead: nothing, onBody: nothing });
  const readers = [[`GET / HTTP/1.1\r\n${fields}`, (byte: Buffer) => requests.read(byte)], [
    `HTTP/1.1 204 \r\n${fields}`,
    (byte: Buffer) => response.push(byte),
  ]] as const;
  for (const [head, read] of readers) {
    const all = bytes(head);
    const work = async (): Promise<void> => {
      for (let at = 0; at < all.length; at++) read(all.subarray(at, at + 1));
      return Promise.resolve();
    };
    // Read again for each byte, it is more than a second.
    expect(await longestHold(work)).toBeLessThan(800);
  }
  expect(requests.over && response.over).toBe(true);
}, LONG);
