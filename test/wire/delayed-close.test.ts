import { afterEach, expect, jest, test } from '@jest/globals';
import { closeSoon } from '../../src/wire/delayed-close.ts';
import { EmptySocket } from '../support/empty-socket.ts';

/** A peer that reads as much as the test says. */
class SlowPeer extends EmptySocket {
  override pending = 0;
}

afterEach(() => {
  jest.useRealTimers();
});

/** Closes a socket of which so many bytes are still to be taken. */
function closing(pending: number) {
  jest.useFakeTimers();
  const socket = new SlowPeer();
  socket.pending = pending;
  const closed = jest.fn();
  closeSoon(socket, closed);
  const passes = (seconds: number): boolean => {
    jest.advanceTimersByTime(seconds * 1000);
    return socket.destroyed;
  };
  return { socket, closed, passes };
}

test('a peer that takes nothing is disconnected after 30 s; each byte that it takes gives it 30 s more', () => {
  const { socket, closed, passes } = closing(1000);
  expect([socket.ended, passes(29)]).toEqual([true, false]);
  socket.pending = 999;
  expect(passes(30)).toBe(false);
  socket.pending = 998;
  expect(passes(30)).toBe(false);
  expect([closed.mock.calls.length, passes(1), closed.mock.calls.length]).toEqual([0, true, 1]);
  expect(jest.getTimerCount()).toBe(0);
});

test('a peer that has taken everything has a second to close', () => {
  const { socket, passes } = closing(1000);
  socket.pending = 0;
  expect([passes(1), passes(0.999)]).toEqual([false, false]);
  expect(passes(0.001)).toBe(true);
  const { socket: other, closed, passes: pass } = closing(1000);
  other.sink?.onClose();
  expect([closed.mock.calls.length, jest.getTimerCount(), pass(60)]).toEqual([1, 0, false]);
});
