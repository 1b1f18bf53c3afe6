import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { PlainRequestHead, plainRequestHead, PlainResponseHead, plainResponseHead } from '../../../src/engine/http/plain-head.ts';
import { requestCorpus, responseCorpus } from '../../support/heads/corpus.ts';
import { briefly, plainRequest, plainResponse, strictRequest, strictResponse } from '../../support/heads/outcome.ts';

/** What became of each head of the corpus when the strict parser was the only one. */
const recorded = z.object({ requests: z.array(z.string()), responses: z.array(z.string()) })
  .parse(JSON.parse(readFileSync(path.join(import.meta.dirname, '../../support/heads/recorded.json'), 'utf8')));

/** The heads that have another outcome than the recorded one. */
function changed(corpus: readonly Buffer[], before: readonly string[], read: (bytes: Buffer) => string | undefined): unknown[] {
  return corpus.flatMap((bytes, at) => {
    const now = read(bytes);
    return now === undefined || briefly(now) === before[at] ? [] : [{ head: bytes.toString('latin1'), before: before[at], now }];
  });
}

test('nothing that was refused is accepted, and nothing that was accepted arrives changed, on either path', () => {
  expect([recorded.requests.length, recorded.responses.length]).toEqual([requestCorpus.length, responseCorpus.length]);
  expect(changed(requestCorpus, recorded.requests, strictRequest)).toEqual([]);
  expect(changed(requestCorpus, recorded.requests, plainRequest)).toEqual([]);
  expect(changed(responseCorpus, recorded.responses, strictResponse)).toEqual([]);
  expect(changed(responseCorpus, recorded.responses, plainResponse)).toEqual([]);
  // Both paths are really taken.
  expect(requestCorpus.filter((bytes) => plainRequest(bytes) !== undefined).length).toBeGreaterThan(100);
  expect(responseCorpus.filter((bytes) => plainResponse(bytes) !== undefined).length).toBeGreaterThan(100);
});

test.each([
  ['wrk', 'GET / HTTP/1.1\r\nHost: localhost:8080\r\n\r\n'],
  ['curl', 'GET /a?b=c HTTP/1.1\r\nHost: a.example\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\n\r\n'],
  [
    'curl that sends a form',
    'POST /a HTTP/1.1\r\nHost: a.example\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\nContent-Length: 3\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\na=b',
  ],
  [
    'a browser',
    'GET /app/main.js HTTP/1.1\r\nHost: a.example\r\nConnection: keep-alive\r\nsec-ch-ua: "Chromium";v="130"\r\nUser-Agent: Mozilla/5.0\r\nAccept: */*\r\nSec-Fetch-Site: same-origin\r\nReferer: http://a.example/\r\nAccept-Encoding: gzip, deflate\r\nCookie: theme=dark\r\n\r\n',
  ],
])('the request of %s is read by its bytes', (_, text) => {
  expect(plainRequestHead(Buffer.from(text))).toBeInstanceOf(PlainRequestHead);
});

test.each([
  [
    'nginx',
    'HTTP/1.1 200 OK\r\nServer: nginx\r\nDate: Sun, 22 Nov 2026 16:00:00 GMT\r\nContent-Type: text/html\r\nContent-Length: 25\r\nConnection: keep-alive\r\n\r\n',
  ],
  [
    'Node',
    'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nDate: Sun, 22 Nov 2026 16:00:00 GMT\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\nTransfer-Encoding: chunked\r\n\r\n',
  ],
  [
    'Apache',
    'HTTP/1.1 404 Not Found\r\nDate: Sun, 22 Nov 2026 16:00:00 GMT\r\nServer: Apache\r\nSet-Cookie: a=b; Path=/\r\nContent-Length: 196\r\nKeep-Alive: timeout=5, max=100\r\nConnection: Keep-Alive\r\nContent-Type: text/html\r\n\r\n',
  ],
])('the response of %s is read by its bytes', (_, text) => {
  expect(plainResponseHead(Buffer.from(text))).toBeInstanceOf(PlainResponseHead);
});
