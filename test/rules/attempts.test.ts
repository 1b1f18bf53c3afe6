import { expect, test } from '@jest/globals';
import { Attempts, type NamedCredential, type Suspicion } from '../../src/rules/attempts.ts';

const now = 1_000_000;
/** ms that a wrong guess at a login has to wait; one that needn't has failed afterwards. */
function fail(attempts: Attempts, address: string, name: string, at = now): number {
  const attempt = attempts.begin('login', address, name, at);
  if (attempt.wait === 0) attempt.failed();
  return attempt.wait;
}
const times = (count: number, attempt: () => number) => Array.from({ length: count }, attempt);

test('ten failures a minute from an address are allowed, for any names; right passwords do not count', () => {
  const attempts = new Attempts();
  for (let n = 0; n < 50; n++) {
    const attempt = attempts.begin('login', '192.0.2.1', 'right', now);
    expect(attempt.wait).toBe(0);
    attempt.succeeded();
  }
  expect(times(10, () => fail(attempts, '192.0.2.1', `name ${Math.random()}`))).toEqual(times(10, () => 0));
  expect(fail(attempts, '192.0.2.1', 'another', now + 1000)).toBe(59_000);
  expect(fail(attempts, '192.0.2.2', 'another')).toBe(0);
  expect(fail(attempts, '192.0.2.1', 'another', now + 60_000)).toBe(0);
});

test('attempts that are made at once count before they are answered', () => {
  const attempts = new Attempts();
  expect(times(12, () => attempts.begin('login', '192.0.2.1', 'victim', now).wait)).toEqual([...times(10, () => 0), 60_000, 60_000]);
});

test('a right password takes back its own attempt, not the failures before it', () => {
  const attempts = new Attempts();
  for (let n = 0; n < 9; n++) fail(attempts, '192.0.2.1', 'victim');
  attempts.begin('login', '192.0.2.1', 'own account', now).succeeded();
  expect(fail(attempts, '192.0.2.1', 'victim')).toBe(0);
  expect(fail(attempts, '192.0.2.1', 'victim')).toBe(60_000);
});

/** Guesses a name wrong from this many addresses, ten times each. @returns how many guesses were looked at */
function attack(attempts: Attempts, addresses: number, name = 'victim', credential: NamedCredential = 'login'): number {
  let seen = 0;
  for (let index = 0; index < addresses; index++) {
    for (let n = 0; n < 10; n++) {
      const attempt = attempts.begin(credential, `198.18.${index >> 8}.${index & 255}`, name, now);
      if (attempt.wait > 0) continue;
      seen++;
      attempt.failed();
    }
  }
  return seen;
}
function right(attempts: Attempts, address: string, name: string, credential: NamedCredential = 'login'): number {
  const attempt = attempts.begin(credential, address, name, now);
  if (attempt.wait === 0) attempt.succeeded();
  return attempt.wait;
}

test.each(['login', 'ipWhitePassword'] as const)('six addresses, or any number up to 190, lock nobody else out of a name (%s)', (credential) => {
  const attempts = new Attempts();
  expect(attack(attempts, 6, 'victim', credential)).toBe(60);
  expect(right(attempts, '192.0.2.1', 'victim', credential)).toBe(0);
  const guarded = new Attempts();
  expect(attack(guarded, 180, 'victim', credential)).toBe(60 + 174 * 3);
  expect(right(guarded, '192.0.2.1', 'victim', credential)).toBe(0);
});

test('a guarded name gives unknown addresses three guesses a minute, and all of them 600', () => {
  const attempts = new Attempts();
  attack(attempts, 6);
  expect(times(4, () => fail(attempts, '192.0.2.1', 'victim'))).toEqual([0, 0, 0, 60_000]);
  expect(fail(attempts, '192.0.2.1', 'another')).toBe(0);
  expect(attack(attempts, 1000)).toBe(600 - 63);
  expect(right(attempts, '192.0.2.2', 'victim')).toBe(60_000);
  expect(right(attempts, '192.0.2.2', 'another')).toBe(0);
});

test('what an address has guessed of other names does not count for a guarded one', () => {
  const attempts = new Attempts();
  attack(attempts, 6);
  times(5, () => fail(attempts, '192.0.2.1', 'another'));
  expect(times(4, () => fail(attempts, '192.0.2.1', 'victim'))).toEqual([0, 0, 0, 60_000]);
});

test('addresses that gave the right password before are only limited by their own ten failures', () => {
  const attempts = new Attempts();
  expect(right(attempts, '192.0.2.1', 'victim')).toBe(0);
  expect(attack(attempts, 1000)).toBe(600);
  expect(right(attempts, '192.0.2.1', 'victim')).toBe(0);
  expect(times(11, () => fail(attempts, '192.0.2.1', 'victim'))).toEqual([...times(10, () => 0), 60_000]);
});

test('others cannot make a known address of a name be forgotten', () => {
  const attempts = new Attempts();
  right(attempts, '192.0.2.1', 'victim');
  for (let n = 0; n < 9_999; n++) right(attempts, '198.18.0.1', `name ${n}`);
  for (let n = 0; n < 100; n++) right(attempts, `198.18.1.${n}`, 'name 1');
  attack(attempts, 1000);
  expect(right(attempts, '192.0.2.1', 'victim')).toBe(0);
});

test.each(['password', 'basic', 'tunnelPassword'] as const)(
  'a name that only its owner can give is refused after 60 failures, from whatever addresses (%s)',
  (credential) => {
    const attempts = new Attempts();
    expect(attack(attempts, 100, 'victim', credential)).toBe(60);
    expect(right(attempts, '192.0.2.1', 'victim', credential)).toBe(60_000);
  },
);

test('a guarded name is listed, and can be freed together with its counters', () => {
  const attempts = new Attempts();
  attack(attempts, 6);
  times(4, () => fail(attempts, '192.0.2.1', 'victim'));
  times(3, () => fail(attempts, '192.0.2.2', 'victim'));
  const lockout = { credential: 'login', kind: 'name', source: 'victim', until: new Date(now + 60_000) };
  const names = () => attempts.lockouts(now).filter(({ kind }) => kind === 'name');
  expect(names()).toEqual([lockout]);
  expect([attempts.free({ kind: 'name', source: 'victim' }, now), attempts.free({ kind: 'name', source: 'victim' }, now)]).toEqual([[lockout], []]);
  expect(times(4, () => fail(attempts, '192.0.2.1', 'victim'))).toEqual([0, 0, 0, 0]);
  // When it is guarded again, an address has all its guesses, whatever it guessed before.
  for (let n = 0; n < 60; n++) fail(attempts, `198.19.0.${n}`, 'victim');
  expect(times(4, () => fail(attempts, '192.0.2.2', 'victim'))).toEqual([0, 0, 0, 60_000]);
});

test('each credential has a count of its own; all are listed, and freed together', () => {
  const attempts = new Attempts();
  const credentials = ['login', 'password', 'ipWhitePassword', 'basic', 'tunnelPassword', 'enrolment'] as const;
  for (const credential of credentials) {
    for (let n = 0; n < 10; n++) attempts.begin(credential, '192.0.2.1', `name ${n}`, now);
  }
  for (let n = 0; n < 3; n++) attempts.keyFailed('192.0.2.1', now, `key ${n}`);
  expect(attempts.queueKey('192.0.2.1', now, { lastSeenAt: '' })).toBeGreaterThan(0);
  expect(attempts.lockouts(now).map(({ credential, kind, source }) => [credential, kind, source])).toEqual(
    [...credentials, 'vkey'].map((credential) => [credential, 'address', '192.0.2.1']),
  );
  expect(attempts.free({ kind: 'address', source: '192.0.2.1' }, now)).toHaveLength(7);
  expect([attempts.lockouts(now), fail(attempts, '192.0.2.1', 'x'), attempts.queueKey('192.0.2.1', now, { lastSeenAt: '' })]).toEqual([[], 0, 0]);
});

test('keys of clients that were last seen in the network of an address do not wait because of guesses from there', () => {
  const attempts = new Attempts();
  for (let n = 0; n < 5; n++) attempts.keyFailed('2001:db8::1', now, `key ${n}`);
  const wait = (lastSeenAt: string) => attempts.queueKey('2001:db8::2', now, { lastSeenAt });
  expect(wait('2001:db8::3')).toBe(0);
  expect([wait('2001:db8:1::3') > 0, wait('') > 0]).toEqual([true, true]);
});

test('an agent with an old key does not block logins, and wrong passwords do not block agents', () => {
  const attempts = new Attempts();
  for (let n = 0; n < 100; n++) attempts.keyFailed('192.0.2.1', now, `key ${n}`);
  expect(fail(attempts, '192.0.2.1', 'x')).toBe(0);
  for (let n = 0; n < 100; n++) fail(attempts, '192.0.2.2', 'x');
  expect(attempts.queueKey('192.0.2.2', now, { lastSeenAt: '' })).toBe(0);
});

test('of all failures of an address in a minute, the first and the lockout are reported', () => {
  const attempts = new Attempts();
  const reported: Suspicion[] = [];
  attempts.watch((suspicion) => reported.push(suspicion));
  for (let n = 0; n < 20; n++) fail(attempts, '192.0.2.1', `name ${n}`);
  for (let n = 0; n < 20; n++) attempts.keyFailed('2001:db8::1', now, `key ${n}`);
  expect(reported.map(({ news, credential, address, name }) => [news, credential, address, name])).toEqual([
    ['failure', 'login', '192.0.2.1', 'name 0'],
    ['lockout', 'login', '192.0.2.1', 'name 9'],
    ['failure', 'vkey', '2001:db8::/56', ''],
    ['lockout', 'vkey', '2001:db8::/56', ''],
  ]);
  expect(reported.flatMap((suspicion) => 'lockout' in suspicion ? [suspicion.lockout] : [])).toEqual(attempts.lockouts(now));
});

test('the addresses of an IPv6 network count as one, and a mapped IPv4 address as itself', () => {
  const attempts = new Attempts();
  for (let n = 0; n < 10; n++) fail(attempts, `2001:db8:0:${n}::${n}`, `name ${n}`);
  for (let n = 0; n < 10; n++) fail(attempts, '::ffff:192.0.2.1', `mapped ${n}`);
  expect(attempts.lockouts(now).map(({ source }) => source)).toEqual(['2001:db8::/56', '192.0.2.1']);
  expect(fail(attempts, '2001:db8:0:ff::1', 'x')).toBeGreaterThan(0);
  expect(fail(attempts, '2001:db8:0:100::1', 'x')).toBe(0);
});

test('wrong guesses at other servers count for address, name and key, and are neither reported nor passed on again', () => {
  const attempts = new Attempts();
  const reported: unknown[] = [];
  attempts.watch((suspicion) => reported.push(suspicion));
  attempts.share({ failed: (failure) => reported.push(failure), freed: (source) => reported.push(source) });
  for (let n = 0; n < 59; n++) attempts.hear({ credential: 'basic', address: `198.18.0.${n % 9}`, name: 'victim' }, now);
  expect(attempts.begin('basic', '192.0.2.1', 'victim', now).wait).toBe(0);
  expect(attempts.begin('basic', '192.0.2.2', 'victim', now).wait).toBe(60_000);
  for (let n = 0; n < 10; n++) attempts.hear({ credential: 'login', address: '192.0.2.3', name: `name ${n}` }, now);
  expect(fail(attempts, '192.0.2.3', 'another')).toBe(60_000);
  for (let n = 0; n < 3; n++) attempts.hear({ credential: 'vkey', address: '192.0.2.4', name: `key ${n}` }, now);
  expect(attempts.queueKey('192.0.2.4', now, { lastSeenAt: '' })).toBeGreaterThan(0);
  attempts.hearFreed({ kind: 'name', source: 'victim' }, now);
  expect(attempts.begin('basic', '192.0.2.5', 'victim', now).wait).toBe(0);
  for (const source of ['192.0.2.3', '192.0.2.4']) attempts.hearFreed({ kind: 'address', source }, now);
  expect([attempts.lockouts(now), fail(attempts, '192.0.2.6', 'another'), attempts.queueKey('192.0.2.4', now, { lastSeenAt: '' })]).toEqual([[], 0, 0]);
  // Only the guess that was made here.
  expect(reported).toEqual([{ credential: 'login', address: '192.0.2.6', name: 'another' }, expect.objectContaining({ news: 'failure', name: 'another' })]);
});

test('guesses that other servers report guard a name as those made here: three a minute from each address', () => {
  const attempts = new Attempts();
  for (let n = 0; n < 60; n++) attempts.hear({ credential: 'login', address: `198.18.0.${n}`, name: 'victim' }, now);
  for (let n = 0; n < 2; n++) attempts.hear({ credential: 'login', address: '192.0.2.1', name: 'victim' }, now);
  expect(times(2, () => fail(attempts, '192.0.2.1', 'victim'))).toEqual([0, 60_000]);
});

test('10,000 addresses and 10,000 names are remembered; beyond that, those that failed first are forgotten', () => {
  const attempts = new Attempts();
  const wait = (address: string, name: string) => attempts.begin('basic', address, name, now).wait;
  for (let n = 0; n < 10; n++) wait('192.0.2.1', 'name 0');
  for (let n = 1; n < 10_000; n++) wait(`address ${n}`, `name ${n}`);
  expect(wait('192.0.2.1', 'name 1')).toBe(60_000);
  wait('address 10000', 'name 1');
  expect(wait('192.0.2.1', 'name 1')).toBe(0);
  const others = new Attempts();
  for (let n = 0; n < 60; n++) others.begin('basic', `address ${n}`, 'victim', now);
  for (let n = 1; n < 10_000; n++) others.begin('basic', `address ${n}`, `name ${n}`, now);
  expect(others.begin('basic', 'another', 'victim', now).wait).toBe(60_000);
  others.begin('basic', 'another', 'name 10000', now);
  expect(others.begin('basic', 'another', 'victim', now).wait).toBe(0);
});

test('names that differ only behind their 64th character are one', () => {
  const attempts = new Attempts();
  const name = 'n'.repeat(64);
  for (let n = 0; n < 60; n++) attempts.begin('basic', `address ${n}`, `${name}${n}`, now);
  expect([attempts.begin('basic', 'another', `${name}x`, now).wait, attempts.begin('basic', 'another', name.slice(1), now).wait]).toEqual([60_000, 0]);
  expect(attempts.lockouts(now).map(({ source }) => source)).toEqual([name]);
});

test('wrong keys: three without a delay, then a quarter of a second, which doubles up to four; ten minutes after the last, they are forgotten', () => {
  const delays = Array.from({ length: 10 }, (_, failures) => {
    const attempts = new Attempts();
    for (let n = 0; n < failures; n++) attempts.keyFailed('192.0.2.1', now, `key ${n}`);
    return attempts.queueKey('192.0.2.1', now, { lastSeenAt: '' });
  });
  expect(delays).toEqual([0, 0, 0, 250, 500, 1000, 2000, 4000, 4000, 4000]);
  const attempts = new Attempts();
  for (let n = 0; n < 5; n++) attempts.keyFailed('192.0.2.1', now, `key ${n}`);
  expect([attempts.queueKey('192.0.2.1', now + 600_000, { lastSeenAt: '' }), attempts.queueKey('192.0.2.1', now + 600_001, { lastSeenAt: '' })]).toEqual([
    1000,
    0,
  ]);
  const many = new Attempts();
  for (let n = 0; n < 100; n++) many.keyFailed('192.0.2.1', now, `key ${n}`);
  expect(many.queueKey('192.0.2.1', now, { lastSeenAt: '192.0.2.1' })).toBe(0);
  // Of 100 wrong keys, the last 64 are known.
  expect([99, 36, 35].map((n) => many.keyFailed('192.0.2.1', now, `key ${n}`))).toEqual([false, false, true]);
  expect(many.queueKey('192.0.2.1', now, { lastSeenAt: '192.0.2.1' })).toBe(4000);
  for (let n = 1; n < 10_000; n++) many.keyFailed(`address ${n}`, now, 'key');
  expect(many.queueKey('192.0.2.1', now + 10_000, { lastSeenAt: '' })).toBe(4000);
  many.keyFailed('address 10000', now, 'key');
  expect(many.queueKey('192.0.2.1', now + 20_000, { lastSeenAt: '' })).toBe(0);
});

test('other servers get each wrong guess and each end of lockouts, until they want no more', () => {
  const attempts = new Attempts();
  const [sent, watched]: [unknown[], unknown[]] = [[], []];
  const end = attempts.share({ failed: (failure) => sent.push(failure), freed: (source) => sent.push(source) });
  attempts.watch((suspicion) => watched.push(suspicion));
  fail(attempts, '2001:db8::1', 'n'.repeat(65));
  attempts.begin('basic', '192.0.2.1', 'right', now).succeeded();
  for (const key of ['a', 'a', 'b']) attempts.keyFailed('2001:db8::2', now, key);
  attempts.free({ kind: 'name', source: 'x' }, now);
  const wanted = [
    { credential: 'login', address: '2001:db8::/56', name: 'n'.repeat(64) },
    { credential: 'vkey', address: '2001:db8::/56', name: 'a' },
    { credential: 'vkey', address: '2001:db8::/56', name: 'b' },
    { kind: 'name', source: 'x' },
  ];
  expect(sent).toEqual(wanted);
  end();
  attempts.keyFailed('192.0.2.1', now, 'c');
  attempts.free({ kind: 'name', source: 'y' }, now);
  expect(sent).toEqual(wanted);
  // Of a name that is locked out, the report says which, and how long.
  for (let n = 0; n < 60; n++) attempts.begin('basic', `198.18.0.${n}`, 'victim', now).failed();
  expect(watched.at(-1)).toEqual({
    credential: 'basic',
    address: '198.18.0.59',
    name: 'victim',
    news: 'lockout',
    lockout: { credential: 'basic', kind: 'name', source: 'victim', until: new Date(now + 60_000) },
  });
});

test('an address that is freed has its guesses at guarded names again, too; others have not', () => {
  const attempts = new Attempts();
  attack(attempts, 6);
  for (const address of ['192.0.2.1', '192.0.2.10']) times(3, () => fail(attempts, address, 'victim'));
  attempts.free({ kind: 'address', source: '192.0.2.1' }, now);
  expect(['192.0.2.1', '192.0.2.10'].map((address) => fail(attempts, address, 'victim'))).toEqual([0, 60_000]);
});
