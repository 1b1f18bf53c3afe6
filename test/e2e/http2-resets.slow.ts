import { once } from 'node:events';
import type { Socket } from 'node:net';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { covering } from '../support/certificates.ts';
import { frames, silentHttp2 } from '../support/http2-frames.ts';
import { askHealth } from '../support/loop-hold.ts';
import { memoryGrowth } from '../support/memory-growth.ts';
import { write } from '../support/processes.ts';
import { serve } from '../support/served.ts';
import { startTarget } from '../support/target.ts';

// Short form: test/engine/vhost/unread.test.ts

const host = 'x.p.example.com';
const BODY = Buffer.alloc(100_000, 'x');
/** How long visitors reset streams, in ms. */
const LASTS = Number(process.env['ADIT_RESETS_SECONDS'] ?? 3) * 1000;

/** Answers by the path: a body larger than a window, one without an end, nothing, and half of what the head says. */
function answer(socket: Socket): void {
  socket.on('data', (chunk) => {
    for (const [, path] of chunk.toString('latin1').matchAll(/^(?:GET|POST) \/(\w*)/gm)) {
      if (path === 'empty') socket.write('HTTP/1.1 204 No Content\r\n\r\n');
      else if (path === 'cut') socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${2 * BODY.length}\r\n\r\nhalf`);
      else socket.write(Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${BODY.length}\r\n\r\n`), BODY]));
    }
  });
}

/** A stream of numbers below 1 that is the same for the same seed. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

test('visitors that reset streams in the same packet with frames that resume them neither stop the server nor increase its memory', async () => {
  const target = await startTarget(answer);
  const { server, clientId } = await serve(target.address);
  await write(server, '/index/addhost/', {
    client_id: clientId,
    host,
    scheme: 'all',
    target: target.address,
    cert_file_path: covering.certificate,
    key_file_path: covering.key,
  });
  const request = (method: string, path: string, length?: number) =>
    [
      [':method', method],
      [':scheme', 'https'],
      [':authority', host],
      [':path', `/${path}`],
      ...length === undefined ? [] : [['content-length', `${length}`] as const],
    ] as const;
  let sessions = 0;
  let resets = 0;

  /** The time is not over, or a busy machine has done too little in it. */
  const goesOn = (until: number): boolean => Date.now() < until || sessions <= 20 || resets <= 20;

  async function visitor(seed: number, until: number): Promise<void> {
    const random = numbers(seed);
    const one = <Value>(values: readonly [Value, ...Value[]]): Value => values[Math.floor(random() * values.length)] ?? values[0];
    while (goesOn(until)) {
      const socket = await silentHttp2(server.secureHostsPort, host);
      const gone = once(socket, 'close');
      socket.resume();
      sessions++;
      let last = -1;
      const open: number[] = [];
      for (let round = 0; round < 10 && !socket.destroyed && goesOn(until); round++) {
        const begun: Buffer[] = [];
        for (let i = 0; i < 4; i++) {
          last += 2;
          open.push(last);
          begun.push(
            random() < 0.5
              ? frames.request(last, request('GET', one(['big', 'empty', 'cut'])))
              : frames.begun(last, request('POST', one(['big', 'empty', 'cut']), one([2, 10, 100]))),
          );
        }
        socket.write(Buffer.concat(begun));
        // Meanwhile the responses fill their windows.
        await delay(random() * 10);
        const packet: Buffer[] = [frames.window(0, 1_000_000)];
        for (const stream of open.splice(0, 2 + Math.floor(random() * 4)).toSorted(() => random() - 0.5)) {
          packet.push(frames.window(stream, 200_000));
          if (random() < 0.4) packet.push(frames.data(stream, one(['xx', 'x'.repeat(10), 'x'.repeat(11)])));
          if (random() < 0.8) {
            packet.push(frames.reset(stream, one([0, 1, 2, 5, 7, 8, 11])));
            resets++;
          }
        }
        socket.write(Buffer.concat(packet));
      }
      socket.destroy();
      await gone;
    }
  }

  const slowest = await askHealth(server);
  const growth = await memoryGrowth([server.child], async () => {
    await Promise.all([1, 2, 3, 4].map((seed) => visitor(seed, Date.now() + LASTS)));
  });
  expect(await slowest()).toBeLessThan(1000);
  expect(growth[0]).toBeLessThan(192 * 1024 * 1024);
}, LASTS + 60_000);
