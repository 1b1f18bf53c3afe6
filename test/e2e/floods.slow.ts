import type net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { covering } from '../support/certificates.ts';
import { type Child, endChildren } from '../support/child.ts';
import { flood, frames, silentHttp2 } from '../support/http2-frames.ts';
import { LoopHold, watchedLoop } from '../support/loop-hold.ts';
import { memoryGrowth } from '../support/memory-growth.ts';
import { openTunnel, startAgent, startServer, write, type ServerProcess } from '../support/processes.ts';
import { removeScratchDirectories } from '../support/scratch.ts';
import { startTarget, visit } from '../support/target.ts';

// Short form: test/engine/vhost/unread.test.ts

const fields = (host: string) => [[':method', 'GET'], [':scheme', 'https'], [':authority', host], [':path', '/']] as const;
/** How long each flood lasts, in ms. */
const LASTS = 2000;
const MOST_GROWTH = 64 * 1024 * 1024;

/** What a target says without end. */
const hints = Buffer.from(`HTTP/1.1 103 Early Hints\r\nLink: ${'a'.repeat(8000)}\r\n\r\n`.repeat(8));
const answer = Buffer.from(`HTTP/1.1 200 OK\r\nX-Long: ${'a'.repeat(30_000)}\r\nContent-Length: 0\r\n\r\n`);

let server: ServerProcess;
let agent: Child;
let clientId: number;
let hosts = 0;

beforeAll(async () => {
  server = await startServer({ environment: watchedLoop });
  clientId = await write(server, '/client/add/', { vkey: 'the key of the agent' });
  agent = await startAgent(server, 'the key of the agent');
});
afterAll(async () => {
  await endChildren();
  removeScratchDirectories();
});

/** Adds a host that leads to a target of its own. @returns its name */
async function addHost(serveTarget: (socket: net.Socket) => void): Promise<string> {
  const host = `x${++hosts}.p.example.com`;
  await write(server, '/index/addhost/', {
    client_id: clientId,
    host,
    scheme: 'all',
    target: (await startTarget(serveTarget)).address,
    cert_file_path: covering.certificate,
    key_file_path: covering.key,
  });
  return host;
}

test(
  'forty HTTP/2 visitors who cancel hundreds of requests at the same moment hold the event loop for a fraction of what all of those would take',
  async () => {
    const host = await addHost((socket) => socket.on('data', () => undefined));
    const hold = new LoopHold(server);
    const burst = Buffer.concat(
      Array.from({ length: 700 }, (_, index) => Buffer.concat([frames.request(2 * index + 1, fields(host)), frames.reset(2 * index + 1)])),
    );
    const visitors = await Promise.all(Array.from({ length: 40 }, () => silentHttp2(server.secureHostsPort, host)));
    await hold.most();
    await Promise.all(visitors.map((visitor) =>
      new Promise((resolve) => {
        visitor.on('close', resolve).resume();
        visitor.write(burst);
      })
    ));
    expect(await hold.most()).toBeLessThan(700);
  },
  60_000,
);

function endless(socket: net.Socket): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write(hints));
  };
  socket.on('drain', more);
  more();
}

/** What an HTTP/2 visitor that reads nothing may send, and what the target answers. */
const floods: ReadonlyArray<readonly [name: string, answers: (socket: net.Socket) => void, make: (index: number, host: string) => Buffer, most: number]> = [
  ['interim responses to 100 requests', endless, (index, host) => frames.request(2 * index + 1, fields(host)), 100],
  ['the heads of responses to requests that are taken back', (socket) => {
    socket.on('data', () => socket.write(answer));
  }, (index, host) => {
    const back = 2 * (index - 64) + 1;
    return Buffer.concat([frames.request(2 * index + 1, fields(host)), ...back > 0 ? [frames.reset(back)] : []]);
  }, Number.POSITIVE_INFINITY],
  ['answers to pings', () => undefined, () => Buffer.concat(Array.from({ length: 100 }, frames.ping)), Number.POSITIVE_INFINITY],
  ['answers to settings', () => undefined, () => Buffer.concat(Array.from({ length: 100 }, frames.settings)), Number.POSITIVE_INFINITY],
];

test.each(floods)('%s for an HTTP/2 visitor who reads nothing leave the server as small as it was', async (_, answers, make, most) => {
  const host = await addHost(answers);
  const send = (index: number) => make(index, host);
  // Once before the measurement: memory for what the programs load with their first visitor does not count.
  await flood(await silentHttp2(server.secureHostsPort, host), send, 10);
  const growth = await memoryGrowth([server.child, agent], async () => {
    const visitor = await silentHttp2(server.secureHostsPort, host);
    await Promise.race([flood(visitor, send, most).then(() => delay(LASTS)), delay(LASTS)]);
    visitor.destroy();
  });
  expect(Math.max(...growth)).toBeLessThan(MOST_GROWTH);
});

test.each(
  [
    ['answers to requests for a host that is not there', (port: number) => ({ port, request: 'GET / HTTP/1.1\r\nHost: nowhere.example\r\n\r\n' })],
    [
      'a proxy that asks for a login',
      (_port: number, proxy: number) => ({ port: proxy, request: 'CONNECT a.example:1 HTTP/1.1\r\nHost: a.example:1\r\n\r\n' }),
    ],
  ] as const,
)('%s: a visitor who sends requests without end and reads nothing is read no further, and the server stays as small as it was', async (_, way) => {
  await write(server, '/client/edit/', { id: clientId, u: 'name', p: 'word' });
  const { port, request } = way(server.hostsPort, (await openTunnel(server, clientId, '', 'httpProxy')).port);
  const requests = Buffer.from(request.repeat(1000));
  const growth = await memoryGrowth([server.child, agent], async () => {
    const visitor = await visit(port);
    visitor.pause();
    const more = (): void => {
      while (!visitor.destroyed && visitor.write(requests));
    };
    visitor.on('drain', more);
    more();
    await delay(LASTS);
    visitor.destroy();
  });
  expect(Math.max(...growth)).toBeLessThan(MOST_GROWTH);
});
