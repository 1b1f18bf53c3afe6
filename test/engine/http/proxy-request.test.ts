import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { requestFraming } from '../../../src/engine/http/body.ts';
import { Field, listOf, valuesOf } from '../../../src/engine/http/field.ts';
import { formatHead, parseRequestHead, parseResponseHead } from '../../../src/engine/http/head.ts';
import { type ProxyRequest, readProxyRequest } from '../../../src/engine/http/proxy-request.ts';
import { readProxyResponse } from '../../../src/engine/http/proxy-response.ts';
import { HttpSyntaxError } from '../../../src/engine/http/syntax-error.ts';
import { parseTarget } from '../../../src/rules/targets.ts';
import { sized } from '../../support/endurance.ts';

const runs = { numRuns: sized(200, 100_000) };
const LONG = sized(20_000, 600_000);

/** What a proxy makes of a request; undefined = it refuses it. */
function read(line: string, fields: readonly Field[]): ProxyRequest | undefined {
  try {
    const head = parseRequestHead(formatHead(line, fields));
    return head && readProxyRequest(head, () => false);
  } catch (error) {
    expect(error).toBeInstanceOf(HttpSyntaxError);
    return undefined;
  }
}

const host = [Field.of('Host', 'x')];

test.each([
  ['GET http://a.example/b?c HTTP/1.1', 'a.example:80', 'GET /b?c HTTP/1.1\r\nHost: a.example\r\n'],
  ['GET HTTP://a.example:8080 HTTP/1.1', 'a.example:8080', 'GET / HTTP/1.1\r\nHost: a.example:8080\r\n'],
  ['GET http://a.example?b HTTP/1.1', 'a.example:80', 'GET /?b HTTP/1.1\r\nHost: a.example\r\n'],
  ['OPTIONS http://[::1]:81 HTTP/1.1', '[::1]:81', 'OPTIONS * HTTP/1.1\r\nHost: [::1]:81\r\n'],
  ['GET http://[::1]/%00/..//\xe4 HTTP/1.1', '[::1]:80', 'GET /%00/..//\xe4 HTTP/1.1\r\nHost: [::1]\r\n'],
])('%s goes to %s', (line, target, start) => {
  const request = read(line, host);
  expect(request).toMatchObject({ kind: 'forward', target, last: false });
  if (request?.kind === 'forward') expect(request.head.toString('latin1')).toBe(`${start}\r\n`);
});

test.each([[true, 'Cookie: a=b', 'Set-Cookie: a=b'], [false, 'Cookie: a=b; beegosessionID=s', 'Set-Cookie: a=b, Set-Cookie: beegosessionID=evil']])(
  'sessions of the panel stay away from what is its own (%s), and from nowhere else',
  (own, cookie, planted) => {
    const head = parseRequestHead(formatHead('GET http://panel.example:8080/ HTTP/1.1', [...host, Field.of('Cookie', 'a=b; beegosessionID=s')]));
    const asked: string[] = [];
    const request = head && readProxyRequest(head, (authority) => {
      asked.push(authority);
      return own;
    });
    expect(asked).toEqual(['panel.example:8080']);
    expect(request?.kind === 'forward' && request.head.toString('latin1')).toBe(`GET / HTTP/1.1\r\nHost: panel.example:8080\r\n${cookie}\r\n\r\n`);
    const response = parseResponseHead(
      formatHead('HTTP/1.1 200 OK', [Field.of('Set-Cookie', 'a=b'), Field.of('Set-Cookie', 'beegosessionID=evil'), Field.of('Content-Length', '0')]),
    );
    const passed = response && parseResponseHead(readProxyResponse(response, { method: 'GET', minor: 1, last: false, own }).head);
    expect(passed?.fields.map(({ name, value }) => `${name}: ${value}`).slice(0, -1).join(', ')).toBe(planted);
  },
);

test.each([
  ['HTTP/1.1 200 OK', [], false],
  ['HTTP/1.1 200 OK', ['Connection: close'], true],
  ['HTTP/1.0 200 OK', [], true],
  ['HTTP/1.1 103 Early Hints', [], false],
])('after a response that begins with %s and %j its target takes no further request: %s', (line, fields, last) => {
  const response = parseResponseHead(Buffer.from([line, 'Content-Length: 0', ...fields, '', ''].join('\r\n')));
  expect(response && readProxyResponse(response, { method: 'GET', minor: 1, last: false, own: false })).toMatchObject({ last, closes: false });
});

test('a response whose Connection takes its length away is refused', () => {
  const response = parseResponseHead(Buffer.from('HTTP/1.1 200 OK\r\nConnection: content-length\r\nContent-Length: 1\r\n\r\n'));
  expect(() => response && readProxyResponse(response, { method: 'GET', minor: 1, last: false, own: false })).toThrow(HttpSyntaxError);
});

const name = fc.constantFrom(
  'Connection',
  'connection',
  'Proxy-Connection',
  'Keep-Alive',
  'TE',
  'Upgrade',
  'Proxy-Authorization',
  'Host',
  'Content-Length',
  'Transfer-Encoding',
  'X-A',
  'X-B',
  'Cookie',
  'Trailer',
);
const value = fc.oneof(
  fc.constantFrom(
    'close',
    'keep-alive',
    'X-A',
    'x-b, close',
    'content-length',
    'host , x-a',
    'chunked',
    'gzip, chunked',
    '5',
    '0',
    '',
    'a.example',
    'upgrade, http2-settings',
  ),
  fc.stringMatching(/^([\x21-\x7e\x80-\xff]{0,10})?$/),
);
const fields = fc.array(fc.tuple(name, value).map((parts) => Field.of(...parts)), { maxLength: 5 });
const line = fc.tuple(
  fc.constantFrom('GET', 'POST', 'HEAD', 'OPTIONS', 'CONNECT', 'connect'),
  fc.oneof(
    fc.constantFrom(
      'http://a.example/',
      'http://a:1/x?y',
      'http://[::1]:2',
      'http://a',
      '/',
      '*',
      'a:443',
      '[::1]:443',
      'https://a/',
      'http://u@a/',
      'http://a:0/',
      'http://1.2.3/',
      'a',
      '80',
      'http:/a',
    ),
    fc.stringMatching(/^http:\/\/[\x21-\x7e\x80-\xff]{1,20}$/),
  ),
  fc.constantFrom('HTTP/1.1', 'HTTP/1.0'),
).map((parts) => parts.join(' '));

test('any request is refused, or forwarded to a target as a request that parses the same, without hop-by-hop fields', () => {
  fc.assert(
    fc.property(line, fields, (start, sent) => {
      const request = read(start, [...host, ...sent.filter((field) => field.name !== 'Host')]);
      if (!request) return;
      expect(parseTarget(request.target)).toBeDefined();
      if (request.kind === 'connect') return;
      const head = parseRequestHead(request.head);
      expect(head?.length).toBe(request.head.length);
      if (!head) return;
      expect(head.target).toMatch(/^(\/|\*$)/);
      expect(valuesOf(head.fields, 'host')).toHaveLength(1);
      expect(requestFraming(head)).toEqual(request.body);
      expect(head.fields.map((field) => field.name.toLowerCase())).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/^(proxy-|keep-alive|te$|upgrade)/)]),
      );
      expect(listOf(head.fields, 'connection')).toEqual(request.last ? ['close'] : []);
      const hops = listOf(sent, 'connection').filter((hop) => hop !== 'close');
      expect(hops.flatMap((hop) => valuesOf(head.fields, hop))).toEqual([]);
    }),
    runs,
  );
}, LONG);

test('any response is refused, or forwarded as a response that parses the same', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 100, max: 599 }),
      fc.constantFrom<0 | 1>(0, 1),
      fields,
      fc.constantFrom('GET', 'HEAD'),
      fc.constantFrom<0 | 1>(0, 1),
      (status, minor, sent, method, asked) => {
        const head = parseResponseHead(formatHead(`HTTP/1.${minor} ${status} Reason`, sent));
        if (!head) throw new Error('a whole head was taken for a beginning');
        const request = { method, minor: asked, last: asked === 0, own: false };
        try {
          const response = readProxyResponse(head, request);
          const again = parseResponseHead(response.head);
          if (!again) throw new Error('a whole head was taken for a beginning');
          expect(again.status).toBe(status);
          expect(readProxyResponse(again, request).body).toEqual(response.body);
          expect(listOf(again.fields, 'connection')).toEqual(response.closes ? ['close'] : []);
          if (response.body.kind === 'close') expect(response).toMatchObject({ last: true, closes: true });
        } catch (error) {
          expect(error).toBeInstanceOf(HttpSyntaxError);
        }
      },
    ),
    runs,
  );
}, LONG);
