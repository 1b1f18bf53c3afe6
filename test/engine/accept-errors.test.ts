import http from 'node:http';
import net from 'node:net';
import { expect, jest, test } from '@jest/globals';
import { logAcceptErrors } from '../../src/engine/limits/accept-errors.ts';
import { addressOf, close, listen } from '../../src/http/listening.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { startVhost } from '../support/vhost.ts';

test('accepts that fail one after another are one line in the log every ten seconds', () => {
  const log = new LogRecorder();
  const onError = logAcceptErrors(log.logger, 9001);
  let now = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
  for (const ms of [0, ...Array.from({ length: 999 }, () => 9999), 10_000, 19_999, 20_000]) {
    now = ms;
    onError(new Error('EMFILE'));
  }
  clock.mockRestore();
  const line = { port: 9001, msg: 'a listener failed to accept a connection' };
  expect(log.entries).toMatchObject([{ ...line, unlogged: 0 }, { ...line, unlogged: 999 }, { ...line, unlogged: 1 }]);
});

test('the port of the API survives them, and still refuses a port that is taken', async () => {
  const log = new LogRecorder();
  const server = await listen(
    http.createServer((_request, response) => response.end('served')),
    { host: '127.0.0.1', port: 0 },
    logAcceptErrors(log.logger, 8080),
  );
  const { port } = addressOf(server);
  server.emit('error', new Error('accept ENFILE')); // as Node does
  expect(log.entries).toMatchObject([{ port: 8080, err: { message: 'accept ENFILE' } }]);
  expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe('served');
  await expect(listen(http.createServer(), { host: '127.0.0.1', port }, (error) => log.logger.error(error))).rejects.toThrow('EADDRINUSE');
  expect(log.entries).toHaveLength(1);
  await close(server);
});

test('the listeners of hosts survive them, too', async () => {
  const created = jest.spyOn(net, 'createServer');
  const { log } = await startVhost([]);
  const servers = created.mock.results.flatMap((result) => (result.type === 'return' ? [result.value] : []));
  created.mockRestore();
  expect(servers).toHaveLength(2);
  for (const server of servers) server.emit('error', new Error('accept EMFILE'));
  expect(log.entries.map(({ msg }) => msg)).toEqual(servers.map(() => 'a listener failed to accept a connection'));
});
