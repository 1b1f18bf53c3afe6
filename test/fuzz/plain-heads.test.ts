import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { HEAD_LIMITS, type HeadLimits } from '../../src/engine/http/head.ts';
import { anyCharacter } from '../support/any-character.ts';
import { bytes } from '../support/fuzz/corpus.ts';
import { damaged, FUZZ_MS, fuzz } from '../support/fuzz/fuzz.ts';
import { fieldLines, requestTargets, statusLines } from '../support/heads/corpus.ts';
import {
  plainProxyRequest,
  plainProxyResponse,
  plainRequest,
  plainResponse,
  strictProxyRequest,
  strictProxyResponse,
  strictRequest,
  strictResponse,
} from '../support/heads/outcome.ts';
import { sized } from '../support/endurance.ts';

/** A million heads in the long form, half of them requests. */
const numRuns = sized(400, 500_000);

const name = fc.oneof(fc.stringMatching(/^[A-Za-z0-9-]{1,12}$/), fc.stringMatching(/^[!-~]{1,6}$/));
const value = fc.oneof(fc.stringMatching(/^[!-~]([ -~]{0,12}[!-~])?$/), fc.string({ unit: anyCharacter, maxLength: 6 }));
const field = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...fieldLines) },
  { weight: 2, arbitrary: fc.tuple(name, value).map(([before, after]) => `${before}: ${after}`) },
  // Every known name in any case, with any value.
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom(...fieldLines), fc.nat(), value).map(([line, bits, after]) => `${anyCase(line.split(':')[0] ?? '', bits)}: ${after}`),
  },
);
const sane = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('Accept: */*', 'User-Agent: curl/8.5.0', 'Cookie: a=b', 'Set-Cookie: a=b', 'X: y') },
  {
    weight: 1,
    arbitrary: fc.constantFrom('Connection: keep-alive', 'Content-Length: 5', 'Transfer-Encoding: chunked', 'Keep-Alive: timeout=5', 'Connection: close'),
  },
);

function anyCase(text: string, bits: number): string {
  return Array.from(text, (char, at) => ((bits >> at % 31 & 1) === 0 ? char.toLowerCase() : char.toUpperCase())).join('');
}

function heads(start: fc.Arbitrary<string>, first: fc.Arbitrary<readonly string[]>): fc.Arbitrary<Buffer> {
  const fields = fc.oneof(fc.array(sane, { maxLength: 4 }), fc.array(fc.oneof(sane, field), { maxLength: 3 }));
  const whole = fc.tuple(start, fields, first, fields, fc.constantFrom('', 'body', '\r\n')).map(([line, before, own, after, body]) =>
    Buffer.from(`${[line, ...before, ...own, ...after].join('\r\n')}\r\n\r\n${body}`, 'latin1')
  );
  return fc.oneof(whole, damaged(whole));
}

const url = fc.tuple(
  fc.oneof({ weight: 3, arbitrary: fc.constantFrom('a.example', 'own.example', 'a.example:8080', '127.0.0.1:80', '[::1]:80') }, {
    weight: 1,
    arbitrary: fc.stringMatching(/^[!-~]{0,8}$/),
  }),
  fc.oneof(fc.constantFrom('', '/', '/a?b', '?b', '/#c'), fc.stringMatching(/^\/[!-~]{0,10}$/)),
).map(([authority, path]) => `http://${authority}${path}`);

const proxyRequests = heads(
  fc.oneof(
    { weight: 2, arbitrary: url.map((target) => `GET ${target} HTTP/1.1`) },
    {
      weight: 1,
      arbitrary: fc.tuple(
        fc.constantFrom('POST', 'HEAD', 'OPTIONS', 'CONNECT', 'get'),
        fc.oneof(url, fc.constantFrom(...requestTargets)),
        fc.constantFrom('HTTP/1.1', 'HTTP/1.0'),
      ).map((parts) => parts.join(' ')),
    },
  ),
  fc.oneof({ weight: 4, arbitrary: fc.constant(['Host: a.example']) }, {
    weight: 1,
    arbitrary: fc.array(fc.stringMatching(/^[Hh]ost: [ -~]{0,8}$/), { maxLength: 2 }),
  }),
);

const requests = heads(
  fc.oneof(
    {
      weight: 1,
      arbitrary: fc.tuple(
        fc.constantFrom('GET', 'POST', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'CONNECT', 'GETS', 'get'),
        fc.oneof(fc.constantFrom(...requestTargets), fc.stringMatching(/^\/[!-~]{0,10}$/)),
        fc.constantFrom('HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/1.2'),
      ).map((parts) => parts.join(' ')),
    },
    { weight: 2, arbitrary: fc.constant('GET / HTTP/1.1') },
  ),
  fc.oneof({ weight: 4, arbitrary: fc.constant(['Host: a.example']) }, {
    weight: 1,
    arbitrary: fc.array(fc.stringMatching(/^[Hh]ost: [ -~]{0,8}$/), { maxLength: 2 }),
  }),
);
const responses = heads(fc.constantFrom(...statusLines, ...statusLines.map(() => 'HTTP/1.1 200 OK')), fc.constant([]));
/** Smaller ones than usual, too: what is one too many for one path is so for the other. */
const limits = fc.oneof(
  { weight: 4, arbitrary: fc.constant(HEAD_LIMITS) },
  fc.record({ bytes: fc.integer({ min: 20, max: 200 }), fields: fc.integer({ min: 1, max: 6 }) }),
);

const format = z.tuple([bytes, z.object({ bytes: z.number(), fields: z.number() })]);

/** @param name of the heads @throws {Error} when too few are plain */
function expectAlike(
  name: string,
  head: fc.Arbitrary<Buffer>,
  plain: (head: Buffer, limits: HeadLimits) => string | undefined,
  strict: (head: Buffer, limits: HeadLimits) => string,
): void {
  let [all, count] = [0, 0];
  fuzz({ name, input: fc.tuple(head, limits), format, numRuns }, (given) => {
    all++;
    const read = plain(...given);
    if (read === undefined) return;
    count++;
    const asItIs = strict(...given);
    if (read !== asItIs) throw new Error(`the bytes say ${read}, the strict parser ${asItIs}`);
  });
  expect(count).toBeGreaterThan(all / 10);
}

test('a request on the fast path is valid for the strict parser, parses the same, and is forwarded as the same bytes', () => {
  expectAlike('plain requests', requests, plainRequest, strictRequest);
}, FUZZ_MS);

test('so is a request to a forward proxy', () => {
  expectAlike('plain requests to a forward proxy', proxyRequests, plainProxyRequest, strictProxyRequest);
}, FUZZ_MS);

test('so is a response', () => {
  expectAlike('plain responses', responses, plainResponse, strictResponse);
}, FUZZ_MS);

test('so is a response to a forward proxy', () => {
  expectAlike('plain responses to a forward proxy', responses, plainProxyResponse, strictProxyResponse);
}, FUZZ_MS);
