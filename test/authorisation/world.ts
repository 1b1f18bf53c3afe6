import { hashPassword } from '../../src/schema/access/password.ts';
import { newToken } from '../../src/schema/access/tokens.ts';
import { signature, testAdminPassword, testAuthKey, type Api } from '../support/api.ts';
import { StoreCopy, type Differences } from '../support/store-copy.ts';

/**
 * Everybody who may make a call, as "done when" of the roles names them. No rule tells the callers of a group apart, unless it names one of them: `npm test` and `npm run test:slow` make a call as one of each group,
 * and the next call as the next one.
 */
export const callerGroups = [
  ['anonymous', 'bad signature', 'expired signature', 'disabled user', 'expired user'],
  ['owner', 'user token', 'token without secrets'],
  ['other user'],
  ['legacy client login'],
  ['read-only token'],
  ['wall token', "administrator's wall token"],
  ['administrator session', 'signature'],
] as const;
export type CallerName = typeof callerGroups[number][number];

/** Whose a record is, seen from the owner; the ids of clients, tunnels, hosts, users and users' tokens alike. */
export const targets = { own: 1, "another's": 2, unassigned: 3, missing: 99 } as const;
export type Target = keyof typeof targets;
export const targetNames = ['own', "another's", 'unassigned', 'missing'] as const satisfies readonly Target[];

/** What a call carries. */
interface Carried {
  readonly headers: Readonly<Record<string, string>>;
  /** Signature. */
  readonly parameters: Readonly<Record<string, string | number>>;
}

/**
 * A server with clients, tunnels and hosts 1 of alice (the owner), 2 of bob, 3 of nobody; users 3 disabled, 4 expired; tokens 1 to 4 of
 * those users, 5 of alice to read, 6 to 8 the legacy ones of users 1 to 3, 9 of alice without secrets, 10 of alice and 11 of an administrator for a wall; and an address that has to wait.
 */
export interface World {
  readonly api: Api;
  readonly as: (caller: CallerName) => Carried;
  /** Makes everything as it was. */
  restore(): Promise<void>;
  /** What is another than it was. */
  differences(): Differences;
}

/** For what takes a second, in ms: a busy machine may take fifty times as long. */
export const timeoutMs = 60_000;

/** Every user's password. */
export const password = 'the password of users';
/** Where too many wrong passwords came from. */
export const lockedAddress = '203.0.113.9';

/** Makes the records and logs everybody in. */
export async function openWorld(api: Api): Promise<World> {
  const tokens = Array.from({ length: 8 }, newToken);
  await seed(api, await hashPassword(password), tokens.map(({ hash }) => hash));
  const [owner, web, administrator] = [await logIn(api, 'alice', password), await logIn(api, 'web', password), await logIn(api, 'admin', testAdminPassword)];
  // Not the logins: they are audited too.
  await api.store.db.auditEntry.deleteMany();
  await api.store.db.auditEntry.create({
    data: { at: new Date(), callerKind: 'admin', method: 'signature', address: '', resource: 'client', resourceId: '1', action: 'create' },
  });
  for (const id of [1, 2, 3]) {
    api.engine.addVisitor(id, { kind: 'tunnel', id }, { id });
    api.engine.sessions.set(id, [{ since: 1000, until: 2000, address: `192.0.2.${id}`, version: '1', secure: true, end: 'lost', endText: 'silent' }]);
  }
  const copy = await StoreCopy.of(api.store);
  const nobody: Carried = { headers: {}, parameters: {} };
  const tokenOf = (index: number): Carried => ({ headers: { authorization: `Bearer ${tokens[index]?.token}` }, parameters: {} });
  const signed = (key: string, secondsAgo = 0): Carried => ({ headers: {}, parameters: signature(key, Date.now() - secondsAgo * 1000) });

  const isLocked = () => api.attempts.lockouts(Date.now()).some(({ source }) => source === lockedAddress);
  const guessed: string[] = [];
  /** For a minute from now on. Forgets the names of the last time, since a request for lockouts looks at every name that was guessed. */
  const lock = () => {
    for (const source of guessed.splice(0)) api.attempts.free({ kind: 'name', source }, Date.now());
    api.attempts.free({ kind: 'address', source: lockedAddress }, Date.now());
    while (!isLocked()) {
      guessed.push(`name ${guessed.length}`);
      api.attempts.begin('login', lockedAddress, `name ${guessed.length - 1}`, Date.now());
    }
  };
  return {
    api,
    async restore() {
      await copy.restore();
      api.forget();
      lock();
    },
    differences() {
      const wasLocked = isLocked();
      if (wasLocked) lock(); // so that it does not end by itself
      return { ...copy.differences(), ...(!wasLocked && { [`Lockout ${lockedAddress}`]: null }) };
    },
    as(caller) {
      switch (caller) {
        case 'anonymous':
          return nobody;
        case 'bad signature':
          return signed('another key');
        case 'expired signature':
          return signed(testAuthKey, 21);
        case 'owner':
          return owner;
        case 'other user':
          return tokenOf(1);
        case 'disabled user':
          return tokenOf(2);
        case 'expired user':
          return tokenOf(3);
        case 'legacy client login':
          return web;
        case 'user token':
          return tokenOf(0);
        case 'read-only token':
          return tokenOf(4);
        case 'token without secrets':
          return tokenOf(5);
        case 'wall token':
          return tokenOf(6);
        case "administrator's wall token":
          return tokenOf(7);
        case 'administrator session':
          return administrator;
        case 'signature':
          return signed(testAuthKey);
      }
    },
  };
}

async function seed(api: Api, passwordHash: string, tokenHashes: readonly string[]): Promise<void> {
  const { db } = api.store;
  await api.reset(); // the kept totals of an empty store
  await db.user.createMany({
    data: [
      { id: 1, username: 'alice', passwordHash },
      { id: 2, username: 'bob', passwordHash },
      { id: 3, username: 'carol', passwordHash, enabled: false },
      { id: 4, username: 'dave', passwordHash, expiresAt: new Date(0) },
    ],
  });
  await db.client.createMany({
    data: [
      { id: 1, vkey: 'key-1', userId: 1, webUsername: 'web', webPasswordHash: passwordHash },
      { id: 2, vkey: 'key-2', userId: 2 },
      { id: 3, vkey: 'key-3' },
    ],
  });
  await db.tunnel.createMany({ data: [1, 2, 3].map((id) => ({ id, clientId: id, mode: 'tcp', port: 9000 + id, target: '127.0.0.1:22' })) });
  await db.host.createMany({ data: [1, 2, 3].map((id) => ({ id, clientId: id, host: `host${id}.example.com`, target: '127.0.0.1:80' })) });
  await db.enrolment.createMany({ data: [1, 2, 3].map((id) => ({ id, clientId: id, hash: `code ${id}`, expiresAt: new Date(0), usedAt: new Date(0) })) });
  await db.platformDomain.create({ data: { id: 'd', wildcard: '*.platform.example.com' } });
  await db.globalSettings.create({ data: { id: 1, serverUrl: 'https://adit.example.com' } });
  await db.apiToken.createMany({
    data: tokenHashes.slice(0, 5).map((hash, index) => ({ id: index + 1, name: 'test', hash, userId: [1, 2, 3, 4, 1][index], readOnly: index === 4 })),
  });
  await db.apiToken.createMany({ data: [1, 2, 3].map((userId) => ({ id: 5 + userId, userId, name: 'API key', hash: `legacy ${userId}`, legacy: true })) });
  const [withoutSecrets = '', wall = '', administratorsWall = ''] = tokenHashes.slice(5);
  await db.apiToken.createMany({
    data: [
      { id: 9, name: 'test', hash: withoutSecrets, userId: 1, secrets: false },
      { id: 10, name: 'test', hash: wall, userId: 1, readOnly: true, secrets: false, wall: true },
      { id: 11, name: 'test', hash: administratorsWall, userId: null, readOnly: true, secrets: false, wall: true },
    ],
  });
  await db.trafficSample.createMany({
    data: [1, 2, 3].map((id) => ({ resource: 'client', resourceId: id, step: 'day', at: 29_520_000, inletBytes: 100 * id, exportBytes: 0 })),
  });
  await db.refusalSample.createMany({ data: [1, 2, 3].map((id) => ({ clientId: id, cause: 'login', step: 'day', at: 29_520_000, count: 100 * id })) });
}

async function logIn(api: Api, username: string, secret: string): Promise<Carried> {
  const { headers } = await api.call('/login/verify', { username, password: secret });
  return { headers: { cookie: headers.get('set-cookie')?.split(';')[0] ?? '' }, parameters: {} };
}
