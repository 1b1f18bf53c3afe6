import net from 'node:net';
import { expect, jest, test } from '@jest/globals';
import { listenOn } from '../../src/wire/listen-on.ts';
import { errnoOf, messageOf, portOf } from '../../src/wire/system-error.ts';

test('the number of connections that wait to be accepted is passed on', async () => {
  const server = net.createServer();
  const listens = jest.spyOn(server, 'listen');
  await listenOn(server, { host: '127.0.0.1', port: 0, backlog: 7 });
  expect(listens).toHaveBeenCalledWith(expect.objectContaining({ backlog: 7 }));
  server.close();
});

test('a shared port is asked for by its place, and an error names it', async () => {
  const failing = Object.assign(new Error('taken'), { code: 'EADDRINUSE' });
  const asked: unknown[] = [];
  const server = net.createServer();
  const listens = jest.spyOn(server, 'listen').mockImplementationOnce(() => {
    setImmediate(() => server.emit('error', failing));
    return server;
  });
  const handle = {};
  const share = (...place: readonly [string, number]): Promise<object> => {
    asked.push(place);
    return Promise.resolve(handle);
  };
  await expect(listenOn(server, { host: '192.0.2.1', port: 8024, backlog: 7, share })).rejects.toMatchObject({
    code: 'EADDRINUSE',
    address: '192.0.2.1',
    port: 8024,
  });
  expect([asked, listens.mock.calls]).toEqual([[['192.0.2.1', 8024]], [[{ _handle: handle }, 7]]]);
});

test('what an error of the system says', () => {
  const error = Object.assign(new Error('refused'), { code: 'ECONNREFUSED', port: 80 });
  const others = [Object.assign(new Error('odd'), { code: 5, port: '80' }), new Error('plain'), 'text', null, undefined];
  expect([error, ...others].map((one) => [errnoOf(one), portOf(one)])).toEqual([['ECONNREFUSED', 80], ...others.map(() => ['', undefined])]);
  const both = new AggregateError([new Error('first'), new Error('second')], 'several');
  expect([both, new AggregateError([], 'none'), error, 'text', null, {}].map(messageOf)).toEqual([
    'first, second',
    'none',
    'refused',
    'text',
    'null',
    'unknown error',
  ]);
});
