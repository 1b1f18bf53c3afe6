import { beforeAll, expect, test } from '@jest/globals';
import type { Route } from '../../src/legacy/route.ts';
import { routes } from '../../src/legacy/routes.ts';
import { testApis, type ApiAnswer, type CallParameters } from '../support/api.ts';
import { testDatabases } from '../support/database.ts';
import { callers, openWorld, password, targets, type CallerName, type Target, type World } from './world.ts';

/** What becomes of a call: done, or nothing found, or refused with the text of a rule; denied = 403, or code 0 for one record. */
type Outcome = 'done' | 'nothing' | 'refused' | 'denied' | 'unknown caller';

interface Expected {
  /** The least that a caller has to be. */
  readonly least: 'administrator' | 'user' | 'client login';
  /** Whether the call is about a record of somebody's; other calls are done for whoever may make them. */
  readonly owned?: true;
  /** What the call sends beside its signature. */
  readonly send: (id: number) => CallParameters;
  /** Where the general rule doesn't hold. */
  readonly except?: (caller: CallerName, target: Target) => Outcome | undefined;
}

const id = (id: number) => ({ id });
const none = () => ({});
const owned = { least: 'client login', owned: true, send: id } as const;
const listOf = { least: 'client login', owned: true, send: (id: number) => ({ client_id: id }), except: (caller: CallerName, target: Target) =>
  target === 'missing' && isAdministrator(caller) ? 'done' as const : undefined } as const;
const ownKey = { least: 'user', owned: true, send: id } as const;

/** What each endpoint is to answer. An endpoint that isn't here fails. */
const expected: Readonly<Record<string, Expected>> = {
  '/client/list': { least: 'client login', send: none },
  '/client/getclient': owned,
  '/client/add': { least: 'client login', send: () => ({ vkey: 'new' }), except: (caller) => caller === 'legacy client login' ? 'refused' : undefined },
  '/client/edit': owned,
  '/client/changestatus': { ...owned, least: 'user', send: (id) => ({ id, status: 1 }) },
  '/client/del': { ...owned, least: 'user' },
  '/user/list': { least: 'administrator', send: none },
  '/user/add': { least: 'administrator', send: () => ({ username: 'new', password: 'new password' }) },
  '/user/edit': { least: 'administrator', owned: true, send: id },
  '/user/changepassword': {
    least: 'client login', owned: true, send: (id) => ({ id, current_password: password, new_password: 'new password' }),
    except: (caller, target) => caller === 'legacy client login' || (isUser(caller) && target !== ownOf(caller)) ? 'refused' : undefined,
  },
  '/user/changestatus': { least: 'administrator', owned: true, send: (id) => ({ id, status: 1 }) },
  '/user/del': { least: 'administrator', owned: true, send: id },
  // A token can't make one that outlasts it.
  '/user/regenerateapikey': { ...ownKey, except: (caller) => caller === 'user token' || caller === 'other user' ? 'denied' : undefined },
  '/user/revokeapikey': ownKey,
  '/user/apikeystatus': { ...ownKey, except: (caller, target) => target === 'missing' && isAdministrator(caller) ? 'done' : undefined },
  '/index/gettunnel': listOf,
  '/index/getonetunnel': owned,
  '/index/add': { ...owned, send: (client_id) => ({ client_id, type: 'tcp', target: '22' }) },
  '/index/copy': owned,
  '/index/edit': owned,
  '/index/stop': owned,
  '/index/start': owned,
  '/index/del': owned,
  '/index/hostlist': listOf,
  '/index/gethost': owned,
  '/index/addhost': { ...owned, send: (client_id) => ({ client_id, host: 'new.example.com', target: '80' }) },
  '/index/edithost': owned,
  '/index/hoststop': owned,
  '/index/hoststart': owned,
  '/index/delhost': owned,
  '/index/platformhostavailable': { least: 'client login', send: () => ({ platform_domain_id: 'd', platform_prefix: 'x' }) },
  '/index/hostdiagnose': { least: 'client login', send: () => ({ host: 'host1.example.com', path: '/', scheme: 'http' }) },
  '/global/index': { least: 'administrator', send: none },
  '/global/save': { least: 'administrator', send: none },
};

const targetNames = ['own', "another's", 'unassigned', 'missing'] as const;
const reading = new Set(['list', 'single', 'raw']);
const queries = new Set(['/index/platformhostavailable', '/index/hostdiagnose']);

function isAdministrator(caller: CallerName): boolean {
  return caller === 'signature' || caller === 'administrator session';
}

function isUser(caller: CallerName): boolean {
  return caller === 'owner' || caller === 'other user' || caller === 'user token';
}

function ownOf(caller: CallerName): Target {
  return caller === 'other user' ? "another's" : 'own';
}

function outcomeOf(route: Route, rule: Expected, caller: CallerName, target: Target): Outcome {
  switch (caller) {
    case 'anonymous': case 'bad signature': case 'expired signature': case 'disabled user': case 'expired user': return 'unknown caller';
    default:
  }
  if (caller === 'read-only token' && !reading.has(route.envelope) && !queries.has(route.path)) return 'denied';
  const exception = rule.except?.(caller, target);
  if (exception !== undefined) return exception;
  if (isAdministrator(caller)) return rule.owned && target === 'missing' ? 'nothing' : 'done';
  if (rule.least === 'administrator' || (rule.least === 'user' && caller === 'legacy client login')) return 'denied';
  return !rule.owned || target === ownOf(caller) ? 'done' : 'denied';
}

function seen(route: Route, { status, body }: ApiAnswer): string {
  const text = JSON.stringify(body);
  if (status === 401) return 'unknown caller';
  if (status === 403 && text === '{"status":0,"msg":"permission denied"}') return 'denied';
  if (status !== 200) return `${status} ${text}`;
  if (text === '{"code":0}') return 'denied';
  if (/^\{"status":0,"msg":".* ID not found"\}$|"msg":"(client not found|modified fail|modified error,the client is not exist|add error the client can not be found|no API key)"/.test(text)) return 'nothing';
  return text.startsWith('{"status":0') ? 'refused' : route.envelope === 'write' && !text.startsWith('{"status":1') ? text : 'done';
}

const apis = testApis(testDatabases('sqlite'));
let world: World;
beforeAll(async () => { world = await openWorld(await apis.start()); });

test('every endpoint for known callers has its expectation, and nothing else has', () => {
  expect(Object.keys(expected).toSorted()).toEqual(routes.filter(({ access }) => access === 'caller').map(({ path }) => path).toSorted());
});

test.each(routes.filter(({ access, path }) => access === 'caller' && path in expected).map((route) => [route.path, route] as const))('%s', async (path, route) => {
  const rule = expected[path];
  if (rule === undefined) throw new Error(`${path} has no expectation`);
  const wrong: string[] = [];
  const attempt = async (caller: CallerName, target: Target, wanted: Outcome) => {
    const { headers, parameters } = world.as(caller);
    const outcome = seen(route, await world.api.call(path, { ...parameters, ...rule.send(targets[target]) }, { headers }));
    // One record that isn't there and one that isn't the caller's look alike (D25).
    const alike = route.envelope === 'single' && outcome === 'denied' && wanted === 'nothing';
    if (outcome !== wanted && !alike) wrong.push(`${caller}, ${target}: ${outcome} instead of ${wanted}`);
  };
  const calls = callers.flatMap((caller) => targetNames.map((target) => ({ caller, target, wanted: outcomeOf(route, rule, caller, target) })));

  await world.restore();
  const before = await world.snapshot();
  for (const { caller, target, wanted } of calls) if (wanted !== 'done') await attempt(caller, target, wanted);
  // Not the records themselves: there are too many to be printed.
  if (await world.snapshot() !== before) wrong.push('a call that was not to be done changed something');
  for (const { caller, target, wanted } of calls) {
    if (wanted !== 'done') continue;
    await attempt(caller, target, wanted);
    if (!reading.has(route.envelope)) await world.restore();
  }
  expect(wrong).toEqual([]);
});

test('what an ordinary user may not set stays as it is when it is sent', async () => {
  const forbidden = {
    vkey: 'chosen', user_id: 2, rate_limit: 1, flow_limit: 2, max_conn: 3, max_tunnel: 4, web_username: 'w', web_password: 'secret password', expire_time: '2030-01-01',
    config_conn_allow: 0, clear_legacy_web_login: 1, status: 0, enabled: 'false', disabledByAdmin: 'true', tunnelCount: -5,
  };
  const row = async (id: number) => world.api.store.db.client.findUniqueOrThrow({ where: { id } });
  for (const caller of ['owner', 'user token', 'legacy client login'] as const) {
    await world.restore();
    const before = await row(1);
    expect((await world.api.call('/client/edit/', { id: 1, remark: 'mine', ...forbidden }, world.as(caller))).body).toEqual({ status: 1, msg: 'save success' });
    expect(await row(1)).toEqual({ ...before, remark: 'mine' });
  }
  await world.restore();
  expect((await world.api.call('/client/add/', { remark: 'mine', u: 'basic', ...forbidden }, world.as('owner'))).body).toEqual({ status: 1, msg: 'add success', id: 4 });
  const made = await row(4);
  expect(made).toMatchObject({
    userId: 1, remark: 'mine', basicUser: 'basic', rateLimit: 0, flowLimit: 0, maxConnections: 0, maxTunnels: 0, webUsername: '', webPasswordHash: '',
    expiresAt: null, configAllowed: true, enabled: true, disabledByAdmin: false, tunnelCount: 0,
  });
  expect(made.vkey).not.toBe('chosen');
});

test('what an administrator switched off, a user does not switch on, also not by switching it off once more', async () => {
  await world.restore();
  const status = async (as: CallerName, value: number) => (await world.api.call('/client/changestatus/', { id: 1, status: value, ...world.as(as).parameters }, world.as(as))).body;
  const done = { status: 1, msg: 'modified success' };
  expect([await status('owner', 0), await status('owner', 1)]).toEqual([done, done]);
  expect([await status('signature', 0), await status('owner', 1)]).toEqual([done, { status: 0, msg: 'permission denied' }]);
  expect([await status('owner', 0), await status('owner', 1)]).toEqual([done, { status: 0, msg: 'permission denied' }]);
  expect([await status('signature', 1), await status('owner', 0), await status('owner', 1)]).toEqual([done, done, done]);
});
