import { expect } from '@jest/globals';
import type { CallParameters } from '../support/api.ts';
import type { Differences } from '../support/store-copy.ts';
import { effects } from './effects.ts';
import { isAdministrator, type Least, seenBy, userOf } from './roles.ts';
import { type CallerName, password, type Target } from './world.ts';

/** An answer: its HTTP status and its body. */
export type Answer = readonly [status: number, body: unknown];

/** What an endpoint is to ask for, and to do. */
export interface ExpectedEndpoint {
  /** The least that a caller has to be. */
  readonly least: Least;
  /** The call is about a record that has an owner: the answer to an administrator if there is no such record. */
  readonly notThere?: Answer;
  /** The answer to all other callers for a record that belongs to another user or does not exist. */
  readonly notTheirs?: Answer;
  /** What the call sends beside its signature. */
  readonly send: (id: number) => CallParameters;
  /** The whole answer to an authorized caller. */
  readonly body: (id: number, caller: CallerName) => unknown;
  /** What it does to the records, which is nothing for what only reads. */
  readonly does?: (id: number, caller: CallerName) => Differences;
  /** It only reads, so read-only tokens are authorized. */
  readonly reads?: true;
  /** Makes the records different first. */
  readonly given?: string;
  /** Where the general rule doesn't hold. */
  readonly except?: (caller: CallerName, target: Target) => Answer | undefined;
}

/** The answer to a caller that is not authorized (contract D25). */
export const denied: Answer = [403, { status: 0, msg: 'permission denied' }];
const refused = (msg: string): Answer => [200, { status: 0, msg }];
const done = (msg: string, more: object = {}) => () => ({ status: 1, msg, ...more });
const byId = (id: number) => ({ id });
const none = () => ({});
/** One record that is read: not found and not yours look alike. */
const read = { least: 'client login', notTheirs: [200, { code: 0 }], notThere: [200, { code: 0 }], send: byId, reads: true } as const;
const recordOf = (id: number) => ({ code: 1, data: expect.objectContaining({ Id: id }) });
/** The ids are all there are: what else a row holds is for the contract. */
const page = (ids: readonly number[], more: object = {}) => ({ rows: ids.map((id) => expect.objectContaining({ Id: id })), total: ids.length, ...more });
const changed = (msg: string) => ({ least: 'client login', notTheirs: denied, notThere: refused(msg), send: byId }) as const;
const ofUser = { least: 'administrator', notThere: refused('user ID not found'), send: byId } as const;
const ownKey = { least: 'user', notTheirs: denied, notThere: refused('user ID not found'), send: byId } as const;

const seenAt = { ip: '127.0.0.1', bridgeType: 'tcp', bridgePort: 8024 };
const listed = (path: string): ExpectedEndpoint => ({
  least: 'client login',
  send: none,
  reads: true,
  body: (_id, caller) => page(seenBy(caller), path === '/client/list' ? seenAt : {}),
});
/** A diagnosis that knows of no rule, whether there is one of others or none. */
const unmatched: Answer = [200, {
  status: 1,
  msg: 'success',
  data: { host: expect.stringMatching(/^host\d+\.example\.com$/), path: '/', scheme: 'http', matched: false, reason: 'no host rule matches' },
}];
/** The list of one client; an administrator finds none of a client that isn't there. */
const listedOfClient: ExpectedEndpoint = {
  least: 'client login',
  notTheirs: denied,
  notThere: [200, { rows: [], total: 0 }],
  send: (id) => ({ client_id: id }),
  reads: true,
  body: (id) => page([id]),
};

/** By path, with what is particular about the call after it. An endpoint that isn't here fails. */
export const expectedEndpoints: Readonly<Record<string, ExpectedEndpoint>> = {
  '/client/list': listed('/client/list'),
  '/client/list of an owner': {
    least: 'client login',
    send: (id) => ({ user_id: id }),
    reads: true,
    // Others get what is theirs, whatever they ask for; user 3 and one that isn't there have none.
    body: (id, caller) => page(!isAdministrator(caller) ? seenBy(caller) : id < 3 ? [id] : [], seenAt),
  },
  '/client/getclient': { ...read, body: recordOf },
  '/client/add': {
    least: 'client login',
    send: () => ({ remark: 'new' }),
    body: done('add success', { id: 4 }),
    does: (_id, caller) => effects.clientMade(caller),
    except: (caller) => caller === 'legacy client login' ? refused('only a user account may add') : undefined,
  },
  '/client/edit': {
    ...changed('client ID not found'),
    send: (id) => ({ id, remark: 'changed' }),
    body: done('save success'),
    does: (id) => effects.column('Client', id, { remark: 'changed' }),
  },
  '/client/changestatus': {
    ...changed('modified fail'),
    least: 'user',
    send: (id) => ({ id, status: 0 }),
    body: done('modified success'),
    does: effects.clientDisabled,
  },
  '/client/del': { ...changed('client ID not found'), least: 'user', body: done('delete success'), does: (id) => effects.clientDeleted(id) },

  '/user/list': { least: 'administrator', send: none, reads: true, body: () => page([1, 2, 3, 4]) },
  '/user/add': {
    least: 'administrator',
    send: () => ({ username: 'new', password: 'new password' }),
    body: done('add success', { id: 5 }),
    does: effects.userMade,
  },
  '/user/edit': {
    ...ofUser,
    send: (id) => ({ id, remark: 'changed' }),
    body: done('save success'),
    does: (id) => effects.column('User', id, { remark: 'changed' }),
  },
  '/user/changepassword': {
    least: 'client login',
    notTheirs: refused('not your user'),
    notThere: refused('user ID not found'),
    send: (id) => ({ id, current_password: password, new_password: 'new password', confirm_password: 'new password' }),
    body: done('password changed'),
    does: effects.passwordChanged,
    except: (caller) => caller === 'legacy client login' ? refused('session is a legacy client login') : undefined,
  },
  '/user/changestatus': { ...ofUser, send: (id) => ({ id, status: 0 }), body: done('modified success'), does: effects.userDisabled },
  '/user/del': { ...ofUser, body: done('delete success'), does: effects.userDeleted },
  '/user/regenerateapikey': {
    ...ownKey,
    body: done('regenerate success', { api_token: expect.stringMatching(/^adit_/) }),
    does: (id) => effects.legacyTokenMade(id),
    // A token can't make one that outlasts it.
    except: (caller) => caller === 'user token' || caller === 'other user' || caller === 'token without secrets' ? denied : undefined,
  },
  '/user/revokeapikey': { ...ownKey, body: done('revoke success'), does: (id) => effects.legacyTokenRevoked(id) },
  '/user/apikeystatus': {
    ...ownKey,
    notThere: [200, { status: 1, msg: 'success', exists: false, CreateTime: '', LastUsedTime: '' }],
    reads: true,
    body: () => ({ status: 1, msg: 'success', exists: true, CreateTime: expect.stringMatching(/^\d{4}-/), LastUsedTime: '' }),
  },
  '/user/apikeystatus of the caller': {
    least: 'user',
    send: none,
    reads: true,
    body: (_id, caller) => ({
      status: 1,
      msg: 'success',
      exists: userOf(caller) !== null,
      CreateTime: userOf(caller) === null ? '' : expect.stringMatching(/^\d{4}-/),
      LastUsedTime: '',
    }),
  },

  '/index/gettunnel': listed('/index/gettunnel'),
  '/index/gettunnel of a client': listedOfClient,
  '/index/gettunnel of a filtered client': { ...listedOfClient, send: (id) => ({ filter_client_id: id }) },
  '/index/getonetunnel': { ...read, body: recordOf },
  '/index/add': {
    ...changed('client not found'),
    send: (id) => ({ client_id: id, type: 'tcp', target: '22' }),
    body: done('add success', { id: 4 }),
    does: (id) => effects.tunnelMade(id),
  },
  '/index/copy': { ...changed('tunnel ID not found'), body: done('add success', { id: 4 }), does: (id) => effects.tunnelMade(id) },
  '/index/edit': {
    ...changed('tunnel ID not found'),
    send: (id) => ({ id, remark: 'changed' }),
    body: done('modified success'),
    does: (id) => effects.column('Tunnel', id, { remark: 'changed' }),
  },
  '/index/stop': { ...changed('tunnel ID not found'), body: done('stop success'), does: (id) => effects.column('Tunnel', id, { enabled: 0 }) },
  '/index/start': {
    ...changed('tunnel ID not found'),
    given: 'UPDATE "Tunnel" SET "enabled" = 0',
    body: done('start success'),
    does: (id) => effects.othersStopped('Tunnel', id),
  },
  '/index/del': { ...changed('tunnel ID not found'), body: done('delete success'), does: (id) => effects.tunnelDeleted(id) },

  '/index/hostlist': listed('/index/hostlist'),
  '/index/hostlist of a client': listedOfClient,
  '/index/gethost': { ...read, body: recordOf },
  '/index/addhost': {
    ...changed('add error the client can not be found'),
    send: (id) => ({ client_id: id, host: 'new.example.com', target: '80' }),
    body: done('add success', { id: 4 }),
    does: (id) => effects.hostMade(id),
  },
  '/index/edithost': {
    ...changed('host ID not found'),
    send: (id) => ({ id, remark: 'changed' }),
    body: done('modified success'),
    does: (id) => effects.column('Host', id, { remark: 'changed' }),
  },
  '/index/hoststop': { ...changed('host ID not found'), body: done('stop success'), does: (id) => effects.column('Host', id, { enabled: 0 }) },
  '/index/hoststart': {
    ...changed('host ID not found'),
    given: 'UPDATE "Host" SET "enabled" = 0',
    body: done('start success'),
    does: (id) => effects.othersStopped('Host', id),
  },
  '/index/delhost': { ...changed('host ID not found'), body: done('delete success'), does: (id) => effects.hostDeleted(id) },
  '/index/edit to another client': {
    ...changed('modified error,the client is not exist'),
    send: (id) => ({ id: 1, client_id: id }),
    body: done('modified success'),
    does: (id) => effects.tunnelMoved(id),
    // Record 1 is the owner's; nobody but an administrator moves it to or from somebody else.
    except: (caller) => caller === 'other user' ? denied : undefined,
  },
  '/index/edithost to another client': {
    ...changed('modified error,the client is not exist'),
    send: (id) => ({ id: 1, client_id: id }),
    body: done('modified success'),
    does: (id) => effects.hostMoved(id),
    except: (caller) => caller === 'other user' ? denied : undefined,
  },
  '/index/platformhostavailable': {
    least: 'client login',
    send: () => ({ platform_domain_id: 'd', platform_prefix: 'x' }),
    reads: true,
    body: done('success', { available: true, host: 'x.platform.example.com' }),
  },
  '/index/hostdiagnose': {
    least: 'client login',
    send: (id) => ({ host: `host${id}.example.com`, path: '/', scheme: 'http' }),
    reads: true,
    notTheirs: unmatched,
    notThere: unmatched,
    body: (id) => ({ status: 1, msg: 'success', data: expect.objectContaining({ matched: true, rule: expect.objectContaining({ id, clientId: id }) }) }),
  },
  '/global/index': {
    least: 'administrator',
    send: none,
    reads: true,
    body: () => expect.objectContaining({ status: 1, serverUrl: 'https://adit.example.com' }),
  },
  '/global/save': {
    least: 'administrator',
    send: () => ({ serverUrl: 'https://other.example.com' }),
    body: done('save success'),
    does: () => effects.column('GlobalSettings', 1, { serverUrl: 'https://other.example.com' }),
  },
};
