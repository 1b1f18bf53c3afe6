import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { GraphQLEnumType } from 'graphql';
import { errorCodes } from '../../src/schema/error-codes.ts';
import { AditError } from '../../src/schema/errors.ts';
import { hashPassword } from '../../src/schema/access/password.ts';
import { Problems } from '../../src/schema/values/problems.ts';
import { schema } from '../../src/schema/schema.ts';
import { eitherDialect } from '../support/database.ts';
import { openTestSchema, type SchemaOver } from '../support/schema.ts';

const extensions = z.object({ code: z.string(), field: z.string(), problems: z.array(z.object({ code: z.string(), field: z.string(), message: z.string() })) });

/** What an operation with an input is refused for, as [field, code]. The error itself has to be the first problem. */
async function problemsOf(
  api: SchemaOver,
  operation: string,
  variables: Readonly<Record<string, unknown>>,
  caller?: Parameters<SchemaOver['run']>[2],
): Promise<string[][]> {
  const { errors } = await api.run(operation, variables, caller);
  expect(errors).toHaveLength(1);
  const { code, field, problems } = extensions.parse(errors[0]?.extensions);
  expect(problems[0]).toMatchObject({ code, field, message: errors[0]?.message });
  return problems.map((problem) => [problem.field, problem.code]);
}

test('the enum ErrorCode of the schema is the table of errors', () => {
  const type = schema.getType('ErrorCode');
  expect(type).toBeInstanceOf(GraphQLEnumType);
  const values = type instanceof GraphQLEnumType ? type.getValues() : [];
  expect(values.map(({ name, description }) => [name, description])).toEqual(Object.entries(errorCodes).map(([code, { description }]) => [code, description]));
});

describe('problems', () => {
  test('have the path of the input, one for each field, and come before another error of the call', async () => {
    const problems = new Problems();
    expect(problems.check(() => 1)).toBe(1);
    problems.note(new AditError('HOST_INVALID', { field: 'host' }));
    problems.note(new AditError('HOST_EXISTS'), 'host');
    problems.inside('entries.2').note(new AditError('HOST_EXISTS', { field: 'name' }));
    const failure = await problems.during(() => Promise.reject(new AditError('FORBIDDEN'))).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      message: 'invalid host',
      extensions: { code: 'HOST_INVALID', field: 'input.host', problems: [{ field: 'input.host' }, { code: 'HOST_EXISTS', field: 'input.entries.2.name' }] },
    });
  });

  test('hide no fault of the server', async () => {
    const problems = new Problems();
    problems.note(new AditError('HOST_INVALID', { field: 'host' }));
    const fault = new TypeError('broken');
    await expect(problems.during(() => Promise.reject(fault))).rejects.toBe(fault);
  });

  test('are nothing that no field has caused', async () => {
    for (const error of [new AditError('FORBIDDEN'), new Error('broken')]) {
      expect(() =>
        new Problems().check(() => {
          throw error;
        })
      ).toThrow(error);
      await expect(new Problems().during(() => Promise.reject(error))).rejects.toBe(error);
    }
    expect(() => new Problems(null).note(new AditError('HOST_INVALID', { field: 'host' }))).toThrow(
      expect.objectContaining({ extensions: { code: 'HOST_INVALID' } }),
    );
  });
});

eitherDialect('all problems of an input are reported at once, and nothing is written', (databases) => {
  const long = 'x'.repeat(256);

  test('of a tunnel', async () => {
    const api = await openTestSchema(databases);
    await api.ok('mutation { createClient(input: {}) { id } }');
    api.engine.taken.add(9001);
    const create = 'mutation ($input: CreateTunnelInput!) { createTunnel(input: $input) { id } }';
    const input = { clientId: 7, mode: 'TCP', port: 9001, serverIp: 'here', remark: long, targets: ['127.0.0.1:80', 'office'] };
    const wrong = [['input.remark', 'INVALID_INPUT'], ['input.serverIp', 'INVALID_INPUT'], ['input.targets.1', 'INVALID_INPUT'], [
      'input.port',
      'PORT_UNAVAILABLE',
    ], ['input.clientId', 'NOT_FOUND']];
    expect(await problemsOf(api, create, { input })).toEqual(wrong);
    expect(await api.services.store.db.tunnel.count()).toBe(0);
    const id = await api.id(create, { input: { clientId: 1, mode: 'TCP', port: 9000 } });
    expect(await problemsOf(api, 'mutation ($id: ID!, $input: UpdateTunnelInput!) { updateTunnel(id: $id, input: $input) { id } }', { id, input })).toEqual(
      expect.arrayContaining(wrong),
    );
    expect(await api.services.store.db.tunnel.findUnique({ where: { id } })).toMatchObject({ port: 9000, remark: '' });
    expect(api.engine.openLeases.size).toBe(0);
  });

  test('of a host', async () => {
    const api = await openTestSchema(databases);
    await api.ok('mutation { createClient(input: {}) { id } }');
    const create = 'mutation ($input: CreateHostInput!) { createHost(input: $input) { id } }';
    const input = { clientId: 7, host: 'a b', location: '/a b', headers: ['A: b', 'nothing'], targets: ['office'], remark: long };
    const wrong = [
      ['input.remark', 'INVALID_INPUT'],
      ['input.location', 'INVALID_INPUT'],
      ['input.targets.0', 'INVALID_INPUT'],
      ['input.headers.1', 'INVALID_INPUT'],
      ['input.host', 'HOST_INVALID'],
      ['input.clientId', 'NOT_FOUND'],
    ];
    expect(await problemsOf(api, create, { input })).toEqual(wrong);
    const id = await api.id(create, { input: { clientId: 1, host: 'a.example' } });
    expect(await problemsOf(api, create, { input: { clientId: 1, host: 'a.example', remark: long } })).toEqual([['input.remark', 'INVALID_INPUT'], [
      'input.host',
      'HOST_EXISTS',
    ]]);
    expect(await problemsOf(api, 'mutation ($id: ID!, $input: UpdateHostInput!) { updateHost(id: $id, input: $input) { id } }', { id, input })).toEqual(wrong);
    expect(await api.services.store.db.host.findMany({ select: { host: true, remark: true } })).toEqual([{ host: 'a.example', remark: '' }]);
  });

  test('of a client and of a user', async () => {
    const api = await openTestSchema(databases);
    const user = await api.id(
      'mutation { createUser(input: { username: "a", password: "password", expiresAt: "2030-01-01T00:00:00Z", maxClients: 1 }) { id } }',
    );
    await api.ok('mutation ($user: ID!) { createClient(input: { ownerId: $user, verifyKey: "taken" }) { id } }', { user });
    const create = 'mutation ($input: CreateClientInput!) { createClient(input: $input) { id } }';
    const input = { remark: long, basicUser: '\0', webUsername: 'a', ownerId: user, expiresAt: '2031-01-01T00:00:00Z' };
    const wrong = [['input.remark', 'INVALID_INPUT'], ['input.basicUser', 'INVALID_INPUT'], ['input.webPassword', 'WEB_LOGIN_INCOMPLETE'], [
      'input.expiresAt',
      'CLIENT_EXPIRES_AFTER_OWNER',
    ], ['input.ownerId', 'OWNER_CLIENT_QUOTA']];
    expect(await problemsOf(api, create, { input })).toEqual(wrong);
    expect(await problemsOf(api, create, { input: { verifyKey: 'taken' } })).toEqual([['input.verifyKey', 'VKEY_DUPLICATE']]);
    const createUser = 'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }';
    expect(await problemsOf(api, createUser, { input: { remark: long, username: ' ', password: '123' } })).toEqual([['input.username', 'USERNAME_EMPTY'], [
      'input.remark',
      'INVALID_INPUT',
    ], ['input.password', 'PASSWORD_TOO_SHORT']]);
    expect(await problemsOf(api, createUser, { input: { username: '', password: '' } })).toEqual([['input.username', 'USERNAME_EMPTY'], [
      'input.password',
      'PASSWORD_EMPTY',
    ]]);
    expect(await problemsOf(api, createUser, { input: { username: 'a', password: 'password' } })).toEqual([['input.username', 'USERNAME_DUPLICATE']]);
    const update = 'mutation ($id: ID!, $input: UpdateUserInput!) { updateUser(id: $id, input: $input) { id } }';
    await api.ok('mutation ($id: ID!) { updateClient(id: $id, input: { expiresAt: "2029-01-01T00:00:00Z" }) { id } }', { id: 1 });
    expect(await problemsOf(api, update, { id: user, input: { username: ' ', password: ' ' } })).toEqual([
      ['input.username', 'USERNAME_EMPTY'],
      ['input.password', 'PASSWORD_EMPTY'],
    ]);
    expect(await problemsOf(api, update, { id: user, input: { password: '12345' } })).toEqual([['input.password', 'PASSWORD_TOO_SHORT']]);
    expect(await problemsOf(api, update, { id: user, input: { remark: long, expiresAt: '2028-01-01T00:00:00Z' } })).toEqual([
      ['input.remark', 'INVALID_INPUT'],
      ['input.expiresAt', 'USER_EXPIRES_BEFORE_CLIENT'],
    ]);
    expect(await api.services.store.db.client.count()).toBe(1);
  });

  test('of a limit below what a user has, only if it changes; of an expiry, the first client that is later; of the name of the administrator', async () => {
    const api = await openTestSchema(databases, { adminUsername: 'root' });
    const { db } = api.services.store;
    const id = await api.id('mutation { createUser(input: { username: "admin", password: "password" }) { id } }');
    for (const day of [3, 2, 1]) await db.client.create({ data: { vkey: `key ${day}`, userId: id, expiresAt: new Date(Date.UTC(2030, 0, day)) } });
    const update = 'mutation ($id: ID!, $input: UpdateUserInput!) { updateUser(id: $id, input: $input) { maxClients } }';
    expect(await problemsOf(api, update, { id, input: { username: 'root', maxClients: 2, expiresAt: '2030-01-01T12:00:00Z' } })).toEqual([
      ['input.username', 'USERNAME_DUPLICATE'],
      ['input.maxClients', 'USER_CLIENTS_ABOVE_QUOTA'],
      ['input.expiresAt', 'USER_EXPIRES_BEFORE_CLIENT'],
    ]);
    expect((await api.run(update, { id, input: { expiresAt: '2030-01-01T12:00:00Z' } })).errors).toMatchObject([{ extensions: { id: 1 } }]);
    await db.user.update({ where: { id }, data: { maxClients: 2 } });
    for (const maxClients of [2, 3, null]) expect(await api.record(update, { id, input: { maxClients } })).toEqual({ maxClients });
  });

  test('of the global settings, a token and a new password', async () => {
    const api = await openTestSchema(databases);
    const save = 'mutation ($input: UpdateGlobalSettingsInput!) { updateGlobalSettings(input: $input) { serverUrl } }';
    const platformDomains = [{ wildcard: '*.a.example' }, { wildcard: 'b' }, { wildcard: '*.c.example', certificatePath: '/cert' }];
    expect(await problemsOf(api, save, { input: { serverUrl: long, platformDomains } })).toEqual([
      ['input.serverUrl', 'INVALID_INPUT'],
      ['input.platformDomains.1.wildcard', 'PLATFORM_DOMAIN_INVALID'],
      ['input.platformDomains.2.privateKeyPath', 'PLATFORM_DOMAIN_INVALID'],
    ]);
    expect(await api.services.store.db.platformDomain.count()).toBe(0);
    expect(await problemsOf(api, 'mutation { createApiToken(input: { name: " ", scope: WALL, secrets: true }) { token } }', {})).toEqual([[
      'input.secrets',
      'INVALID_INPUT',
    ], ['input.name', 'INVALID_INPUT']]);
    const user = await api.id('mutation { createUser(input: { username: "a", password: "password" }) { id } }');
    const change = 'mutation ($new: String!) { changePassword(currentPassword: "wrong", newPassword: $new, confirmation: "another") { id } }';
    expect(await problemsOf(api, change, { new: '123' }, { kind: 'user', userId: user })).toEqual([['newPassword', 'PASSWORD_TOO_SHORT'], [
      'confirmation',
      'PASSWORD_MISMATCH',
    ]]);
    expect(await problemsOf(api, change, { new: 'another' }, { kind: 'user', userId: user })).toEqual([['currentPassword', 'CURRENT_PASSWORD_WRONG']]);
  });

  test('of two changes of a password at once by the one before, one is refused', async () => {
    const api = await openTestSchema(databases);
    const id = await api.id('mutation { createUser(input: { username: "alice", password: "password" }) { id } }');
    const change = (password: string) =>
      api.run(`mutation { changePassword(currentPassword: "password", newPassword: "${password}") { id } }`, {}, { kind: 'user', userId: id });
    const errors = (await Promise.all(['the first', 'the second'].map(change))).flatMap((answer) => answer.errors.map(({ code }) => code));
    expect(errors).toEqual(['CURRENT_PASSWORD_WRONG']);
  });

  test('null, limits, ids and empty texts among them', async () => {
    const api = await openTestSchema(databases);
    const update = (kind: string) => `mutation ($input: Update${kind}Input!) { update${kind}(id: 1, input: $input) { id } }`;
    const create = (kind: string) => `mutation ($input: Create${kind}Input!) { create${kind}(input: $input) { id } }`;
    const invalid = (...fields: string[]) => fields.map((field) => [`input.${field}`, 'INVALID_INPUT']);
    await api.ok(
      'mutation { createUser(input: { username: "a", password: "password" }) { id } createClient(input: {}) { id } createTunnel(input: { clientId: 1, mode: TCP }) { id } createHost(input: { clientId: 1, host: "a.example" }) { id } }',
    );
    expect(await problemsOf(api, update('User'), { input: { username: null, maxTunnels: 0, maxClients: -1, remark: long } })).toEqual(
      invalid('username', 'maxTunnels', 'maxClients', 'remark'),
    );
    const client = {
      basicUser: '',
      basicPassword: '',
      verifyKey: '',
      webUsername: '',
      webPassword: '',
      allowlistPassword: '',
      rateLimit: 0,
      ownerId: 'x',
      remark: long,
    };
    const wrong = invalid('verifyKey', 'basicUser', 'basicPassword', 'rateLimit', 'webUsername', 'webPassword', 'allowlistPassword', 'ownerId', 'remark');
    expect(await problemsOf(api, update('Client'), { input: client })).toEqual(wrong);
    expect(await problemsOf(api, create('Client'), { input: client })).toEqual(wrong);
    const tunnel = { clientId: 'x', serverIp: '', password: '', localPath: '', stripPrefix: '', proxyProtocol: null, targets: ['office'] };
    const ofTunnel = invalid('clientId', 'serverIp', 'password', 'localPath', 'stripPrefix', 'proxyProtocol', 'targets.0');
    expect(await problemsOf(api, update('Tunnel'), { input: { ...tunnel, mode: null } })).toEqual([['input.clientId', 'INVALID_INPUT'], [
      'input.mode',
      'INVALID_INPUT',
    ], ...ofTunnel.slice(1)]);
    const notNull = (problems: string[][]) => problems.filter(([field]) => field !== 'input.proxyProtocol' && field !== 'input.acme');
    expect(await problemsOf(api, create('Tunnel'), { input: { ...tunnel, mode: 'TCP' } })).toEqual(notNull(ofTunnel));
    const host = { clientId: 'x', location: '', hostChange: '', certificate: '', privateKey: '', acme: null, targets: ['office'] };
    const ofHost = invalid('clientId', 'location', 'hostChange', 'certificate', 'privateKey', 'acme', 'targets.0');
    expect(await problemsOf(api, update('Host'), { input: host })).toEqual(ofHost);
    expect(await problemsOf(api, create('Host'), { input: { ...host, host: 'b c' } })).toEqual([...notNull(ofHost), ['input.host', 'HOST_INVALID']]);
    const platformDomains = [{ id: '', wildcard: '*.a.example' }, { wildcard: '*.b.example', privateKeyPath: '' }];
    expect(
      await problemsOf(api, 'mutation ($input: UpdateGlobalSettingsInput!) { updateGlobalSettings(input: $input) { serverUrl } }', {
        input: { serverUrl: '', platformDomains },
      }),
    )
      .toEqual(invalid('serverUrl', 'platformDomains.0.id', 'platformDomains.1.privateKeyPath'));
    expect((await api.run(update('Tunnel'), { input: { serverIp: '' } })).errors).toEqual([
      expect.objectContaining({ message: 'invalid serverIp: an empty text; null = none' }),
    ]);
    expect(api.engine.openLeases.size).toBe(0);
    expect(await Promise.all([api.services.store.db.client.count(), api.services.store.db.tunnel.count(), api.services.store.db.host.count()])).toEqual([
      1,
      1,
      1,
    ]);
  });

  test('records of another owner only produce NOT_FOUND errors', async () => {
    const api = await openTestSchema(databases);
    await api.ok('mutation { createClient(input: {}) { id } }');
    const user = await api.id('mutation { createUser(input: { username: "a", password: "password" }) { id } }');
    const create = 'mutation ($input: CreateTunnelInput!) { createTunnel(input: $input) { id } }';
    for (const clientId of [1, 999]) {
      expect(await problemsOf(api, create, { input: { clientId, mode: 'TCP' } }, { kind: 'user', userId: user })).toEqual([['input.clientId', 'FORBIDDEN']]);
    }
  });

  test('each error names the field that has caused it', async () => {
    const api = await openTestSchema(databases);
    const { db } = api.services.store;
    await db.platformDomain.createMany({
      data: [{ id: 'd', wildcard: '*.p.example' }, { id: 'broken', wildcard: '*.q.example', certFilePath: '/none', keyFilePath: '/none' }],
    });
    await db.user.createMany({
      data: [{ username: 'alice', passwordHash: '', maxTunnels: 1 }, { username: 'bob', passwordHash: await hashPassword('secret') }],
    });
    await db.client.createMany({ data: [{ vkey: 'full', maxTunnels: 1 }, { vkey: 'two' }, { vkey: 'of alice', userId: 1 }, { vkey: 'of bob', userId: 2 }] });
    for (const clientId of [1, 2, 3]) await db.tunnel.create({ data: { clientId, mode: 'secret', password: `password ${clientId}` } });
    await db.host.create({ data: { clientId: 2, host: 'a.example', scheme: 'http' } });
    await db.tunnel.create({ data: { clientId: 4, mode: 'tcp', noStore: true } });
    await db.host.create({ data: { clientId: 4, host: 'c.example', noStore: true } });
    const create = (type: string, input: string) => `mutation { create${type}(input: { ${input} }) { __typename } }`;
    const update = (type: string, id: number, input: string) => `mutation { update${type}(id: ${id}, input: { ${input} }) { __typename } }`;
    const host = (input: string) => create('Host', `clientId: 2, ${input}`);
    const platform = (input: string) => host(`mode: PLATFORM, ${input}`);
    const change = (input: string) => `mutation { changePassword(${input}) { __typename } }`;
    const bob = { kind: 'user', userId: 2, address: '192.0.2.1' } as const;
    const refused: ReadonlyArray<readonly [operation: string, code: string, field: string | undefined, caller?: Parameters<SchemaOver['run']>[2]]> = [
      [update('Client', 2, 'ownerId: 9'), 'OWNER_NOT_FOUND', 'input.ownerId'],
      [update('Client', 1, 'ownerId: 1'), 'USER_TUNNEL_QUOTA', 'input.ownerId'],
      [create('Tunnel', 'clientId: 1, mode: TCP'), 'CLIENT_TUNNEL_QUOTA', 'input.clientId'],
      [update('Tunnel', 2, 'clientId: 1'), 'CLIENT_TUNNEL_QUOTA', 'input.clientId'],
      [update('Tunnel', 2, 'clientId: 3'), 'USER_TUNNEL_QUOTA', 'input.clientId'],
      [update('Tunnel', 2, 'clientId: 9'), 'NOT_FOUND', 'input.clientId'],
      [create('Tunnel', 'clientId: 2, mode: P2P, password: "password 1"'), 'TUNNEL_KEY_DUPLICATE', 'input.password'],
      [update('Tunnel', 2, 'password: "password 1"'), 'TUNNEL_KEY_DUPLICATE', 'input.password'],
      [update('Tunnel', 2, 'mode: SOCKS5, accounts: [{ user: "a", password: "p" }, { user: "b" }]'), 'INVALID_INPUT', 'input.accounts.1.password'],
      [update('Tunnel', 2, 'mode: SOCKS5, accounts: [{ user: "a", password: "p" }, { user: "a", password: "q" }]'), 'INVALID_INPUT', 'input.accounts.1'],
      [create('Host', 'clientId: 1, host: "b.example"'), 'CLIENT_TUNNEL_QUOTA', 'input.clientId'],
      [update('Host', 1, 'clientId: 1'), 'CLIENT_TUNNEL_QUOTA', 'input.clientId'],
      [update('Host', 1, 'clientId: 9'), 'NOT_FOUND', 'input.clientId'],
      [create('Host', 'clientId: 4, host: "localhost"'), 'HOST_OWN_NAME', 'input.host', bob],
      [create('Host', 'clientId: 4, host: "a.example", location: "/y"'), 'HOST_OVERLAP', 'input.host'],
      [update('Host', 2, 'remark: "x"'), 'AGENTS_OWN', undefined],
      [update('Tunnel', 4, 'remark: "x"'), 'AGENTS_OWN', undefined],
      [host('host: "x.p.example"'), 'PLATFORM_NAMESPACE', 'input.host'],
      [create('Host', 'clientId: 3, host: "a.example", location: "/x"'), 'USER_TUNNEL_QUOTA', 'input.clientId'],
      [platform('scheme: HTTP'), 'PLATFORM_DOMAIN_REQUIRED', 'input.platformDomainId'],
      [platform('platformDomainId: "e", scheme: HTTP'), 'PLATFORM_DOMAIN_UNKNOWN', 'input.platformDomainId'],
      [platform('platformDomainId: "d", platformPrefix: "-", scheme: HTTP'), 'PLATFORM_PREFIX_INVALID', 'input.platformPrefix'],
      [platform('platformDomainId: "d", platformPrefix: "a"'), 'PLATFORM_HTTP_ONLY', 'input.scheme'],
      [platform('platformDomainId: "broken", platformPrefix: "a"'), 'PLATFORM_CERTIFICATE', 'input.platformDomainId'],
      [platform('platformDomainId: "d", platformPrefix: "a", scheme: HTTP, acme: true'), 'INVALID_INPUT', 'input.acme'],
      [create('Enrolment', 'clientId: "x"'), 'INVALID_INPUT', 'input.clientId'],
      [create('Enrolment', 'clientId: 1, expiresInSeconds: 1'), 'INVALID_INPUT', 'input.expiresInSeconds'],
      ['mutation { allowVisitor(keyDigest: "a", password: "b", address: "c") }', 'INVALID_INPUT', 'address'],
      ['{ checkCertificate(certificate: "-----BEGIN", host: "a b") { usable } }', 'HOST_INVALID', 'host'],
      ['{ diagnoseTunnel { __typename } }', 'INVALID_INPUT', 'id'],
      [change('id: 2, newPassword: " "'), 'NEW_PASSWORD_EMPTY', 'newPassword'],
      [change('id: 2, newPassword: "12345"'), 'PASSWORD_TOO_SHORT', 'newPassword'],
      // The last one has to wait.
      ...Array.from(
        { length: 11 },
        () => [change('newPassword: "another", currentPassword: "wrong"'), 'CURRENT_PASSWORD_WRONG', 'currentPassword', bob] as const,
      ),
    ];
    for (const [operation, code, field, caller] of refused) {
      const [error] = (await api.run(operation, {}, caller)).errors;
      expect([operation, error?.code, error?.extensions['field']]).toEqual([operation, code, field]);
    }
  });

  test('values of a wrong type, in variables', async () => {
    const api = await openTestSchema(databases);
    const create = 'mutation ($input: CreateTunnelInput!) { createTunnel(input: $input) { id } }';
    expect(await problemsOf(api, create, { input: { clientId: 1, mode: 'TCP', port: 70000, targets: [1] } })).toEqual([['input.port', 'INVALID_INPUT'], [
      'input.targets.0',
      'INVALID_INPUT',
    ]]);
    expect(await problemsOf(api, create, { input: { clientId: 1 } })).toEqual([['input', 'INVALID_INPUT']]);
    expect(await problemsOf(api, 'query ($a: Int, $b: Int) { clients(limit: $a, offset: $b) { total } }', { a: 'x', b: 'y' })).toEqual([
      ['a', 'INVALID_INPUT'],
      ['b', 'INVALID_INPUT'],
    ]);
  });

  test.each([
    ['mutation { createTunnel(input: { clientId: 1, mode: TCP, port: 70000 }) { id } }', ['input.port']],
    ['mutation { createTunnel(input: { clientId: 1, mode: FTP, port: "80", targets: ["a", 5] }) { id } }', ['input.mode', 'input.port', 'input.targets.1']],
    ['mutation { updateGlobalSettings(input: { platformDomains: [{ wildcard: "*.a.example" }, { wildcard: 1 }, {}] }) { serverUrl } }', [
      'input.platformDomains.1.wildcard',
      'input.platformDomains.2',
    ]],
    ['mutation { createTunnel(input: { clientId: 1, mode: TCP, bogus: 1 }) { id } }', ['input']],
    ['mutation { createTunnel(input: null) { id } }', ['input']],
    ['{ clients(limit: "1", filter: { expiresBefore: "tomorrow" }) { rows { tunnels(limit: 1.5) { total } } } }', ['limit', 'filter.expiresBefore', 'limit']],
    ['query ($limit: Int = "x") { clients(limit: $limit) { total } }', ['limit']],
  ])('values of a wrong type, in the operation: %s', async (operation, fields) => {
    const api = await openTestSchema(databases);
    expect(await problemsOf(api, operation, {})).toEqual(fields.map((field) => [field, 'INVALID_INPUT']));
  });

  test('errors of an operation that no value caused', async () => {
    const api = await openTestSchema(databases);
    expect(await api.code('{ nothing }')).toBe('GRAPHQL_VALIDATION_FAILED');
    expect(await api.code('{ server @include(if: 1) { version } }')).toBe('GRAPHQL_VALIDATION_FAILED');
    expect(await api.code('{ client { id } }')).toBe('GRAPHQL_VALIDATION_FAILED');
    expect(await api.code('{')).toBe('GRAPHQL_PARSE_FAILED');
    const { errors } = await api.run('{ nothing clients(limit: "1", offset: "2") { total } }');
    expect(errors.map(({ code, extensions: { field } }) => [code, field])).toEqual([['GRAPHQL_VALIDATION_FAILED', undefined], ['INVALID_INPUT', 'limit']]);
  });
});
