import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { BaseSocket } from '../../src/wire/base-socket.ts';
import { LOOK_MS, NOT_WATCHED, SocketWatch, type Watched } from '../../src/wire/socket-watch.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

function watched(look: () => boolean): Watched {
  return { watchPlace: NOT_WATCHED, look };
}

test('all of a crowd that goes at once are found within one round', () => {
  const watch = new SocketWatch();
  let found = 0;
  for (let n = 0; n < 1000; n++) {
    watch.add(watched(() => {
      found++;
      return false;
    }));
  }
  jest.advanceTimersByTime(LOOK_MS);
  expect(found).toBe(1000);
});

test('sockets that stay are looked at once in each round, whatever goes beside them', () => {
  const watch = new SocketWatch();
  let looks = 0;
  for (let n = 0; n < 500; n++) {
    watch.add(watched(() => {
      looks++;
      return true;
    }));
  }
  for (let n = 0; n < 500; n++) watch.add(watched(() => false));
  jest.advanceTimersByTime(LOOK_MS);
  expect(looks).toBe(500);
  jest.advanceTimersByTime(10 * LOOK_MS);
  expect(looks).toBeGreaterThan(500 * 8);
  expect(looks).toBeLessThanOrEqual(500 * 11);
});

test('no socket is skipped when others are added or removed between and during the steps', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(9), { minLength: 300, maxLength: 300 }), (choices) => {
      jest.useRealTimers();
      jest.useFakeTimers();
      const watch = new SocketWatch();
      const passing: Watched[] = [];
      let choice = 0;
      const chosen = (): number => choices[choice++ % choices.length] ?? 0;
      const come = (): void => {
        const socket = watched(() => true);
        watch.add(socket);
        watch.add(socket);
        passing.push(socket);
      };
      const go = (): void => {
        const [gone] = passing.splice(Math.floor(passing.length * chosen() / 10), 1);
        if (!gone) return;
        watch.delete(gone);
        watch.delete(gone);
      };
      let looks: number[] = [];
      let over = false;
      for (let n = 0; n < 50; n++) {
        come();
        watch.add(watched(() => {
          looks.push(n);
          // As a socket that is gone takes others with it.
          if (chosen() < 5) go();
          return !over;
        }));
      }
      for (let round = 0; round < 5; round++) {
        looks = [];
        for (let step = 0; step < 35; step++) {
          jest.advanceTimersByTime(LOOK_MS / 15);
          for (let n = chosen(); n > 0; n--) (chosen() < 5 ? come : go)();
        }
        // A round takes 15 steps, or a few more as sockets come. One that was moved is looked at early in one round and late in the next.
        expect(new Set(looks).size).toBe(50);
      }
      for (const each of passing) watch.delete(each);
      over = true;
      jest.advanceTimersByTime(2 * LOOK_MS);
      expect(jest.getTimerCount()).toBe(0);
    }),
    { numRuns: 200 },
  );
});

test('a closed socket is not probed, and its place is free', () => {
  const watch = new SocketWatch();
  const gone = watched(() => {
    throw new Error('it was looked at');
  });
  watch.add(gone);
  watch.delete(gone);
  expect(gone.watchPlace).toBe(NOT_WATCHED);
  jest.advanceTimersByTime(2 * LOOK_MS);
  expect(jest.getTimerCount()).toBe(0);
});

/** A socket whose state the test says, and what its sink saw. */
class StatedSocket extends BaseSocket {
  readonly remoteAddress = '';
  readonly remotePort = 0;
  readonly local = { address: '', port: 0 };
  pending = 0;
  writableEnded = false;
  moved = 0;
  probes = 0;
  readonly seen: unknown[] = [];
  constructor() {
    super();
    this.attach({
      onData: () => undefined,
      onEnd: () => this.seen.push('end'),
      onDrain: () => undefined,
      onClose: (error) => this.seen.push(error?.message ?? 'closed'),
    });
    jest.advanceTimersByTime(0);
  }
  write = () => true;
  end = () => undefined;
  destroy(reset = false): void {
    this.seen.push(reset ? 'reset' : 'destroyed');
    this.gone();
  }
  protected startReading = () => undefined;
  protected stopReading = () => undefined;
  protected probe(): void {
    this.probes++;
  }
  peerEnds(): void {
    this.receiveEnd();
  }
  closes(): void {
    this.gone();
  }
}

test.each<readonly [string, (socket: StatedSocket) => void, again: boolean, probes: number]>([
  ['is read', () => undefined, false, 0],
  ['is paused', (socket) => socket.pause(), true, 1],
  [
    'is paused, and read again',
    (socket) => {
      socket.pause();
      socket.resume();
    },
    false,
    0,
  ],
  [
    'is paused while bytes wait to be sent',
    (socket) => {
      socket.pause();
      socket.pending = 1;
    },
    true,
    0,
  ],
  [
    'is paused after our end',
    (socket) => {
      socket.pause();
      socket.writableEnded = true;
    },
    true,
    0,
  ],
  ['the peer has ended', (socket) => socket.peerEnds(), true, 1],
  [
    'the peer has ended while bytes wait to be sent',
    (socket) => {
      socket.peerEnds();
      socket.pending = 1;
    },
    true,
    0,
  ],
  [
    'we have ended',
    (socket) => {
      socket.writableEnded = true;
    },
    true,
    0,
  ],
  [
    'is closed',
    (socket) => {
      socket.pause();
      socket.closes();
    },
    false,
    0,
  ],
])('of a socket that %s, the peer is asked whether it is there if nothing else would tell', (_, happens, again, probes) => {
  const socket = new StatedSocket();
  happens(socket);
  expect([socket.look(1), socket.probes]).toEqual([again, probes]);
  socket.closes();
  jest.advanceTimersByTime(LOOK_MS);
  expect(jest.getTimerCount()).toBe(0);
});

test.each<readonly [string, (socket: StatedSocket) => void]>([['is paused', (socket) => socket.pause()], [
  'has ended at the peer',
  (socket) => socket.peerEnds(),
]])(
  'a socket that %s is watched until it is closed',
  (_, happens) => {
    const socket = new StatedSocket();
    expect(socket.watchPlace).toBe(NOT_WATCHED);
    happens(socket);
    // All suites of a worker share the watch, whose timer may be one of another suite.
    expect(socket.watchPlace).not.toBe(NOT_WATCHED);
    socket.closes();
    expect(socket.watchPlace).toBe(NOT_WATCHED);
    jest.advanceTimersByTime(LOOK_MS);
    expect(jest.getTimerCount()).toBe(0);
  },
);

test.each<readonly [string, (socket: StatedSocket) => void]>([['the peer has', (socket) => socket.peerEnds()], ['we have', (socket) => {
  socket.writableEnded = true;
}]])('a socket that %s ended is reset when no byte has moved in the other direction for as long as that may take', (_, end) => {
  const socket = new StatedSocket();
  socket.halfClosedMs = 1000;
  socket.pause();
  // Nothing has ended.
  expect([socket.look(0), socket.look(5000)]).toEqual([true, true]);
  end(socket);
  expect([socket.look(10_000), socket.look(10_999)]).toEqual([true, true]);
  socket.moved = 1;
  expect([socket.look(10_999), socket.look(11_998)]).toEqual([true, true]);
  socket.seen.length = 0;
  expect([socket.look(11_999), socket.seen]).toEqual([false, ['reset', 'one direction was over, and nothing moved in the other']]);
  const forever = new StatedSocket();
  end(forever);
  expect([forever.look(0), forever.look(1e12)]).toEqual([true, true]);
  forever.closes();
  jest.advanceTimersByTime(LOOK_MS);
});
