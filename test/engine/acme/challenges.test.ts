import { expect, test } from '@jest/globals';
import { SharedChallenges } from '../../../src/engine/acme/challenges.ts';
import { type AcmeOrders, NO_ORDERS } from '../../../src/engine/acme/orders.ts';
import { LogRecorder } from '../../support/log-recorder.ts';

const challenge = { name: 'a.example', token: 'token', answer: 'token.thumbprint', at: 0 };

test('any number of requests cause a few looks, and none of them hides a challenge that was stored meanwhile', async () => {
  let looks = 0;
  let stored = NO_ORDERS;
  const challenges = new SharedChallenges(async () => {
    looks++;
    return stored;
  }, new LogRecorder().logger);
  const began = performance.now();
  for (let round = 0; round < 5; round++) {
    const guesses = Array.from({ length: 1000 }, (_, index) => challenges.answer('a.example', `guess ${index}`));
    expect(new Set(await Promise.all(guesses))).toEqual(new Set([undefined]));
  }
  const late = challenges.answer('a.example', 'token');
  stored = { ...NO_ORDERS, challenges: [challenge] };
  expect(await late).toBe('token.thumbprint');
  expect(await challenges.answer('b.example', 'token')).toBeUndefined();
  expect(looks).toBe(7);
  expect(performance.now() - began).toBeGreaterThan(590);
});

test('a request that comes while a look is under way waits for the next one, which sees what is stored now', async () => {
  const looks: Array<(orders: AcmeOrders) => void> = [];
  const challenges = new SharedChallenges(() => new Promise((resolve) => looks.push(resolve)), new LogRecorder().logger);
  const early = challenges.answer('a.example', 'token');
  await new Promise(setImmediate);
  const late = challenges.answer('a.example', 'token');
  looks[0]?.(NO_ORDERS);
  expect(await early).toBeUndefined();
  while (looks.length < 2) await new Promise(setImmediate);
  looks[1]?.({ ...NO_ORDERS, challenges: [challenge] });
  expect(await late).toBe('token.thumbprint');
});

test('while the database fails or does not answer, there is no challenge, and the log says so once', async () => {
  const log = new LogRecorder();
  let fails = true;
  const challenges = new SharedChallenges(() => fails ? Promise.reject(new Error('it is away')) : new Promise(() => {}), log.logger);
  expect(await challenges.answer('a.example', 'token')).toBeUndefined();
  fails = false;
  const began = performance.now();
  expect(await challenges.answer('a.example', 'token')).toBeUndefined();
  expect(performance.now() - began).toBeGreaterThan(1900);
  expect(log.entries.map(({ msg }) => msg)).toEqual(['the challenges of other servers cannot be looked up']);
});
