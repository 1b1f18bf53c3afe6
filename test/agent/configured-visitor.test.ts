import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import { ConfiguredVisitor } from '../../src/agent/configured-visitor.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import type { SocketBackend } from '../../src/wire/socket.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { netServer } from '../support/net-server.ts';

/** A visitor of the configuration file, whose server is not there. */
function visitorOf(host: string, port: number, sockets: SocketBackend = netBackend) {
  const log = new LogRecorder();
  const visitor = new ConfiguredVisitor({
    servers: [{ host: '127.0.0.1', port: 1 }],
    type: 'secret',
    password: 'p',
    listen: { host, port },
    log: log.logger,
    version: '1',
    sockets,
  });
  const over = visitor.run();
  return { visitor, log, over };
}

test('a local port that is taken is tried again until it is free', async () => {
  const taken = await netServer();
  const { port } = taken;
  const { visitor, log, over } = visitorOf('127.0.0.1', port);
  const error = `listen EADDRINUSE: address already in use 127.0.0.1:${port}`;
  const refused = await log.line(/cannot be opened/);
  expect([refused['state'], refused.msg]).toEqual([
    { event: 'not listening', error, retryMs: 500 },
    `the local port cannot be opened: ${error}; trying again in 0.5 s`,
  ]);
  expect([visitor.address, visitor.error]).toEqual(['', error]);
  expect((await log.line(/trying again in 1 s/))['state']).toMatchObject({ retryMs: 1000 });
  taken.close();
  await once(taken.server, 'close');
  expect((await log.line(/listening on/))['state']).toEqual({ event: 'listening', address: `127.0.0.1:${port}` });
  // It has its session next.
  await log.line(/cannot connect to 127\.0\.0\.1:1/);
  expect([visitor.address, visitor.error]).toEqual([`127.0.0.1:${port}`, '']);
  await visitor.stop();
  await over;
});

test('it says whether another one takes its place, and is over when it is stopped, also while it waits for its port', async () => {
  const taken = await netServer();
  const { visitor, log, over } = visitorOf('127.0.0.1', taken.port);
  await log.line(/cannot be opened/);
  visitor.tellOfEnd(true);
  visitor.tellOfEnd(false);
  expect(log.entries.slice(-2).map(({ state }) => state)).toEqual([{ event: 'restarted', reason: 'visitor' }, { event: 'stopped' }]);
  await visitor.stop();
  await over;
  expect(log.entries.filter(({ msg }) => /cannot connect/.test(msg))).toEqual([]);
  taken.close();
});

test('an IPv6 address of its own is named in brackets', async () => {
  const listen: SocketBackend['listen'] = async ({ host, port }) => ({ host, port, close: async () => undefined, renew: () => undefined });
  const { visitor, log, over } = visitorOf('::1', 7, { ...netBackend, listen });
  const { state } = await log.line(/listening on/);
  await visitor.stop();
  await over;
  expect(state).toEqual({ event: 'listening', address: '[::1]:7' });
});
