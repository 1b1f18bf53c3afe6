import { beforeAll, describe, expect, test } from '@jest/globals';
import { getNamedType, isInputObjectType } from 'graphql';
import { routes } from '../../src/legacy/routes.ts';
import { schema } from '../../src/schema/schema.ts';
import { testApis, type CallParameters } from '../support/api.ts';
import { testDatabases } from '../support/database.ts';
import { endurance } from '../support/endurance.ts';
import { openWorld, timeoutMs, password, type CallerName, type World } from './world.ts';

/*
 * What an ordinary user may not set stays as it is when it is sent, parameter by parameter, whether its value is a good one or not.
 */

const apis = testApis(testDatabases('sqlite'));
let world: World;
beforeAll(async () => {
  world = await openWorld(await apis.start());
}, timeoutMs);

const ordinary = ['owner', 'user token', 'legacy client login'] as const satisfies readonly CallerName[];

/** What only administrators may send: a value that would do something, and one that isn't acceptable. */
const reserved: Readonly<Record<string, readonly [good: string, bad: string]>> = {
  vkey: ['chosen-by-user', 'k'.repeat(256)],
  user_id: ['2', 'bob'],
  rate_limit: ['1', 'abc'],
  flow_limit: ['2', '1.5'],
  max_conn: ['3', '0x1'],
  max_tunnel: ['4', '2147483648'],
  web_username: ['other', 'w'.repeat(256)],
  web_password: ['another password', 'w'.repeat(256)],
  expire_time: ['2030-01-01', 'tomorrow'],
  config_conn_allow: ['1', 'yes'],
  clear_legacy_web_login: ['1', 'yes'],
  unassigned: ['1', 'yes'],
};

/** Columns and keys that are no parameters of any call. */
const unknown = {
  status: 0,
  Status: false,
  enabled: false,
  disabledByAdmin: true,
  tunnelCount: -5,
  userId: 2,
  ownerId: 2,
  Id: 77,
  createdAt: '2020-01-01',
  InletFlow: 1,
  flow_inlet: 1,
};

const rows = routes.flatMap(({ path, envelope, parameters }) =>
  Object.entries(parameters)
    .filter(([, { forAdministrators }]) => forAdministrators).map(([name]) => ({ path, envelope, name }))
);

test('every parameter that is for administrators has its values here, and nothing else has', () => {
  expect(Object.keys(reserved).toSorted()).toEqual([...new Set(rows.map(({ name }) => name))].toSorted());
  // What /client/add/ and /client/edit/ ignore (contract 2.2), and what this server has beside it.
  for (const path of ['/client/add', '/client/edit']) {
    expect(rows.filter((row) => row.path === path).map(({ name }) => name)).toEqual(expect.arrayContaining([
      'vkey',
      'user_id',
      'rate_limit',
      'flow_limit',
      'max_conn',
      'max_tunnel',
      'web_username',
      'web_password',
      'expire_time',
      'config_conn_allow',
    ]));
  }
});

async function call(caller: CallerName, path: string, parameters: CallParameters): Promise<unknown> {
  const { body } = await world.api.call(path, parameters, world.as(caller));
  return body;
}

/** A list as a caller sees it who sends nothing. */
const lists = new Map<string, unknown>();

/** Who sends a parameter: in `npm test`, one after the other of those who can make the call. */
function sendersOf(path: string, at: number): readonly CallerName[] {
  // A client's login makes no clients at all.
  const able = ordinary.filter((caller) => path !== '/client/add' || caller !== 'legacy client login');
  return endurance ? able : able.filter((_caller, n) => n === at % able.length);
}

describe.each(rows.map((row, at) => ({ ...row, at })))('$path $name', ({ path, envelope, name, at }) => {
  test.each(sendersOf(path, at))('of %s is ignored', async (caller) => {
    for (const value of reserved[name] ?? []) {
      await world.restore();
      if (envelope === 'list') {
        const key = `${path} ${caller}`;
        if (!lists.has(key)) lists.set(key, await call(caller, path, {}));
        expect([value, await call(caller, path, { [name]: value })]).toEqual([value, lists.get(key)]);
        continue;
      }
      const made = path === '/client/add';
      const answer = await call(caller, path, { ...(!made && { id: 1 }), remark: 'mine', [name]: value });
      expect([value, answer]).toEqual([value, made ? { status: 1, msg: 'add success', id: 4 } : { status: 1, msg: 'save success' }]);
      if (!made) expect([value, world.differences()]).toEqual([value, { 'Client 1': { remark: 'mine' } }]);
      else expect([value, world.differences()['Client 4']]).toEqual([value, plainClient]);
    }
  });
});

/** A client as an ordinary user makes it with a remark alone. */
const plainClient = expect.objectContaining({
  vkey: expect.stringMatching(/^[\w-]{20,}$/),
  remark: 'mine',
  userId: 1,
  enabled: 1,
  disabledByAdmin: 0,
  rateLimit: 0,
  flowLimit: 0,
  maxConnections: 0,
  maxTunnels: 0,
  webUsername: '',
  webPasswordHash: '',
  expiresAt: null,
  configAllowed: 1,
  tunnelCount: 0,
  hostCount: 0,
  inletBytes: 0,
});

/** What ordinary users may set of their clients (contract 2.2), and what is then stored. */
const allowed = {
  remark: ['mine', { remark: 'mine' }],
  u: ['someone', { basicUser: 'someone' }],
  p: ['their password', { basicPassword: 'their password' }],
  compress: ['1', { compress: 1 }],
  crypt: ['1', { crypt: 1 }],
  ipwhite: ['1', { ipWhite: 1 }],
  ipwhitepass: ['open the door', { ipWhitePassword: 'open the door' }],
  ipwhitelist: ['192.0.2.7', { ipWhiteList: '192.0.2.7' }],
  blackiplist: ['192.0.2.8', { blackIpList: '192.0.2.8' }],
} as const;

test.each(ordinary)('everything else of a client is set for %s', async (caller) => {
  const sent = Object.fromEntries(Object.entries(allowed).map(([name, [value]]) => [name, value]));
  const columns = Object.fromEntries(Object.values(allowed).flatMap(([, stored]) => Object.entries(stored)));
  await world.restore();
  expect(await call(caller, '/client/edit', { id: 1, ...sent })).toEqual({ status: 1, msg: 'save success' });
  expect(world.differences()).toEqual({ 'Client 1': columns });
  if (caller === 'legacy client login') return;
  await world.restore();
  expect(await call(caller, '/client/add', sent)).toEqual({ status: 1, msg: 'add success', id: 4 });
  expect(world.differences()['Client 4']).toMatchObject(columns);
});

test.each(ordinary)('names that are no parameters do nothing: %s', async (caller) => {
  const calls: readonly (readonly [string, CallParameters, string])[] = [
    ['/client/edit', { id: 1, u: 'mine' }, 'Client 1'],
    ['/index/edit', { id: 1, remark: 'mine' }, 'Tunnel 1'],
    ['/index/edithost', { id: 1, remark: 'mine' }, 'Host 1'],
  ];
  for (const [path, parameters, key] of calls) {
    await world.restore();
    expect(
      await call(caller, path, {
        ...unknown,
        ...parameters,
        running: 'true',
        localProxy: 'true',
        local_proxy: '1',
        IsClose: 'true',
        certFilePath: '/etc/passwd',
      }),
    ).toMatchObject({ status: 1 });
    const { id: _, ...set } = parameters;
    expect(world.differences()).toEqual({ [key]: Object.fromEntries(Object.entries(set).map(([name, value]) => [name === 'u' ? 'basicUser' : name, value])) });
  }
});

test('a user who changes the own password changes nothing else of the account', async () => {
  await world.restore();
  const sent = {
    ...unknown,
    username: 'root',
    remark: 'mine',
    max_tunnel: 0,
    max_client: 99,
    expire_time: '',
    current_password: password,
    new_password: 'new password',
  };
  expect(await call('user token', '/user/changepassword', sent)).toEqual({ status: 1, msg: 'password changed' });
  expect(world.differences()).toEqual({ 'User 1': { passwordHash: expect.any(String) }, 'Session user': null });
});

/** What an ordinary user may set of a client over GraphQL (contract 2.2). */
const own = ['remark', 'basicUser', 'basicPassword', 'compress', 'encrypt', 'blocklist', 'allowlistEnabled', 'allowlistPassword', 'allowlist'];
const values: Readonly<Record<string, string>> = {
  verifyKey: '"chosen-by-user"',
  configAllowed: 'true',
  rateLimit: '1',
  flowLimit: '2',
  maxConnections: '3',
  maxTunnels: '4',
  webUsername: '"other"',
  webPassword: '"another password"',
  expiresAt: '"2030-01-01T00:00:00Z"',
  ownerId: '2',
};
const input = schema.getType('UpdateClientInput');
const reservedFields = isInputObjectType(input) ? Object.values(input.getFields()).filter(({ name }) => !own.includes(name)) : [];

test.each(reservedFields.map(({ name, type }) => [name, getNamedType(type).name]))('GraphQL: %s (%s) of others is ignored', async (name) => {
  expect(values).toHaveProperty(name);
  for (const caller of ordinary) {
    await world.restore();
    const response = await fetch(`${world.api.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...world.as(caller).headers },
      body: JSON.stringify({ query: `mutation { updateClient(id: 1, input: { remark: "mine", ${name}: ${values[name]} }) { id } }` }),
    });
    expect([caller, await response.json()]).toEqual([caller, { data: { updateClient: { id: '1' } } }]);
    expect([caller, world.differences()]).toEqual([caller, { 'Client 1': { remark: 'mine' } }]);
  }
});
