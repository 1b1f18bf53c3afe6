import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import tls from 'node:tls';
import { afterEach, expect, test } from '@jest/globals';
import { HTTP2_TIMING, Http2Session } from '../../src/engine/vhost/request/http2-session.ts';
import { type TurnLimits, Turns } from '../../src/wire/turns.ts';
import { covering } from '../support/certificates.ts';
import { frames, silentHttp2 } from '../support/http2-frames.ts';
import { closed, startTarget } from '../support/target.ts';

const limits: TurnLimits = { ms: 4, waiting: 200 };
let over = false;
afterEach(() => {
  over = true;
});

test('requests begin at once while they take little time, then some in each iteration, connections in round-robin order', async () => {
  let now = 0;
  const begun: string[] = [];
  const queue = new Turns(limits, () => now);
  const [hasty, other] = [{}, {}];
  const add = (connection: object, name: string): boolean =>
    queue.add(connection, () => {
      begun.push(name);
      now += 1;
    });
  for (let n = 1; n <= 10; n++) add(hasty, `hasty ${n}`);
  add(other, 'other 1');
  add(other, 'other 2');
  expect(begun).toEqual(['hasty 1', 'hasty 2', 'hasty 3', 'hasty 4']);
  begun.length = 0;
  await turn();
  expect(begun).toEqual(['hasty 5', 'other 1', 'hasty 6', 'other 2']);
  begun.length = 0;
  await turn();
  expect(begun).toEqual(['hasty 7', 'hasty 8', 'hasty 9', 'hasty 10']);
  await turn();
  add(other, 'other 3');
  expect(begun.at(-1)).toBe('other 3');
});

test('at most 200 requests of a connection are queued, other connections are not affected, and a canceled one makes room', async () => {
  let now = 0;
  const begun: number[] = [];
  const queue = new Turns(limits, () => now);
  const [hasty, other] = [{}, {}];
  const requests = Array.from({ length: 202 }, (_, n) => (): void => {
    begun.push(n);
    now += 4;
  });
  const [first, second, ...rest] = requests;
  const last = rest.pop();
  if (!first || !second || !last) throw new Error('there are 202');
  expect([first, second, ...rest].map((begin) => queue.add(hasty, begin))).not.toContain(false);
  expect(queue.add(hasty, last)).toBe(false);
  expect(queue.add(other, () => begun.push(-1))).toBe(true);
  queue.withdraw(hasty, second);
  expect(queue.add(hasty, last)).toBe(true);
  while (!begun.includes(201)) await turn();
  expect(begun).toEqual([0, 2, -1, ...Array.from({ length: 199 }, (_, n) => n + 3)]);
});

test('requests that are canceled while queued leave the queue and count at once: the connection is closed', async () => {
  let now = 0;
  // Each request takes 10 ms: one begins in an iteration.
  const queue = new Turns(limits, () => now += 10);
  const busy = Array.from({ length: 50 }, () => ({}));
  for (const connection of busy) {
    const again = (): void => {
      if (!over) {
        queueMicrotask(() => {
          queue.add(connection, again);
        });
      }
    };
    queue.add(connection, again);
  }
  let served = 0;
  const sessions = new Set<Http2Session>();
  const unread = { tight: false, open: () => undefined, add: () => undefined, close: () => undefined };
  const { port } = await startTarget((carrier) => {
    const socket = new tls.TLSSocket(carrier, { isServer: true, key: covering.key, cert: covering.certificate, ALPNProtocols: ['h2'] });
    socket.on('error', () => undefined);
    socket.once('secure', () => {
      Reflect.set(socket, 'secureConnecting', false);
      const serve = (): () => boolean => {
        served++;
        return () => true;
      };
      sessions.add(new Http2Session(socket, carrier, { onStream: serve, timing: HTTP2_TIMING, unread, queue }));
    });
  });
  const visitor = await silentHttp2(port, 'x.p.example.com');
  let answers = '';
  visitor.on('data', (data: Buffer) => {
    answers += data.toString('latin1');
  }).resume();
  const fields = [[':method', 'GET'], [':scheme', 'https'], [':authority', 'x.p.example.com'], [':path', '/']] as const;
  let sent = 0;
  for (let round = 1; round <= 8 && !visitor.destroyed; round++) {
    const burst = Array.from({ length: 100 }, () => {
      const id = 2 * sent++ + 1;
      return Buffer.concat([frames.request(id, fields), frames.reset(id)]);
    });
    visitor.write(Buffer.concat([...burst, frames.ping()]));
    // The server has read them when it answers the ping.
    while (!visitor.destroyed && answers.split('\0\0\b\u0006\u0001').length <= round) await Promise.race([once(visitor, 'data'), closed(visitor)]);
  }
  expect(visitor.destroyed).toBe(true);
  // 500 may be canceled at once, and some more a second.
  expect(sent).toBeGreaterThan(500);
  expect(served).toBeLessThan(100);
});
