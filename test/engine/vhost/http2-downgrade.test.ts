import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import http from 'node:http';
import { covering } from '../../support/certificates.ts';
import { type RawField, sendHttp2 } from '../../support/http2-frames.ts';
import { hostOf, startLastingVhost } from '../../support/vhost.ts';

const name = 'x.p.example.com';
const request = (method: string, ...more: RawField[]): RawField[] => [[':method', method], [':scheme', 'https'], [':path', '/outer'], [':authority', name], ...more];

const origin = http.createServer({ insecureHTTPParser: true }, (asked, answer) => {
  reached.push(`${asked.method} ${asked.url}`);
  asked.resume().on('end', () => answer.end());
});
const reached: string[] = [];
let port = 0;

beforeAll(async () => {
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  const address = origin.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  const host = hostOf({ host: '*.p.example.com', targets: [`127.0.0.1:${address.port}`], certificate: covering.certificate, privateKey: covering.key });
  ({ httpsPort: port } = await startLastingVhost([host]));
});
afterAll(() => { origin.closeAllConnections(); origin.close(); });

const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';

test('the frames of this test are a request when nothing is wrong with them', async () => {
  expect(await sendHttp2(port, name, request('POST', ['content-length', '4']), 'body')).toBe('answer');
  expect(reached.splice(0)).toEqual(['POST /outer']);
});

describe('what HTTP/1.1 would read as another request than HTTP/2 does reaches no target', () => {
  const cases: ReadonlyArray<readonly [what: string, fields: RawField[], body?: string]> = [
    ['a line end in a value', request('GET', ['x', 'y\r\nTransfer-Encoding: chunked'])],
    ['a whole request in a value', request('GET', ['x', `y\r\n\r\n${smuggled}`])],
    ['a line feed in a value', request('GET', ['x', 'y\nz: 1'])],
    ['a NUL in a value', request('GET', ['x', 'y\0z'])],
    ['a line end in a name', request('GET', ['x\r\nz', 'y'])],
    ['a colon in a name', request('GET', ['x: y\r\nz', 'y'])],
    ['a blank in a name', request('GET', ['x y', 'z'])],
    ['capitals in a name', request('GET', ['X', 'y'])],
    ['an empty name', request('GET', ['', 'y'])],
    ['Transfer-Encoding', request('POST', ['transfer-encoding', 'chunked']), `0\r\n\r\n${smuggled}`],
    ['Transfer-Encoding beside Content-Length', request('POST', ['content-length', '0'], ['transfer-encoding', 'chunked']), smuggled],
    ['Connection', request('GET', ['connection', 'close'])],
    ['Keep-Alive', request('GET', ['keep-alive', '1'])],
    ['Proxy-Connection', request('GET', ['proxy-connection', 'x'])],
    ['Upgrade', request('GET', ['upgrade', 'h2c'])],
    ['a Content-Length that is too short', request('POST', ['content-length', '0']), smuggled],
    ['a Content-Length that is too long', request('POST', ['content-length', '400']), smuggled],
    ['two Content-Lengths', request('POST', ['content-length', '4'], ['content-length', '5']), 'body'],
    ['a Content-Length that is no number', request('POST', ['content-length', '4x']), 'body'],
    ['a line end in the path', [[':method', 'GET'], [':scheme', 'https'], [':path', `/ HTTP/1.1\r\nHost: x\r\n\r\n${smuggled}`], [':authority', name]]],
    ['a blank in the path', [[':method', 'GET'], [':scheme', 'https'], [':path', '/ HTTP/1.1'], [':authority', name]]],
    ['a path without its slash', [[':method', 'GET'], [':scheme', 'https'], [':path', 'outer'], [':authority', name]]],
    ['an empty path', [[':method', 'GET'], [':scheme', 'https'], [':path', ''], [':authority', name]]],
    ['a line end in the method', [[':method', 'GET / HTTP/1.1\r\nX:'], [':scheme', 'https'], [':path', '/'], [':authority', name]]],
    ['a blank in the method', [[':method', 'GET /x'], [':scheme', 'https'], [':path', '/'], [':authority', name]]],
    ['a line end in the authority', [[':method', 'GET'], [':scheme', 'https'], [':path', '/'], [':authority', `${name}\r\nX: y`]]],
    ['two paths', request('GET', [':path', '/smuggled'])],
    ['a path after the fields', [[':method', 'GET'], [':scheme', 'https'], [':authority', name], ['x', 'y'], [':path', '/smuggled']]],
    ['no method', [[':scheme', 'https'], [':path', '/'], [':authority', name]]],
    ['another Host than the authority', request('GET', ['host', 'other.test'])],
    ['CONNECT', [[':method', 'CONNECT'], [':authority', name]]],
    ['TE other than trailers', request('GET', ['te', 'chunked'])],
  ];
  test.each(cases.map(([what, fields, body]) => ({ what, fields, body })))('$what', async ({ fields, body }) => {
    expect(['answer', 'reset', 'goaway']).toContain(await sendHttp2(port, name, fields, body));
    // A field that is none is dropped, and the request without it is sound.
    const seen = reached.splice(0);
    expect(seen.length).toBeLessThan(2);
    expect(seen.filter((one) => !/^(GET|POST) \/(outer)?$/.test(one))).toEqual([]);
  });
});
