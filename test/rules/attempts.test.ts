import { expect, test } from '@jest/globals';
import { Attempts } from '../../src/rules/attempts.ts';

const now = 1_000_000;
const times = (count: number, attempt: () => number) => Array.from({ length: count }, attempt);

test('ten failures from an address are put up with in a minute, for whatever names; right passwords count nothing', () => {
  const attempts = new Attempts();
  for (let n = 0; n < 50; n++) {
    expect(attempts.begin('192.0.2.1', 'right', now)).toBe(0);
    attempts.succeeded('192.0.2.1', 'right');
  }
  expect(times(10, () => attempts.begin('192.0.2.1', `name ${Math.random()}`, now))).toEqual(times(10, () => 0));
  expect(attempts.begin('192.0.2.1', 'another', now + 1000)).toBe(59_000);
  expect(attempts.begin('192.0.2.2', 'another', now)).toBe(0);
  expect(attempts.begin('192.0.2.1', 'another', now + 60_000)).toBe(0);
});

test('a right password takes back its own attempt, not the failures before it', () => {
  const attempts = new Attempts();
  for (let n = 0; n < 9; n++) attempts.begin('192.0.2.1', 'victim', now);
  attempts.begin('192.0.2.1', 'own account', now);
  attempts.succeeded('192.0.2.1', 'own account');
  expect(attempts.begin('192.0.2.1', 'victim', now)).toBe(0);
  expect(attempts.begin('192.0.2.1', 'victim', now)).toBe(60_000);
});

test('a name is guarded against many addresses, and freed by itself', () => {
  const attempts = new Attempts();
  expect(times(60, () => attempts.begin(`192.0.2.${Math.random()}`, 'victim', now)).every((wait) => wait === 0)).toBe(true);
  expect(attempts.begin('198.51.100.1', 'victim', now)).toBe(60_000);
  expect(attempts.lockouts(now)).toEqual([{ kind: 'name', source: 'victim', until: now + 60_000 }]);
  expect([attempts.free({ kind: 'name', source: 'victim' }), attempts.free({ kind: 'name', source: 'victim' })]).toEqual([true, false]);
  expect(attempts.begin('198.51.100.1', 'victim', now)).toBe(0);
});

test('the addresses of an IPv6 network count as one, and a mapped IPv4 address as itself', () => {
  const attempts = new Attempts();
  for (let n = 0; n < 10; n++) attempts.begin(`2001:db8:0:${n}::${n}`, `name ${n}`, now);
  for (let n = 0; n < 10; n++) attempts.begin('::ffff:192.0.2.1', `mapped ${n}`, now);
  expect(attempts.lockouts(now).map(({ source }) => source)).toEqual(['2001:db8::/56', '192.0.2.1']);
  expect(attempts.begin('2001:db8:0:ff::1', 'x', now)).toBeGreaterThan(0);
  expect(attempts.begin('2001:db8:0:100::1', 'x', now)).toBe(0);
});
