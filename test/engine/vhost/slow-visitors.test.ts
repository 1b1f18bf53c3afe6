import { expect, jest, test } from '@jest/globals';
import { SlowVisitors, type TimedVisitor, VHOST_TIMING } from '../../../src/engine/vhost/slow-visitors.ts';
import { type Waiting, WaitState } from '../../../src/engine/vhost/wait-state.ts';

/** When a visitor expires that has waited for that since 0, if it is looked at in each ms given. @param pending bytes that it does not read */
function expired(
  waiting: Waiting,
  looks: readonly number[],
  { pending = 0, meanwhile = () => undefined }: { pending?: number; meanwhile?: (state: WaitState) => unknown } = {},
) {
  const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
  try {
    const waitState = new WaitState();
    waitState.begin(waiting);
    meanwhile(waitState);
    const times: number[] = [];
    let now = 0;
    const visitor: TimedVisitor = { waitState, pending, expire: () => times.push(now) };
    const slow = new SlowVisitors(new Set([visitor]), new Set(), VHOST_TIMING);
    for (now of looks) {
      clock.mockReturnValue(now);
      slow.look(now);
    }
    return times;
  } finally {
    clock.mockRestore();
  }
}

test.each<[Waiting, number]>([['first', 10_000], ['head', 10_000], ['idle', 60_000], ['response', 60_000]])(
  'a visitor that waits for its %s may take %i ms',
  (waiting, ms) => {
    expect(expired(waiting, [ms, ms + 1], { pending: 1 })).toEqual([ms + 1]);
  },
);

test('a body has to bring 500 bytes a second, over 20 s each time, unless the visitor is not read', () => {
  const receiving = (bytes: number) => ({ meanwhile: (state: WaitState) => (state.received(500), state.received(bytes - 500)) });
  expect(expired('body', [20_000, 21_000], receiving(10_499))).toEqual([21_000]);
  expect(expired('body', [20_000, 21_000, 41_000, 41_001], receiving(10_500))).toEqual([41_001]);
  const held = (state: WaitState): void => {
    state.held = true;
  };
  expect(expired('body', [21_000, 42_001], { meanwhile: held })).toEqual([]);
  // What came before this body does not count.
  expect(expired('body', [21_000], { meanwhile: (state) => (state.received(20_000), state.begin('body')) })).toEqual([21_000]);
});

test('a response that waits must be read within 20 s after some of it was read', () => {
  expect(expired('nothing', [20_000, 20_001], { pending: 1 })).toEqual([20_001]);
  expect(expired('nothing', [20_001])).toEqual([]);
  expect(expired('nothing', [20_001, 25_000, 25_001], { pending: 1, meanwhile: (state) => (state.drainedAt = 5000) })).toEqual([25_001]);
  const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
  const state = new WaitState();
  clock.mockReturnValue(7);
  state.drained();
  expect([state.since, state.drainedAt, state.waiting]).toEqual([0, 7, 'first']);
  clock.mockReturnValue(9);
  state.begin('idle');
  expect([state.since, state.drainedAt, state.waiting]).toEqual([9, 9, 'idle']);
  clock.mockRestore();
});

test('visitors are looked at as often as the shortest time asks, and at least every second', () => {
  jest.useFakeTimers();
  try {
    const looksIn = (timing: Partial<typeof VHOST_TIMING>): number => {
      const slow = new SlowVisitors(new Set(), new Set(), { ...VHOST_TIMING, ...timing });
      let looks = 0;
      slow.look = () => void looks++;
      slow.start();
      jest.advanceTimersByTime(3000);
      slow.stop();
      jest.advanceTimersByTime(3000);
      return looks;
    };
    expect(looksIn({})).toBe(3);
    for (const name of ['headMs', 'idleMs', 'responseMs', 'stallMs'] as const) expect(looksIn({ [name]: 600 })).toBe(10);
  } finally {
    jest.useRealTimers();
  }
});
