import { getEventListeners } from 'node:events';
import net from 'node:net';
import { expect, jest, test } from '@jest/globals';
import { checkTarget } from '../../../src/agent/health/check-target.ts';
import { eventually } from '../../support/eventually.ts';
import { startService } from '../../support/service.ts';
import { startTarget } from '../../support/target.ts';

const http = { type: 'http', path: '/up?x=1', timeoutMs: 10_000 } as const;
const tcp = { type: 'tcp', path: '', timeoutMs: 10_000 } as const;
const never = new AbortController().signal;

test.each([[200, ''], [204, ''], [302, ''], [399, ''], [400, 'status 400'], [404, 'status 404'], [503, 'status 503']])(
  'a target that answers with %i: %j',
  async (status, problem) => {
    const service = await startService('a');
    service.answer(status);
    expect(await checkTarget(http, service.address, never)).toBe(problem);
    expect(service.requests).toEqual(['/up?x=1']);
  },
);

test('a target that accepts connections passes a TCP check, whatever it sends; for an HTTP check that is an error', async () => {
  const closing = await startTarget((socket) => socket.end());
  expect(await checkTarget(tcp, closing.address, never)).toBe('');
  expect(await checkTarget(http, closing.address, never)).toMatch(/ECONNRESET|hang up/);
  const resetting = await startTarget((socket) => socket.once('data', () => socket.resetAndDestroy()));
  expect(await checkTarget(http, resetting.address, never)).toMatch(/ECONNRESET|hang up/);
  const babbling = await startTarget((socket) => socket.end('no HTTP\r\n\r\n'));
  expect(await checkTarget(http, babbling.address, never)).toMatch(/Parse Error/);
});

test('a body without an end is not waited for', async () => {
  const endless = await startTarget((socket) => socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n')));
  expect(await checkTarget(http, endless.address, never)).toBe('');
  await eventually(() => endless.connections[0]?.destroyed || endless.connections[0]?.readableEnded, (closed) => closed === true);
});

test('a check that is stopped ends at once, and closes its connection', async () => {
  const silent = await startTarget();
  const stop = new AbortController();
  const check = checkTarget(http, silent.address, stop.signal);
  const socket = await silent.accepted();
  stop.abort();
  expect(await check).toBe('');
  socket.resume();
  await eventually(() => socket.readableEnded || socket.destroyed, (closed) => closed);
});

test('a target that accepts connections and does not answer in time fails, and nothing of the check is left', async () => {
  const silent = await startTarget();
  const { signal } = new AbortController();
  expect(await checkTarget({ ...http, timeoutMs: 20 }, silent.address, signal)).toBe('no answer within 0.02 s');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test.each([[tcp, ''], [http, expect.stringContaining('status 404')]])('a check by %j leaves no timer', async (how, problem) => {
  const service = await startService('a');
  service.answer(404);
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate', 'setInterval', 'clearInterval', 'performance', 'Date'] });
  try {
    expect(await checkTarget(how, service.address, never)).toEqual(problem);
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

test.each([['EMFILE', true], ['ENFILE', true], ['ENOBUFS', true], ['ENOMEM', true], ['EHOSTUNREACH', false]])(
  'the error %s is one of this machine, which says nothing about the target: %j',
  async (code, own) => {
    const connect = jest.spyOn(net, 'connect').mockImplementation(() => new net.Socket().destroy(Object.assign(new Error(code), { code })));
    const outcome = checkTarget(tcp, '192.0.2.1:1', never);
    connect.mockRestore();
    if (own) await expect(outcome).rejects.toMatchObject({ name: 'CheckNotMadeError', message: code });
    else expect(await outcome).toBe(code);
  },
);

test('an invalid target is an error', async () => {
  expect(await checkTarget(tcp, 'nowhere', never)).toBe('"nowhere" is not a target');
});
