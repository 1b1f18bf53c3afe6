import { once } from 'node:events';
import { expect, jest, test } from '@jest/globals';
import { SocketDuplex } from '../../src/stream-handlers/files/socket-duplex.ts';
import { EmptySocket } from '../support/empty-socket.ts';

test('what ends with an error is reset, anything else is not', async () => {
  const resets: Array<boolean | undefined> = [];
  for (const error of [undefined, new Error('over')]) {
    const socket = Object.assign(new EmptySocket(), { destroy: (reset?: boolean) => resets.push(reset) });
    const duplex = new SocketDuplex(socket).on('error', () => undefined);
    await new Promise((resolve) => duplex.destroy(error).once('close', resolve));
  }
  expect(resets).toEqual([false, true]);
});

test('the timeout is that of the last progress, in either direction', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick'] });
  try {
    const socket = new EmptySocket();
    const duplex = new SocketDuplex(socket);
    let timeouts = 0;
    duplex.setTimeout(100, () => timeouts++);
    for (const progress of [() => duplex.write('x'), () => socket.sink?.onData(Buffer.from('x')), () => socket.sink?.onDrain()]) {
      jest.advanceTimersByTime(80);
      progress();
    }
    jest.advanceTimersByTime(99);
    expect(timeouts).toBe(0);
    jest.advanceTimersByTime(1);
    expect(timeouts).toBe(1);
    duplex.setTimeout(100);
    await once(duplex.destroy(), 'close');
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});
