import { expect } from '@jest/globals';
import type { Differences } from '../support/store-copy.ts';
import { isAdministrator, userOf } from './roles.ts';
import type { CallerName } from './world.ts';

/*
 * What a call that is done does to the records of the world, and nothing else. Record n belongs to client n, that to user n; client
 * and user 3 have nothing to do with each other.
 */

/** The client of this number has an owner. */
function isOwned(id: number): boolean {
  return id < 3;
}

/** The counts of a client and its owner. */
function counted(id: number, counts: object): Differences {
  return { [`Client ${id}`]: { ...counts }, ...(isOwned(id) && { [`User ${id}`]: { ...counts } }) };
}

function total(name: string, value: number): Differences {
  return { [`Total ${name}`]: { value } };
}

/** Record 1 goes from client 1 to another; to its own it doesn't move. */
function moved(table: string, id: number, left: object, joined: object): Differences {
  if (id === 1) return {};
  return {
    [`${table} 1`]: { clientId: id, clientKey: `key-${id}`, ownerId: isOwned(id) ? id : null },
    ...counted(1, left),
    ...counted(id, joined),
  };
}

/** The tokens of each user; 0 = the administrators. */
export const tokensOf: Readonly<Record<number, readonly number[]>> = { 0: [11], 1: [1, 5, 6, 9, 10], 2: [2, 7], 3: [3, 8] };

function tokensEnded(userId: number): Differences {
  return Object.fromEntries((tokensOf[userId] ?? []).map((token) => [`ApiToken ${token}`, null]));
}

/** What each kind of change does. */
export const effects = {
  column: (table: string, id: number, columns: object): Differences => ({ [`${table} ${id}`]: { ...columns } }),

  clientMade: (caller: CallerName): Differences => {
    const owner = userOf(caller);
    return {
      'Client 4': expect.objectContaining({ id: 4, userId: owner, enabled: 1 }),
      ...total('clients', 4),
      ...(owner !== null && { [`User ${owner}`]: { clientCount: 2 } }),
    };
  },
  clientDeleted: (id: number): Differences => ({
    [`Client ${id}`]: null,
    [`Tunnel ${id}`]: null,
    [`Host ${id}`]: null,
    [`Enrolment ${id}`]: null,
    ...(id === 1 && { 'Session client': null }),
    ...(isOwned(id) && { [`User ${id}`]: { clientCount: 0, tunnelCount: 0, hostCount: 0 } }),
    ...total('clients', 2),
    ...total('tunnels', 2),
    ...total('tunnels:tcp', 2),
    ...total('hosts', 2),
  }),
  clientDisabled: (id: number, caller: CallerName): Differences => ({
    [`Client ${id}`]: { enabled: 0, ...(isAdministrator(caller) && { disabledByAdmin: 1 }) },
  }),

  tunnelMade: (id: number): Differences => ({
    'Tunnel 4': expect.objectContaining({ id: 4, clientId: id, enabled: 1 }),
    ...counted(id, { tunnelCount: 3 }),
    ...total('tunnels', 4),
    ...total('tunnels:tcp', 4),
  }),
  tunnelDeleted: (id: number): Differences => ({
    [`Tunnel ${id}`]: null,
    ...counted(id, { tunnelCount: 1 }),
    ...total('tunnels', 2),
    ...total('tunnels:tcp', 2),
  }),
  tunnelMoved: (id: number): Differences => moved('Tunnel', id, { tunnelCount: 1 }, { tunnelCount: 3 }),
  hostMoved: (id: number): Differences => moved('Host', id, { tunnelCount: 1, hostCount: 0 }, { tunnelCount: 3, hostCount: 2 }),
  /** Where all were stopped first, all but the one that was started still are. */
  othersStopped: (table: string, id: number): Differences =>
    Object.fromEntries([1, 2, 3].filter((other) => other !== id).map((other) => [`${table} ${other}`, { enabled: 0 }])),
  othersUsed: (table: string, id: number): Differences =>
    Object.fromEntries([1, 2, 3].filter((other) => other !== id).map((other) => [`${table} ${other}`, { inletBytes: 5 }])),
  hostMade: (id: number): Differences => ({
    'Host 4': expect.objectContaining({ id: 4, clientId: id, enabled: 1 }),
    ...counted(id, { tunnelCount: 3, hostCount: 2 }),
    ...total('hosts', 4),
  }),
  hostDeleted: (id: number): Differences => ({ [`Host ${id}`]: null, ...counted(id, { tunnelCount: 1, hostCount: 0 }), ...total('hosts', 2) }),

  userMade: (): Differences => ({ 'User 5': expect.objectContaining({ id: 5, username: 'new', enabled: 1 }), ...total('users', 5) }),
  /** Carol, who is number 3, is disabled as it is. */
  userDisabled: (id: number): Differences => ({ ...(id !== 3 && { [`User ${id}`]: { enabled: 0 } }), ...(id === 1 && { 'Session user': null }) }),
  userDeleted: (id: number): Differences => ({
    [`User ${id}`]: null,
    ...tokensEnded(id),
    ...total('users', 3),
    ...(id === 1 && { 'Session user': null }),
    ...(isOwned(id)
      && { [`Client ${id}`]: { userId: null, enabled: 0, disabledByAdmin: 1 }, [`Tunnel ${id}`]: { ownerId: null }, [`Host ${id}`]: { ownerId: null } }),
  }),
  /** The session in which the owner changes it is kept. */
  passwordChanged: (id: number, caller: CallerName): Differences => ({
    [`User ${id}`]: { passwordHash: expect.stringMatching(/^\$argon2id\$/) },
    ...(id === 1 && caller !== 'owner' && { 'Session user': null }),
    // A reset by an administrator ends the tokens; users keep theirs.
    ...(isAdministrator(caller) && tokensEnded(id)),
  }),

  enrolmentMade: (clientId: number): Differences => ({ 'Enrolment 4': expect.objectContaining({ id: 4, clientId, usedAt: null }) }),
  enrolmentRevoked: (id: number): Differences => ({ [`Enrolment ${id}`]: null }),

  tokenMade: (userId: number | null): Differences => ({ 'ApiToken 12': expect.objectContaining({ id: 12, userId, name: 'new', legacy: 0 }) }),
  tokenRevoked: (id: number): Differences => ({ [`ApiToken ${id}`]: null }),
  legacyTokenMade: (userId: number): Differences => ({ [`ApiToken ${userId + 5}`]: null, 'ApiToken 12': expect.objectContaining({ userId, legacy: 1 }) }),
  legacyTokenRevoked: (userId: number): Differences => ({ [`ApiToken ${userId + 5}`]: null }),
};
