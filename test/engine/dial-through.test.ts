import { expect, test } from '@jest/globals';
import { dialThrough } from '../../src/engine/tunnels/dial-through.ts';
import { encodeDialResult } from '../../src/wire/dial-result.ts';
import { EmptySocket } from '../support/empty-socket.ts';

test.each([
  ['an agent that says it', (socket: EmptySocket) => socket.sink?.onData(encodeDialResult('refused')), 'refused'],
  ['an end without a result', (socket: EmptySocket) => socket.sink?.onEnd(), 'failed'],
  ['a loss', (socket: EmptySocket) => socket.sink?.onClose(new Error('reset')), 'failed'],
  // The dial timeout and the round trip to the agent have passed.
  ['silence', () => undefined, 'timeout'],
])('the result of a dial is taken from %s', async (_, happen, expected) => {
  const socket = new EmptySocket();
  const { result } = dialThrough(socket, -1990);
  happen(socket);
  expect(await result).toBe(expected);
  if (expected !== 'failed') expect(socket.destroyed).toBe(true);
});
