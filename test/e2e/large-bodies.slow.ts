import { createHash } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';
import { Readable, type Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sized } from '../support/endurance.ts';
import { residentBytes } from '../support/observe.ts';
import { hashOf, payload } from '../support/payload.ts';
import { type PlatformSite, startPlatformSite } from '../support/platform-site.ts';
import { startWebTarget, type WebTarget } from '../support/web-target.ts';

// Short form: test/engine/vhost/http2.test.ts

const BYTES = sized(64, 2048) * 1024 * 1024;
const MOST_GROWTH = 64 * 1024 * 1024;
const SEED = 7;
/** The hash of all of them. */
const whole = hashOf(BYTES, SEED);
const limit = 600_000;

let target: WebTarget;
let site: PlatformSite;

beforeAll(async () => {
  target = await startWebTarget();
  site = await startPlatformSite(target.address);
});
afterAll(() => target.close());

/** Sends a request. @returns its body and its response's */
type Ask = (method: string, path: string) => Promise<{ readonly body: NodeJS.WritableStream; readonly response: Promise<Readable>; end(): void }>;

const overHttp1: Ask = async (method, path) => {
  const request = http.request({ port: site.server.hostsPort, host: '127.0.0.1', method, path, headers: { host: site.name }, agent: false });
  return { body: request, response: once(request, 'response').then(([response]: Readable[]) => response ?? Readable.from([])), end: () => undefined };
};

const overHttp2: Ask = async (method, path) => {
  const session = http2.connect(site.https, {
    lookup: (_name, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }]),
    rejectUnauthorized: false,
  });
  const stream: Duplex = session.request({ ':method': method, ':path': path });
  return { body: stream, response: once(stream, 'response').then(() => stream), end: () => session.close() };
};

/** Looks at server and agent until `work` is done. @returns by how much that one grew that grew most, in bytes */
async function growth(work: () => Promise<void>): Promise<number> {
  const programs = [site.server.child, site.agent];
  const before = programs.map(residentBytes);
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, ...programs.map((program, index) => residentBytes(program) - (before[index] ?? 0)));
  }, 50);
  await work();
  clearInterval(timer);
  return most;
}

describe.each([['HTTP/1.1', overHttp1], ['HTTP/2', overHttp2]] as const)(
  `${BYTES / 1024 / 1024} MB over %s arrive as they were sent, and grow neither program by more than 64 MB`,
  (_version, ask) => {
    const upload = async (bytes: number): Promise<void> => {
      const { body, response, end } = await ask('POST', '/up');
      await pipeline(Readable.from(payload(bytes, SEED)), body, { end: true });
      expect(await text(await response)).toBe(bytes === BYTES ? whole : hashOf(bytes, SEED));
      end();
    };
    const download = async (bytes: number): Promise<void> => {
      const { body, response, end } = await ask('GET', `/down/${bytes}/${SEED}`);
      body.end();
      const hash = createHash('sha256');
      for await (const chunk of await response) hash.update(chunk);
      expect(hash.digest('hex')).toBe(bytes === BYTES ? whole : hashOf(bytes, SEED));
      end();
    };

    // A little first: what a program needs to work at all is no growth.
    test('up', async () => {
      await upload(4 * 1024 * 1024);
      expect(await growth(() => upload(BYTES))).toBeLessThan(MOST_GROWTH);
    }, limit);

    test('down', async () => {
      await download(4 * 1024 * 1024);
      expect(await growth(() => download(BYTES))).toBeLessThan(MOST_GROWTH);
    }, limit);
  },
);
