import { expect, test } from '@jest/globals';
import { DataConnections } from '../../src/wire/data-connections.ts';
import { EmptySocket } from '../support/empty-socket.ts';

test('a session keeps 256 data connections, and closes what comes beyond them', () => {
  const connections = new DataConnections('server', undefined);
  const sockets = Array.from({ length: 300 }, () => new EmptySocket());
  for (const [index, socket] of sockets.entries()) connections.add(socket, index + 1);
  expect(sockets.filter(({ destroyed }) => destroyed)).toEqual(sockets.slice(256));
  connections.close();
  expect(sockets.every(({ destroyed }) => destroyed)).toBe(true);
});

test('a number that is taken is not taken again', () => {
  const connections = new DataConnections('server', undefined);
  const [first, second] = [new EmptySocket(), new EmptySocket()];
  connections.add(first, 7);
  connections.add(second, 7);
  expect([first.destroyed, second.destroyed]).toEqual([false, true]);
  connections.close();
});
