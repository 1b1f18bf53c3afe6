import net from 'node:net';
import { expect, jest, test } from '@jest/globals';
import { listenOn } from '../../src/wire/listen-on.ts';

test('the number of connections that wait to be accepted is passed on', async () => {
  const server = net.createServer();
  const listens = jest.spyOn(server, 'listen');
  await listenOn(server, { host: '127.0.0.1', port: 0, backlog: 7 });
  expect(listens).toHaveBeenCalledWith(expect.objectContaining({ backlog: 7 }));
  server.close();
});
