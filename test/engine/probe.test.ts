import { expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { probeThrough } from '../../src/engine/bridge/probe.ts';
import { MessageSocket } from '../../src/wire/message-socket.ts';
import { Mux } from '../../src/wire/mux.ts';
import { socketPair } from '../../src/wire/socket-pair.ts';
import { eventually } from '../support/eventually.ts';
import { CLIENT, startAgent, startEngine } from '../support/tunnel.ts';

async function listening() {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.on('error', () => undefined).resume();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { target: `127.0.0.1:${address.port}`, count: () => connections, close: () => new Promise((resolve) => server.close(resolve)) };
}

test('the agent dials a target, closes again, and says why another one cannot be dialed', async () => {
  const server = await startEngine();
  await startAgent(server);
  const { engine } = server;
  const target = await listening();
  expect(await engine.probe(CLIENT.id, target.target, 2000)).toBe('');
  await target.close(); // resolves because the connection was closed again
  expect(target.count()).toBe(1);
  expect(await engine.probe(CLIENT.id, target.target, 2000)).toMatch(new RegExp(`^${target.target}: .*ECONNREFUSED`));
  expect(await engine.probe(CLIENT.id, 'nonsense', 2000)).toBe('"nonsense" is not a target');
  expect(engine.clientState(CLIENT.id)).toMatchObject({ connections: 0, inletBytes: 0, exportBytes: 0 });
});

test('without an agent nothing is dialed; when it goes away meanwhile the probe ends', async () => {
  const server = await startEngine();
  expect(await server.engine.probe(CLIENT.id, '127.0.0.1:1', 2000)).toBe('the agent is not connected');
  expect(await server.engine.probe(99, '127.0.0.1:1', 2000)).toBe('the agent is not connected');
  await startAgent(server);
  // TEST-NET-1: packets to it are answered by nobody.
  const probe = server.engine.probe(CLIENT.id, '192.0.2.1:80', 10_000);
  await server.engine.apply({ kind: 'client', client: { ...CLIENT, enabled: false } });
  expect(await probe).not.toBe('');
});

test('an agent that does not answer in time is named as the cause, and its stream is reset', async () => {
  const [near, far] = socketPair({ remoteAddress: '192.0.2.1', remotePort: 7 });
  let reset: unknown;
  const quiet = { onControl: () => undefined, onClose: () => undefined };
  const server = new Mux(near, 'server', { ...quiet, onOpen: (stream) => stream.reset() });
  const agent = new Mux(far, 'agent', {
    ...quiet,
    onOpen: (stream) => {
      reset = stream;
    },
  });
  expect(await probeThrough({ open: () => undefined }, '192.0.2.1:80', 1000)).toBe('the agent takes no more connections');
  // 1 ms after the time for the way to the agent, which is added
  expect(await probeThrough({ open: (payload) => server.open(payload) }, '192.0.2.1:80', -1999)).toBe('the agent did not answer in time');
  await eventually(() => reset, (stream) => stream !== undefined);
  await eventually(() => agent.streamCount, (count) => count === 0);
  server.close('');
  agent.close('');
});

test("an agent's answer is shown without what is no text, up to 1,000 characters, and leaves no timer", async () => {
  jest.useFakeTimers();
  try {
    const [near, far] = socketPair({ remoteAddress: '192.0.2.1', remotePort: 7 });
    const quiet = { onControl: () => undefined, onClose: () => undefined };
    const server = new Mux(near, 'server', { ...quiet, onOpen: (stream) => stream.reset() });
    const agent = new Mux(far, 'agent', { ...quiet, onOpen: (stream) => stream.join(new MessageSocket(`\u001b[31mno\n${'x'.repeat(1000)}`)) });
    await jest.advanceTimersByTimeAsync(10);
    const timers = jest.getTimerCount();
    const answer = probeThrough({ open: (payload) => server.open(payload) }, '192.0.2.1:80', 1000);
    await jest.advanceTimersByTimeAsync(10);
    expect(await answer).toBe(`\ufffd[31mno\ufffd${'x'.repeat(992)}`);
    expect(jest.getTimerCount()).toBe(timers);
    server.close('');
    agent.close('');
    // All pairs of sockets of this process share an immediate, which must not stay a fake one.
    await jest.advanceTimersByTimeAsync(10);
  } finally {
    jest.useRealTimers();
  }
});
