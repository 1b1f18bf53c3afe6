import { hash, timingSafeEqual } from 'node:crypto';

import type { Client } from '../../store/generated/sqlite/client.ts';
import type { Store } from '../../store/store.ts';
import type { ClientWithOwner } from '../writes/changes.ts';
import type { Services } from '../services.ts';
import { mayLogIn, mayServe } from './active.ts';
import { isFastHash } from './fast-hash.ts';
import { hashPassword, verifyPassword } from './password.ts';

/** The settings that the login uses. */
export interface LoginSettings {
  readonly adminUsername: string;
  readonly adminPassword: string;
  /** Allow the name `user` with an agent's key as the password (contract section 7: off by default). */
  readonly allowVkeyLogin: boolean;
}

/** The account that a name and password belong to. */
export type Identity =
  | { readonly kind: 'admin' }
  | { readonly kind: 'user'; readonly userId: number }
  | { readonly kind: 'client'; readonly clientId: number; readonly by: 'web' | 'vkey' };

/** Maximum clients with the same web user name that a login tries. A failed login always verifies this many passwords (20 ms each). */
const namesakes = 3;

/** Whether name and password are the administrator's. Digests have the same length, so the comparison reveals nothing about the password's length. */
export function isAdministrator({ adminUsername, adminPassword }: LoginSettings, username: string, password: string): boolean {
  return timingSafeEqual(digest(`${username}\0${password}`), digest(`${adminUsername}\0${adminPassword}`));
}

/**
 * Authenticates a login, in the order of contract 3.3: administrator, user, web login of a client. An unknown name takes as
 * long as a wrong password. Disabled and expired accounts are refused.
 * @returns undefined if name or password is wrong
 */
export async function identify(services: Services, settings: LoginSettings, username: string, password: string): Promise<Identity | undefined> {
  const { store, now } = services;
  const { db } = store;
  const administrator = isAdministrator(settings, username, password);
  // PostgreSQL does not accept this character.
  const name = username.includes('\0') ? '' : username;
  const user = await db.user.findUnique({ where: { username: name } });
  const userKnows = await verifyPassword(password, user?.passwordHash);
  const client = await webClient(services, name, password);
  if (administrator) return { kind: 'admin' };
  if (user !== null && userKnows && mayLogIn(user, now())) {
    await replaceFastHash(store, 'user', user.id, user.passwordHash, password);
    return { kind: 'user', userId: user.id };
  }
  if (client !== undefined) {
    await replaceFastHash(store, 'client', client.id, client.webPasswordHash, password);
    return { kind: 'client', clientId: client.id, by: 'web' };
  }
  if (settings.allowVkeyLogin && name === 'user' && !password.includes('\0')) return vkeyClient(services, password);
  return undefined;
}

/** The first login with an imported password replaces its hash (fast-hash.ts) with one that is expensive to guess. */
async function replaceFastHash(store: Store, kind: 'user' | 'client', id: number, present: string, password: string): Promise<void> {
  if (!isFastHash(present)) return;
  const hashed = await hashPassword(password);
  // Unless the password has been changed in the meantime.
  await store.transaction((tx) =>
    kind === 'user'
      ? tx.user.updateMany({ where: { id, passwordHash: present }, data: { passwordHash: hashed } })
      : tx.client.updateMany({ where: { id, webPasswordHash: present }, data: { webPasswordHash: hashed } })
  );
}

/** The first usable client with this web login. A failed login verifies equally many passwords for every name. */
async function webClient({ store, now }: Services, webUsername: string, password: string): Promise<Client | undefined> {
  const clients = webUsername === '' ? [] : await webNamesakes(store, webUsername);
  for (let index = 0; index < namesakes; index++) {
    const client = clients[index];
    if (await verifyPassword(password, client?.webPasswordHash) && client !== undefined && mayServe(client, now())) return client;
  }
  return undefined;
}

/** The clients with a web user name, found by an index. */
export function webNamesakes({ db }: Pick<Store, 'db'>, webUsername: string): Promise<ClientWithOwner[]> {
  return db.client.findMany({ where: { webUsername }, include: { user: true }, orderBy: { id: 'asc' }, take: namesakes });
}

async function vkeyClient({ store, now }: Services, vkey: string): Promise<Identity | undefined> {
  const client = await store.db.client.findUnique({ where: { vkey }, include: { user: true } });
  if (client === null || client.userId !== null || client.webUsername !== '' || !mayServe(client, now())) return undefined;
  return { kind: 'client', clientId: client.id, by: 'vkey' };
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
