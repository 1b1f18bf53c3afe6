import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AnsweringOrigin } from '../../support/answering-origins.ts';
import { covering } from '../../support/certificates.ts';
import { endChildren } from '../../support/child.ts';
import { type RawField, sendHttp2 } from '../../support/http2-frames.ts';
import { describeWith } from '../../support/programs.ts';
import { removeScratchDirectories } from '../../support/scratch.ts';
import { smugglingOrigins, takenByNow } from '../../support/smuggling-origins.ts';
import { startVhostRig, type VhostRig } from '../../support/vhost-rig.ts';

const name = 'x.p.example.com';
const request = (
  method: string,
  ...more: RawField[]
): RawField[] => [[':method', method], [':scheme', 'https'], [':path', '/outer'], [':authority', name], ...more];
const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n';

/** What HTTP/1.1 would read as another request than HTTP/2 does. */
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

let rig: VhostRig;
beforeAll(async () => {
  rig = await startVhostRig();
});
afterAll(async () => {
  await endChildren();
  removeScratchDirectories();
});

for (const { name: program, programs, start } of smugglingOrigins) {
  describeWith(programs, `with ${program} as the origin`, () => {
    let origin: AnsweringOrigin;
    let remove: () => Promise<void>;
    beforeAll(async () => {
      origin = await start();
      remove = await rig.host({ host: '*.p.example.com', targets: [origin.target], certificate: covering.certificate, privateKey: covering.key });
    });
    afterAll(async () => {
      await remove();
      await origin.close();
    });
    const reached = async () => (await takenByNow(origin)).map(({ line }) => line);

    test('the frames of this test are a request when nothing is wrong with them', async () => {
      expect(await sendHttp2(rig.httpsPort, name, request('POST', ['content-length', '4']), 'body')).toBe('answer');
      expect(await reached()).toEqual(['POST /outer HTTP/1.1']);
    });

    describe('what HTTP/1.1 would read as another request than HTTP/2 does reaches no origin', () => {
      test.each(cases.map(([what, fields, body]) => ({ what, fields, body })))('$what', async ({ fields, body }) => {
        expect(['answer', 'reset', 'goaway']).toContain(await sendHttp2(rig.httpsPort, name, fields, body));
        // A field that is none is dropped, and the request without it is sound.
        const seen = await reached();
        expect(seen.length).toBeLessThan(2);
        expect(seen.filter((one) => !/^(GET|POST) \/(outer)? HTTP\/1\.1$/.test(one))).toEqual([]);
      });
    });
  });
}
