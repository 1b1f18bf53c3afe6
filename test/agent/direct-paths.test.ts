import os from 'node:os';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { DirectPaths } from '../../src/agent/direct/direct-paths.ts';
import { openPath } from '../../src/agent/direct/open-path.ts';
import { Signal } from '../../src/agent/direct/signal.ts';
import { agreeOnSession, ServerSession } from '../../src/agent/server-session.ts';
import { Mux } from '../../src/wire/mux.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import { decodeOpen } from '../../src/wire/open.ts';
import { welcomeSchema } from '../../src/wire/session-messages.ts';
import { ASK_DIRECT, visitWelcomeSchema } from '../../src/wire/visit-messages.ts';
import { EmptySocket } from '../support/empty-socket.ts';
import { eventually } from '../support/eventually.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { closed, visit } from '../support/target.ts';
import { CLIENT, openTunnel, startAgent, startEngine } from '../support/tunnel.ts';
import { startVisitor } from '../support/visitor.ts';
import { deferred, socketPair } from '../support/wire.ts';

const ends: Array<() => void> = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** Direct paths of a visitor whose agent ends each attempt after the greeting; what each attempt prefers, and how long the next one waits. */
async function failing(retry: { readonly first: number; readonly longest: number }) {
  const { dialed, accepted } = await socketPair();
  const greetings: string[] = [];
  const quiet = { onControl: () => undefined, onClose: () => undefined };
  const visitor = new Mux(dialed, 'server', { ...quiet, onOpen: (stream) => stream.reset() });
  const server = new Mux(accepted, 'agent', {
    ...quiet,
    onOpen: (stream, payload) => {
      expect(payload).toEqual(ASK_DIRECT);
      const signal = new Signal();
      stream.join(signal);
      void signal.receive('hello').then(({ ways: [preferred], stunPorts }) => {
        greetings.push(`${preferred} ${stunPorts.length}`);
        signal.destroy();
      });
    },
  });
  const log = new LogRecorder();
  const waits = jest.spyOn(globalThis, 'setTimeout');
  const sent: unknown[] = [];
  const paths = new DirectPaths({
    password: 'p',
    log: log.logger,
    server: '127.0.0.1',
    open: (payload) => visitor.open(payload),
    send: (message) => sent.push(message),
    retry,
  });
  ends.push(() => {
    waits.mockRestore();
    paths.close();
    visitor.close('over');
    server.close('over');
  });
  const failures = () => log.entries.filter(({ msg }) => msg.startsWith('no direct path: ')).map(({ level }) => level);
  /** The waits between attempts: odd, so that no other timer has them. */
  const retries = () => waits.mock.calls.map(([, ms]) => ms ?? 0).filter((ms) => ms % retry.first === 0 && ms <= retry.longest && ms > 0);
  return { paths, greetings, failures, retries, sent };
}

test('attempts follow each other at doubling intervals, with UDP and TCP alternately; the first failure is in the log', async () => {
  const { paths, greetings, failures, retries, sent } = await failing({ first: 7, longest: 28 });
  paths.start();
  // There is an attempt already.
  paths.start();
  await eventually(() => greetings.length, (length) => length >= 5);
  await eventually(failures, ({ length }) => length >= 5);
  expect(greetings.slice(0, 5)).toEqual(['udp 0', 'tcp 0', 'udp 0', 'tcp 0', 'udp 0']);
  expect(failures().slice(0, 5)).toEqual([30, 20, 20, 20, 20]);
  expect(retries().slice(0, 5)).toEqual([7, 14, 28, 28, 28]);
  expect(sent).toEqual([]);
});

test.each(['stop', 'drain', 'close'] as const)('after %s no attempt follows', async (how) => {
  const { paths, greetings, failures, retries } = await failing({ first: 10_007, longest: 20_014 });
  paths.start();
  await eventually(failures, ({ length }) => length === 1);
  expect(retries()).toEqual([10_007]);
  const cleared = jest.spyOn(globalThis, 'clearTimeout');
  paths[how]();
  expect(cleared).toHaveBeenCalled();
  cleared.mockRestore();
  expect(greetings.length).toBe(1);
});

test('it begins again at once, with UDP and the first interval, when the agent is there again; not while the server ends', async () => {
  const { paths, greetings, failures, retries } = await failing({ first: 10_007, longest: 20_014 });
  for (const count of [1, 2]) {
    paths.start();
    await eventually(failures, ({ length }) => length === count);
    paths.stop();
  }
  expect([greetings, retries()]).toEqual([['udp 0', 'udp 0'], [10_007, 10_007]]);
  paths.drain();
  paths.start();
  await new Promise(setImmediate);
  expect(greetings.length).toBe(2);
  expect(paths.carry(new EmptySocket(), () => () => undefined)).toBe(false);
});

const outside = Object.values(os.networkInterfaces()).some((list) => list?.some(({ internal, family }) => !internal && family === 'IPv4'));

/** Each end of a path, whose other end the test is. A path never uses loopback addresses. */
(outside ? describe : describe.skip)(`an open path${outside ? '' : ' (skipped: this machine has loopback addresses only)'}`, () => {
  const password = 'a password of many words';
  const quiet = { onControl: () => undefined, onServers: () => undefined };

  async function p2pServer() {
    const server = await startEngine();
    await openTunnel(server, { mode: 'p2p', password, targets: ['127.0.0.1:9'] });
    return { server, start: { sockets: netBackend, server: server.bridge, log: new LogRecorder().logger } };
  }

  test.each(['stream', 'path'] as const)(
    'ends at the agent with the stream that it was agreed on, and that stream with the path, whatever ends first (the %s)',
    async (first) => {
      const { server, start } = await p2pServer();
      const { log } = await startAgent(server);
      const agreed = await agreeOnSession({ ...start, role: 'visit', key: password, info: { type: 'p2p' }, welcome: visitWelcomeSchema });
      const session = new ServerSession(agreed, { ...quiet, onOpen: (stream) => stream.reset() });
      const signal = new Signal();
      session.open(ASK_DIRECT)?.join(signal);
      const intervals = jest.spyOn(globalThis, 'setInterval');
      const { socket, way, life } = await openPath({ role: 'visitor', password, signal, server: '127.0.0.1', stunPorts: [], preferred: 'udp' });
      ends.push(() => {
        socket.destroy();
        session.giveUp('over');
      });
      expect(life).toMatchObject({ heartbeatMs: 1000, silenceMs: 4000 });
      await log.line(/^direct path with a visitor/);
      // Over UDP, both sides send keep-alive packets beside the stream.
      const everySecond = intervals.mock.calls.filter(([, ms]) => ms === 1000).length;
      intervals.mockRestore();
      expect(everySecond).toBeGreaterThanOrEqual(way === 'udp' ? 2 : 0);
      if (first === 'stream') signal.destroy();
      else socket.destroy(true);
      expect((await log.line(/^direct path .* ended/)).msg).toMatch(/; 0 connections on it cut$/);
      await signal.closed;
    },
  );

  test.each(['stream', 'path'] as const)('ends so at the visitor, too, where its connections are cut, and the log says how many (the %s)', async (first) => {
    const { server, start } = await p2pServer();
    const signal = new Signal();
    let opened = 0;
    const open = deferred<Mux>();
    const session = new ServerSession(await agreeOnSession({ ...start, role: 'mux', key: CLIENT.vkey, info: {}, welcome: welcomeSchema }), {
      ...quiet,
      onOpen: (stream, payload) => {
        const request = decodeOpen(payload);
        if (request?.kind !== 'direct') {
          stream.reset();
          return;
        }
        stream.join(signal);
        void openPath({ role: 'agent', password, signal, server: '127.0.0.1', stunPorts: request.stunPorts, preferred: 'udp' }).then(({ socket, life }) => {
          const mux = new Mux(socket, 'agent', { ...quiet, onOpen: () => opened++, onClose: () => undefined }, life);
          open.resolve(mux);
          ends.push(() => mux.close('over'));
        });
      },
    });
    ends.push(() => session.giveUp('over'));
    const { visitor, log, port } = await startVisitor(server, { password, type: 'p2p' });
    expect((await log.line(/^direct path to the agent/))['state']).toEqual({ event: 'path', path: 'direct' });
    const carried = [await visit(port), await visit(port)];
    const lost = log.line(/^direct path lost/);
    await eventually(() => opened, (count) => count === 2);
    if (first === 'stream') signal.destroy();
    else (await open.promise).close('over');
    expect(await lost).toMatchObject({
      msg: expect.stringMatching(/; 2 connections on it cut, new ones go through the server$/),
      state: { event: 'path', path: 'relay' },
    });
    await signal.closed;
    await Promise.all(carried.map(closed));
    expect(visitor.path).toBe('relay');
  });
});
