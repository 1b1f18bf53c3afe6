import { expect, test } from '@jest/globals';
import { isAlive, mayLogIn, mayServe } from '../../src/schema/access/active.ts';
import { fastHash, isFastHash, verifyFastHash } from '../../src/schema/access/fast-hash.ts';
import { isAdministrator } from '../../src/schema/access/login.ts';
import { checkedPassword } from '../../src/schema/access/password.ts';
import { checkSlot } from '../../src/schema/client/quota-rules.ts';
import { hasOtherCredentials } from '../../src/schema/client/rules.ts';
import { AditError } from '../../src/schema/errors.ts';

const now = Date.UTC(2030, 0, 1);
const before = new Date(now);
const after = new Date(now + 1);

test('a session ends an hour after its last use, and a week after its login', () => {
  const alive = (sinceLogin: number, sinceUse: number) => isAlive({ createdAt: new Date(now - sinceLogin), lastSeenAt: new Date(now - sinceUse) }, now);
  const [hour, week] = [3_600_000, 7 * 86_400_000];
  expect([alive(hour, hour - 1), alive(hour, hour), alive(week - 1, 0), alive(week, 0), alive(week - 1, hour - 1)]).toEqual([true, false, true, false, true]);
});

test('an account may be used while it is enabled and has not expired; a client also needs that of its owner', () => {
  const user = { ...account, enabled: true, expiresAt: null };
  const states = [user, { ...user, enabled: false }, { ...user, expiresAt: before }, { ...user, expiresAt: after }];
  expect(states.map((one) => mayLogIn(one, now))).toEqual([true, false, false, true]);
  const client = { ...row, enabled: true, expiresAt: null, user: null };
  expect(mayServe(client, now)).toBe(true);
  expect(states.map((one) => mayServe({ ...client, user: one }, now))).toEqual([true, false, false, true]);
  expect(states.map(({ enabled, expiresAt }) => mayServe({ ...client, enabled, expiresAt }, now))).toEqual([true, false, false, true]);
  expect(mayServe({ ...client, expiresAt: before, user: { ...user, expiresAt: after } }, now)).toBe(false);
});

test('a new password has 6 to 255 characters', () => {
  const check = (password: string) => {
    try {
      return checkedPassword('password', password);
    } catch (error) {
      return error instanceof AditError ? [error.code, error.params['field']] : error;
    }
  };
  for (const password of ['123456', '\u{1F600}'.repeat(6), 'x'.repeat(255)]) expect(check(password)).toBe(password);
  for (const password of ['12345', '\u{1F600}'.repeat(5)]) expect(check(password)).toEqual(['PASSWORD_TOO_SHORT', 'password']);
  expect(check('x'.repeat(256))).toEqual(['INVALID_INPUT', 'password']);
});

test("the administrator's name and password belong together", () => {
  const settings = { adminUsername: 'root', adminPassword: 'secret', allowVkeyLogin: false };
  expect(
    [['root', 'secret'], ['root', 'root'], ['secret', 'secret'], ['secret', 'root'], ['roots', 'ecret'], ['', '']].map(([name = '', password = '']) =>
      isAdministrator(settings, name, password)
    ),
  ).toEqual([true, false, false, false, false, false]);
});

test('an imported password has a salted hash', () => {
  const stored = fastHash('password');
  expect(stored).not.toBe(fastHash('password'));
  expect(fastHash('password', 'salt')).toBe('$sha256$salt$E2Ab2k6njlWge5iGbSvmvgdE44ZvE8AMgRyrYIoo8yI');
  expect([isFastHash(stored), isFastHash('$argon2id$x'), isFastHash('')]).toEqual([true, false, false]);
  expect([verifyFastHash('password', stored), verifyFastHash('Password', stored), verifyFastHash('password', `${stored}x`)]).toEqual([true, false, false]);
});

test('a client has other credentials if any of them is another', () => {
  const credentials = { vkey: 'k', webUsername: 'w', webPasswordHash: 'h' };
  expect(hasOtherCredentials(credentials, { ...credentials })).toBe(false);
  for (const name of ['vkey', 'webUsername', 'webPasswordHash']) {
    expect([name, hasOtherCredentials(credentials, { ...credentials, [name]: 'x' })]).toEqual([name, true]);
  }
});

test('a record that moves to another client of its owner needs no room among those of the owner, but among those of the client', () => {
  const check = (client: object, owner: object, from?: number | null) => {
    try {
      checkSlot({ ...row, enabled: true, expiresAt: null, ...client, user: { ...account, enabled: true, expiresAt: null, ...owner } }, from);
      return 'room';
    } catch (error) {
      return error instanceof AditError ? error.code : error;
    }
  };
  const full = { maxTunnels: 2, tunnelCount: 2 };
  expect([check({}, full), check({}, full, null), check({}, full, 9), check({}, full, account.id)]).toEqual([
    ...Array.from({ length: 3 }, () => 'USER_TUNNEL_QUOTA'),
    'room',
  ]);
  expect([check(full, full, account.id), check(full, full)]).toEqual(['CLIENT_TUNNEL_QUOTA', 'CLIENT_TUNNEL_QUOTA']);
  expect(check({ maxTunnels: 3, tunnelCount: 2 }, { maxTunnels: 3, tunnelCount: 2 })).toBe('room');
});

const counted = { createdAt: before, tunnelCount: 0, hostCount: 0, expired: false, remark: '' };
const account = { ...counted, id: 1, username: 'alice', passwordHash: '', maxClients: 0, maxTunnels: 0, lastLoginAt: null, clientCount: 0 };
const row = {
  ...counted,
  id: 1,
  vkey: '',
  disabledByAdmin: false,
  basicUser: '',
  basicPassword: '',
  compress: false,
  crypt: false,
  configAllowed: false,
  rateLimit: 0,
  flowLimit: 0,
  maxConnections: 0,
  maxTunnels: 0,
  webUsername: '',
  webPasswordHash: '',
  blackIpList: '',
  ipWhite: false,
  ipWhitePassword: '',
  ipWhiteList: '',
  lastOnlineAt: null,
  lastAddress: '',
  localAddress: '',
  agentVersion: '',
  inletBytes: 0n,
  exportBytes: 0n,
  connected: false,
  rate: 0n,
  connections: 0,
  node: '',
  userId: null,
};
