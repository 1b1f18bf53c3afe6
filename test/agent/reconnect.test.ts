import { expect, test } from '@jest/globals';
import { ReconnectDelay } from '../../src/agent/reconnect.ts';

const almostOne = () => 1 - Number.EPSILON;
const quick = (times: number) => Array.from({ length: times }, () => 100);
const waits = (delay: ReconnectDelay, times: number) => Array.from({ length: times }, () => Math.round(delay.next()));

test('waits double from 0.5 s to 4 s and stay there, however long the outage', () => {
  expect(waits(new ReconnectDelay(almostOne), 6)).toEqual([500, 1000, 2000, 4000, 4000, 4000]);
  expect(Math.max(...waits(new ReconnectDelay(almostOne), 10_000))).toBe(4000);
});

test('while the server refuses they double to 30 s', () => {
  const delay = new ReconnectDelay(almostOne);
  expect(Array.from({ length: 8 }, () => Math.round(delay.next(true)))).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
});

test('the jitter is full: any wait down to none may come', () => {
  expect(waits(new ReconnectDelay(() => 0), 3)).toEqual([0, 0, 0]);
  expect(waits(new ReconnectDelay(() => 0.5), 3)).toEqual([250, 500, 1000]);
});

test('a session that lasted for a while resets the wait, a short one sets it to 2 s', () => {
  const delay = new ReconnectDelay(almostOne);
  waits(delay, 6);
  delay.sessionLasted(1999);
  expect(waits(delay, 1)).toEqual([2000]);
  delay.sessionLasted(2000);
  expect(waits(delay, 1)).toEqual([500]);
  delay.sessionLasted(1999);
  expect(waits(delay, 1)).toEqual([1000]);
});

test('after a refusal there is no hurry', () => {
  const delay = new ReconnectDelay(almostOne);
  delay.slowDown();
  expect(waits(delay, 1)).toEqual([30_000]);
});

test('another server is tried at once after each session that lasted, however many were lost', () => {
  const delay = new ReconnectDelay(almostOne);
  const moves = Array.from({ length: 20 }, () => {
    delay.sessionLasted(2000);
    return Math.round(delay.elsewhere(0));
  });
  expect(moves).toEqual(Array.from({ length: 20 }, () => 100));
  // They are none of the quick moves after short ones.
  delay.sessionLasted(1999);
  expect(Math.round(delay.elsewhere(0))).toBe(100);
});

test('servers that all refuse after a session that lasted are not dialed again and again', () => {
  const delay = new ReconnectDelay(almostOne);
  delay.sessionLasted(60_000);
  expect(Array.from({ length: 13 }, () => Math.round(delay.elsewhere(0)))).toEqual([...quick(9), 500, 1000, 2000, 4000]);
});

test('another server is tried at once, also after short sessions, but not again and again', () => {
  const delay = new ReconnectDelay(almostOne);
  const moves = (times: number, at: number) =>
    Array.from({ length: times }, () => {
      delay.sessionLasted(0);
      return Math.round(delay.elsewhere(at));
    });
  expect(moves(11, 0)).toEqual([...quick(8), 500, 1000, 2000]);
  expect(moves(3, 2000)).toEqual([...quick(2), 2000]);
  expect(moves(10, 60_000)).toEqual([...quick(8), 2000, 2000]);
});

test('servers that are killed every second keep an agent waiting for no more than its jitter, however long that goes on', () => {
  const delay = new ReconnectDelay(almostOne);
  const moves = Array.from({ length: 100 }, (_, second) => {
    delay.sessionLasted(900);
    return Math.round(delay.elsewhere(1000 * second));
  });
  expect(moves).toEqual(quick(100));
});

test('each of two servers that drop every session at once is dialed about once a second, as a single one is', () => {
  const dialsOf = (wait: (delay: ReconnectDelay, now: number) => number) => {
    const delay = new ReconnectDelay();
    let dials = 0;
    for (let now = 0; now < 2_000_000; dials++) {
      delay.sessionLasted(0);
      now += wait(delay, now);
    }
    return dials;
  };
  const [one, two] = [dialsOf((delay) => delay.next()), dialsOf((delay, now) => delay.elsewhere(now))];
  // For about 2000 s. The jitter is random: the deviation that is to be expected is 26.
  expect(Math.abs(one - 2000)).toBeLessThan(200);
  expect(Math.abs(two / 2 - 2000)).toBeLessThan(200);
});
