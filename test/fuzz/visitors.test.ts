import { isIP } from 'node:net';
import process from 'node:process';
import fc from 'fast-check';
import { beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { V1ProxyProtocol, V2ProxyProtocol } from 'proxy-protocol-js';
import { BodyEnd, requestFraming } from '../../src/engine/http/body.ts';
import { Dechunker } from '../../src/engine/http/dechunk.ts';
import { formatHead, HEAD_LIMITS, parseRequestHead, parseResponseHead, type RequestHead } from '../../src/engine/http/head.ts';
import { readProxyRequest } from '../../src/engine/http/proxy-request.ts';
import { readProxyResponse } from '../../src/engine/http/proxy-response.ts';
import { RequestReader } from '../../src/engine/http/request-reader.ts';
import { ResponseReader } from '../../src/engine/http/response-reader.ts';
import { HttpSyntaxError } from '../../src/engine/http/syntax-error.ts';
import { parseDatagram, parseGreeting, parseLogin, parseRequest, SocksError } from '../../src/engine/socks/messages.ts';
import { proxyHeader } from '../../src/engine/tunnels/proxy-header.ts';
import { MAX_HELLO, readClientHello } from '../../src/engine/vhost/tls/client-hello.ts';
import { type ProxyPreface, readProxyPreface } from '../../src/engine/vhost/proxy-preface.ts';
import { hostFields } from '../../src/engine/vhost/target/host-fields.ts';
import { fieldsForTarget } from '../../src/engine/vhost/target/request-fields.ts';
import { placeOf } from '../../src/engine/vhost/request/request-place.ts';
import { EmptySocket } from '../support/empty-socket.ts';
import { type ByteParser, damaged, FUZZ_MS, fuzz, fuzzed, noise } from '../support/fuzz/fuzz.ts';
import { chunkedBodies, httpRequests, httpResponses, inRecords, proxyPrefaces, socksDatagrams, socksDialogs, tlsHello } from '../support/fuzz/visitor-input.ts';

/** Parses again with every piece that comes, as a connection is read, until something is made of it. */
function grown<T extends object>(pieces: readonly Buffer[], parse: (bytes: Buffer) => T | undefined): T | undefined {
  let bytes = Buffer.alloc(0);
  for (const piece of pieces) {
    bytes = Buffer.concat([bytes, piece]);
    const made = parse(bytes);
    if (made) return made;
  }
  return undefined;
}

/** One step after the other, each with what the one before left. */
function inSteps(pieces: readonly Buffer[], steps: ReadonlyArray<(bytes: Buffer) => { readonly length: number } | undefined>): unknown[] {
  const made: unknown[] = [];
  grown(pieces, (bytes) => {
    let at = 0;
    made.length = 0;
    for (const step of steps) {
      const one = step(bytes.subarray(at));
      if (!one) return undefined;
      at += one.length;
      made.push(one);
    }
    return made;
  });
  return made;
}

/** What is forwarded of a request says the same about its length as what came: nothing can be hidden behind it. */
function forwarded(head: RequestHead): unknown {
  const place = placeOf(head);
  const fields = fieldsForTarget(head, hostFields({ headers: ['X-Own: 1'], hostChange: '' }), {
    address: '192.0.2.1',
    scheme: 'http',
    host: place.host,
    trusted: false,
  });
  const again = parseRequestHead(formatHead(`${head.method} ${place.path} HTTP/1.${head.minor}`, fields));
  if (!again) throw new Error('a head without an end');
  if (JSON.stringify(requestFraming(again)) !== JSON.stringify(requestFraming(head))) throw new Error('the target would read another length');
  return [place, again.fields.length];
}

/** Errors are part of what is compared: what was read before them has to be the same too. */
function until(work: (seen: unknown[]) => void): unknown[] {
  const seen: unknown[] = [];
  try {
    work(seen);
  } catch (error) {
    if (!(error instanceof HttpSyntaxError)) throw error;
    seen.push(error.status);
  }
  return seen;
}

function readRequests(pieces: readonly Buffer[]): unknown {
  return until((seen) => {
    let body = '';
    const flush = (): void => {
      seen.push(body);
      body = '';
    };
    const reader: RequestReader = new RequestReader({
      onHeadBegun: () => undefined,
      onHead: (head) => {
        seen.push(head, forwarded(head));
      },
      onBody: (piece) => {
        body += piece.toString('hex');
      },
      onBodyOver: flush,
      onAhead: () => undefined,
    }, HEAD_LIMITS);
    for (const piece of pieces) {
      reader.read(piece);
      // Each is answered at once.
      while (reader.over) {
        reader.next();
        reader.read();
      }
    }
    flush();
  });
}

function readResponse(pieces: readonly Buffer[]): unknown {
  return until((seen) => {
    let [body, after] = ['', ''];
    const reader = new ResponseReader('GET', {
      onInterim: (head) => seen.push(head),
      onHead: (head, framing) => seen.push(head, framing),
      onBody: (piece) => {
        body += piece.toString('hex');
      },
    });
    for (const piece of pieces) after += reader.push(piece).toString('hex');
    seen.push(body, after);
  });
}

/** Checked as everywhere before its chunks are taken off. */
function dechunked(pieces: readonly Buffer[]): unknown {
  return until((seen) => {
    const [end, dechunker] = [new BodyEnd({ kind: 'chunked' }), new Dechunker()];
    let content = '';
    for (const piece of pieces) content += dechunker.push(end.take(piece).passed).toString('hex');
    seen.push(content, end.over);
  });
}

/** What was read of a header is what it has, and nobody is let be somebody who has no address. */
function readPreface(bytes: Buffer): ProxyPreface | undefined {
  const read = readProxyPreface(bytes);
  if (read.kind === 'incomplete') return undefined;
  if (read.kind !== 'header') return read;
  if (read.length > Math.min(bytes.length, 536)) throw new Error('a header that is longer than what came, or than one may be');
  const { origin } = read;
  if (origin && !(isIP(origin.remoteAddress) > 0 && origin.remotePort <= 65_535)) throw new Error('a visitor without an address');
  return read;
}

let hello: Buffer = Buffer.alloc(0);
beforeAll(async () => {
  hello = await tlsHello('www.example.com');
});
const hellos = fc.tuple(fc.constant(0), fc.constantFrom(1, 10, 100, 16_000)).map(([, size]) => inRecords(hello, size));

const parsers: readonly ByteParser[] = [
  {
    name: 'greeting, login and request of SOCKS',
    input: socksDialogs,
    refusal: SocksError,
    read: (pieces) => inSteps(pieces, [parseGreeting, parseLogin, parseRequest]),
  },
  { name: 'greeting and request of SOCKS', input: socksDialogs, refusal: SocksError, read: (pieces) => inSteps(pieces, [parseGreeting, parseRequest]) },
  { name: 'a datagram of SOCKS', input: socksDatagrams, whole: true, read: ([bytes = hello]) => parseDatagram(bytes)?.toString('hex') },
  {
    name: 'a request to a forward proxy',
    input: httpRequests,
    refusal: HttpSyntaxError,
    read: (pieces) => {
      const head = grown(pieces, parseRequestHead);
      return head && readProxyRequest(head, (host) => host.length % 2 === 0);
    },
  },
  {
    name: 'a response to a forward proxy',
    input: httpResponses,
    refusal: HttpSyntaxError,
    read: (pieces) => {
      const head = grown(pieces, parseResponseHead);
      return head && readProxyResponse(head, { method: 'GET', minor: 1, last: false, own: true });
    },
  },
  { name: 'requests to a host', input: httpRequests, read: readRequests },
  { name: "a response of a host's target", input: httpResponses, read: readResponse },
  { name: 'a chunked body', input: chunkedBodies, read: dechunked },
  { name: 'the PROXY header of a proxy in front', input: proxyPrefaces, read: (pieces) => grown(pieces, (bytes) => readPreface(bytes)) },
  {
    name: 'the hello of TLS',
    input: fc.oneof(damaged(hellos), noise.map((bytes) => Buffer.concat([Buffer.of(22, 3, 1), bytes]))),
    read: (pieces) =>
      grown(pieces, (bytes) => {
        const read = readClientHello(bytes);
        return read.kind === 'incomplete' ? undefined : read;
      }),
  },
];

test.each(parsers.map((parser) => [parser.name, parser] as const))('%s: any bytes are read or refused, at once and however they are cut', (_, parser) => {
  expect(() => fuzzed(parser)).not.toThrow();
}, FUZZ_MS);

test('the longest hello is refused when it comes in more records than any program makes of it, and takes little time until then', () => {
  const message = Buffer.alloc(MAX_HELLO);
  message.set([0, 0, 0, 0, 0, 1, 0, 0x3f, 0xf0]);
  // The processor's time: others may have it meanwhile.
  const start = process.cpuUsage();
  for (const size of [1, 250, 300, 16_000]) {
    const bytes = inRecords(message, size);
    const kinds = Array.from({ length: 1000 }, (_, n) => readClientHello(bytes.subarray(0, Math.floor(bytes.length / 1000 * (n + 1)))).kind);
    expect([size, kinds.includes('invalid')]).toEqual([size, size < 256]);
  }
  const { user, system } = process.cpuUsage(start);
  expect((user + system) / 1000).toBeLessThan(2000);
});

test('a PROXY header that we write reads as the addresses it was written for', () => {
  const ends = fc.oneof(fc.tuple(fc.ipV4(), fc.ipV4()), fc.tuple(fc.ipV6(), fc.ipV6()));
  const port = fc.integer({ min: 1, max: 65_535 });
  fuzz(
    { name: 'a PROXY header that is written', input: fc.tuple(ends, port, port), format: z.tuple([z.tuple([z.string(), z.string()]), z.number(), z.number()]) },
    ([[from, to], fromPort, toPort]) => {
      const socket = Object.assign(new EmptySocket(), { remoteAddress: from, remotePort: fromPort, local: { address: to, port: toPort } });
      const one = V1ProxyProtocol.parse(proxyHeader('V1', socket).toString());
      if (one?.source.ipAddress !== from || one.destination.port !== toPort || one.source.port !== fromPort) throw new Error('version 1 says something else');
      const two = V2ProxyProtocol.parse(Uint8Array.from(proxyHeader('V2', socket)));
      if (
        !two || !('sourcePort' in two.proxyAddress) || two.proxyAddress.sourcePort !== fromPort || two.proxyAddress.destinationPort !== toPort
      ) throw new Error('version 2 says something else');
    },
  );
}, FUZZ_MS);
