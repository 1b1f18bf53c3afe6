import { hashPassword } from '../../src/schema/access/password.ts';
import { newToken } from '../../src/schema/access/tokens.ts';
import type { Session } from '../../src/store/generated/sqlite/client.ts';
import { signature, testAdminPassword, testAuthKey, type Api } from '../support/api.ts';

/** Everybody who may make a call, as "done when" of the roles names them. */
export const callers = [
  'anonymous', 'bad signature', 'expired signature', 'owner', 'other user', 'disabled user', 'expired user', 'legacy client login',
  'user token', 'read-only token', 'administrator session', 'signature',
] as const;
export type CallerName = typeof callers[number];

/** Whose a record is, seen from the owner; the ids of clients, tunnels, hosts and users alike. */
export const targets = { own: 1, "another's": 2, unassigned: 3, missing: 99 } as const;
export type Target = keyof typeof targets;

/** What a call carries. */
export interface Carried {
  readonly headers: Readonly<Record<string, string>>;
  /** Signature. */
  readonly parameters: Readonly<Record<string, string | number>>;
}

/** A server with clients, tunnels and hosts 1 of alice (the owner), 2 of bob, 3 of nobody, and users 3 disabled, 4 expired. */
export interface World {
  readonly api: Api;
  readonly as: (caller: CallerName) => Carried;
  /** Makes the records as they were. */
  restore(): Promise<void>;
  /** All records, to be compared. */
  snapshot(): Promise<string>;
}

/** Every user's password. */
export const password = 'the password of users';

/** Makes the records and logs everybody in. */
export async function openWorld(api: Api): Promise<World> {
  const passwordHash = await hashPassword(password);
  const tokens = Array.from({ length: 5 }, newToken);
  const tokenOf = (index: number): Carried => ({ headers: { authorization: `Bearer ${tokens[index]?.token}` }, parameters: {} });
  let sessions: Session[] = [];
  const { db } = api.store;

  async function restore(): Promise<void> {
    await api.reset();
    await api.store.transaction(async (tx) => {
      await tx.user.createMany({ data: [
        { id: 1, username: 'alice', passwordHash, clientCount: 1, tunnelCount: 2, hostCount: 1 },
        { id: 2, username: 'bob', passwordHash, clientCount: 1, tunnelCount: 2, hostCount: 1 },
        { id: 3, username: 'carol', passwordHash, enabled: false },
        { id: 4, username: 'dave', passwordHash, expiresAt: new Date(0) },
      ] });
      const client = { tunnelCount: 2, hostCount: 1 };
      await tx.client.createMany({ data: [
        { ...client, id: 1, vkey: 'key-1', userId: 1, webUsername: 'web', webPasswordHash: passwordHash }, { ...client, id: 2, vkey: 'key-2', userId: 2 }, { ...client, id: 3, vkey: 'key-3' },
      ] });
      await tx.tunnel.createMany({ data: [1, 2, 3].map((id) => ({ id, clientId: id, mode: 'tcp', port: 9000 + id, target: '127.0.0.1:22' })) });
      await tx.host.createMany({ data: [1, 2, 3].map((id) => ({ id, clientId: id, host: `host${id}.example.com`, target: '127.0.0.1:80' })) });
      await tx.platformDomain.create({ data: { id: 'd', wildcard: '*.platform.example.com' } });
      await tx.total.createMany({ data: Object.entries({ users: 4, clients: 3, tunnels: 3, 'tunnels:tcp': 3, hosts: 3 }).map(([name, value]) => ({ name, value })) });
      await tx.apiToken.createMany({ data: tokens.map(({ hash }, index) => ({ id: index + 1, name: 'test', hash, userId: Math.min(index, 3) + 1, readOnly: index === 4 })) });
      await tx.apiToken.update({ where: { id: 5 }, data: { userId: 1 } });
      await tx.apiToken.createMany({ data: [1, 2, 3].map((userId) => ({ userId, name: 'API key', hash: `legacy ${userId}`, legacy: true })) });
      await tx.session.createMany({ data: sessions });
    });
  }

  async function logIn(username: string, secret: string): Promise<Carried> {
    const { headers } = await api.call('/login/verify', { username, password: secret });
    return { headers: { cookie: headers.get('set-cookie')?.split(';')[0] ?? '' }, parameters: {} };
  }

  await restore();
  const [owner, web, administrator] = [await logIn('alice', password), await logIn('web', password), await logIn('admin', testAdminPassword)];
  sessions = await db.session.findMany();
  const nobody: Carried = { headers: {}, parameters: {} };
  const signed = (key: string, secondsAgo = 0): Carried => ({ headers: {}, parameters: signature(key, Date.now() - secondsAgo * 1000) });

  return {
    api,
    restore,
    async snapshot() {
      const records = [
        await db.client.findMany(), await db.tunnel.findMany(), await db.host.findMany(), await db.user.findMany(), await db.platformDomain.findMany(),
        await db.globalSettings.findMany(), await db.apiToken.findMany({ omit: { lastUsedAt: true } }), await db.total.findMany(),
      ];
      return JSON.stringify(records, (key, value: unknown) => key === 'createdAt' ? undefined : typeof value === 'bigint' ? String(value) : value);
    },
    as(caller) {
      switch (caller) {
        case 'anonymous': return nobody;
        case 'bad signature': return signed('another key');
        case 'expired signature': return signed(testAuthKey, 21);
        case 'owner': return owner;
        case 'other user': return tokenOf(1);
        case 'disabled user': return tokenOf(2);
        case 'expired user': return tokenOf(3);
        case 'legacy client login': return web;
        case 'user token': return tokenOf(0);
        case 'read-only token': return tokenOf(4);
        case 'administrator session': return administrator;
        case 'signature': return signed(testAuthKey);
      }
    },
  };
}
