import { once } from 'node:events';
import { expect, jest, test } from '@jest/globals';
import { SocketDuplex } from '../../src/stream-handlers/files/socket-duplex.ts';
import { EmptySocket } from '../support/empty-socket.ts';

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
