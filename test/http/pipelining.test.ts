import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { connect, type Server, type Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { oneAtATime, PIPELINED_MOST } from '../../src/http/one-at-a-time.ts';
import { slotLimits } from '../../src/schema/limits/operation-slots.ts';
import { eventually } from '../support/eventually.ts';
import { basic, testApps } from '../support/http.ts';

const start = testApps();
const open: Array<{ destroy: () => unknown }> = [];
afterEach(() => {
  for (const one of open.splice(0)) one.destroy();
});

async function connected(port: number): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port });
  open.push(socket);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port');
  return address.port;
}

/** A server that answers when the test allows it. @returns the responses that are under way */
async function heldServer(): Promise<{ readonly port: number; readonly begun: ServerResponse[] }> {
  const begun: ServerResponse[] = [];
  const server = createServer(oneAtATime((_request, response) => begun.push(response)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push({ destroy: () => server.close() });
  return { port: portOf(server), begun };
}

const request = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n';

test('pipelined requests begin one after the other, in their order', async () => {
  const { port, begun } = await heldServer();
  const socket = await connected(port);
  let received = '';
  socket.on('data', (chunk) => {
    received += String(chunk);
  });
  socket.write(request.repeat(3));
  for (const [index, text] of ['one', 'two', 'three'].entries()) {
    await eventually(() => begun.length, (count) => count > index);
    expect(begun).toHaveLength(index + 1);
    begun[index]?.end(text);
  }
  await eventually(() => received, (text) => text.includes('three'));
  expect(received).toMatch(/one[^]*two[^]*three/);
});

test('a connection with more requests waiting than may is closed, and none of them begins', async () => {
  const { port, begun } = await heldServer();
  const socket = await connected(port);
  socket.resume().write(request.repeat(PIPELINED_MOST + 2));
  await once(socket, 'close');
  await eventually(() => begun[0]?.closed, (closed) => closed === true);
  expect(begun).toHaveLength(1);
});

test('requests that wait when the connection ends never begin, and another connection is served', async () => {
  const { port, begun } = await heldServer();
  const socket = await connected(port);
  socket.write(request.repeat(PIPELINED_MOST + 1));
  await eventually(() => begun.length, (count) => count === 1);
  socket.destroy();
  await eventually(() => begun[0]?.closed, (closed) => closed === true);
  (await connected(port)).write(request);
  await eventually(() => begun.length, (count) => count === 2);
  expect(begun).toHaveLength(2);
});

test('pipelined operations whose connection ends leave their caller every place', async () => {
  const app = await start();
  const body = JSON.stringify({ query: '{ viewer { role } }' });
  const head =
    `POST /graphql HTTP/1.1\r\nhost: x\r\nauthorization: ${basic().authorization}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  // Whether a request is still parsed when its connection is gone depends on how fast the code is by then.
  for (let round = 0; round < 40; round++) {
    const socket = await connected(Number(new URL(app.url).port));
    socket.write((head + body).repeat(PIPELINED_MOST));
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    socket.destroy();
  }
  const answers = await Promise.all(Array.from({ length: slotLimits.running }, () =>
    fetch(`${app.url}/graphql`, {
      method: 'POST',
      headers: { ...basic(), 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(10_000),
    })));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
});
