import { verify } from '@node-rs/argon2';
import { expect, test } from '@jest/globals';
import type { Caller } from '../../src/rules/caller.ts';
import { usableClient, usableHost, usableTunnel } from '../../src/schema/access/records.ts';
import { createContext } from '../../src/schema/context.ts';
import { eitherDialect } from '../support/database.ts';
import { openTestSchema, type TestSchema } from '../support/schema.ts';
import { CLIENT } from '../support/tunnel.ts';

const create = `mutation ($input: CreateClientInput!) { createClient(input: $input) {
  id verifyKey remark enabled basicUser hasBasicPassword compress encrypt configAllowed rateLimit flowLimit maxConnections maxTunnels
  webUsername hasWebPassword blocklist allowlistEnabled hasAllowlistPassword allowlist expiresAt effectiveExpiresAt owner { id username }
} }`;
const update = `mutation ($id: ID!, $input: UpdateClientInput!) { updateClient(id: $id, input: $input) {
  id verifyKey remark hasBasicPassword webUsername hasWebPassword hasAllowlistPassword blocklist allowlist rateLimit expiresAt effectiveExpiresAt owner { id }
} }`;
const enable = 'mutation ($id: ID!, $enabled: Boolean!) { setClientEnabled(id: $id, enabled: $enabled) { id enabled } }';
const remove = 'mutation ($id: ID!) { deleteClient(id: $id) }';

const newClient = (api: TestSchema, input: Record<string, unknown> = {}) => api.id(create, { input });

async function newUser({ services }: TestSchema, data: { maxClients?: number; maxTunnels?: number; expiresAt?: Date } = {}): Promise<number> {
  const username = `user ${await services.store.db.user.count()}`;
  return (await services.store.db.user.create({ data: { username, passwordHash: '', ...data } })).id;
}

const row = ({ services }: TestSchema, id: number) => services.store.db.client.findUniqueOrThrow({ where: { id } });

eitherDialect('clients', (databases) => {
  test('a client made of nothing gets a key of its own, no limits, and works', async () => {
    const api = await openTestSchema(databases);
    const client = await api.record(create, { input: {} });
    expect(client).toEqual({
      id: 1,
      verifyKey: expect.stringMatching(/^[a-z2-7]{24}$/),
      remark: '',
      enabled: true,
      basicUser: null,
      hasBasicPassword: false,
      compress: false,
      encrypt: false,
      configAllowed: false,
      rateLimit: null,
      flowLimit: null,
      maxConnections: null,
      maxTunnels: null,
      webUsername: null,
      hasWebPassword: false,
      blocklist: [],
      allowlistEnabled: false,
      hasAllowlistPassword: false,
      allowlist: [],
      expiresAt: null,
      effectiveExpiresAt: null,
      owner: null,
    });
    expect(api.engine.wantedClients.get(1)).toEqual({ ...CLIENT, vkey: client['verifyKey'] });
  });

  test('a record for a change is read in the transaction of the change', async () => {
    const api = await openTestSchema(databases);
    const { store } = api.services;
    const id = await newClient(api);
    const { id: tunnelId } = await store.db.tunnel.create({ data: { clientId: id, mode: 'tcp' } });
    const { id: hostId } = await store.db.host.create({ data: { clientId: id, host: 'a.example.com' } });
    const context = createContext(api.services, { kind: 'admin' });
    const remark = 'changed in it';
    const read = await store.transaction(async (tx) => {
      await tx.client.update({ where: { id }, data: { remark } });
      await tx.tunnel.update({ where: { id: tunnelId }, data: { remark } });
      await tx.host.update({ where: { id: hostId }, data: { remark } });
      return [await usableClient(context, tx, id), await usableTunnel(context, tx, tunnelId), await usableHost(context, tx, hostId)];
    });
    expect(read).toMatchObject([{ remark }, { remark, client: { remark } }, { remark, client: { remark } }]);
  });

  test('everything that is given is kept, lists without blanks and of equal ones the last, no limit as null', async () => {
    const api = await openTestSchema(databases);
    const owner = await newUser(api, { expiresAt: new Date('2030-01-01T00:00:00Z') });
    const client = await api.record(create, {
      input: {
        verifyKey: 'the key',
        remark: 'office',
        basicUser: 'u',
        basicPassword: 'p',
        compress: true,
        encrypt: true,
        configAllowed: true,
        rateLimit: 1,
        flowLimit: 2,
        maxConnections: 3,
        maxTunnels: null,
        webUsername: 'w',
        webPassword: 'secret',
        allowlistEnabled: true,
        allowlistPassword: 'x',
        blocklist: ['1.1.1.1', ' ', '2.2.2.2\r\n1.1.1.1'],
        allowlist: ['3.3.3.3'],
        expiresAt: '2029-01-01T01:00:00+01:00',
        ownerId: owner,
      },
    });
    expect(client).toEqual({
      id: 1,
      verifyKey: 'the key',
      remark: 'office',
      enabled: true,
      basicUser: 'u',
      hasBasicPassword: true,
      compress: true,
      encrypt: true,
      configAllowed: true,
      rateLimit: 1,
      flowLimit: 2,
      maxConnections: 3,
      maxTunnels: null,
      webUsername: 'w',
      hasWebPassword: true,
      blocklist: ['2.2.2.2', '1.1.1.1'],
      allowlistEnabled: true,
      hasAllowlistPassword: true,
      allowlist: ['3.3.3.3'],
      expiresAt: '2029-01-01T00:00:00.000Z',
      effectiveExpiresAt: '2029-01-01T00:00:00.000Z',
      owner: { id: owner, username: 'user 0' },
    });
    expect(await verify((await row(api, 1)).webPasswordHash, 'secret')).toBe(true);
  });

  test('a key belongs to one client; a failed create leaves no row, no count and no key with the engine', async () => {
    const api = await openTestSchema(databases);
    await newClient(api, { verifyKey: 'same' });
    expect(await api.run(create, { input: { verifyKey: 'same' } })).toMatchObject({
      errors: [{ code: 'VKEY_DUPLICATE', message: 'Vkey duplicate, please reset' }],
    });
    const second = await newClient(api);
    expect(await api.code(update, { id: second, input: { verifyKey: 'same' } })).toBe('VKEY_DUPLICATE');
    expect(await api.ok('{ clients { total rows { id } } }')).toEqual({ clients: { total: 2, rows: [{ id: 1 }, { id: second }] } });
    expect(api.engine.wantedClients.size).toBe(2);
  });

  test('an edit changes what it names and keeps the rest; null clears, and is refused where there is nothing to clear', async () => {
    const api = await openTestSchema(databases);
    const id = await newClient(api, {
      verifyKey: 'k',
      remark: 'a',
      basicPassword: 'p',
      rateLimit: 5,
      webUsername: 'w',
      webPassword: 'secret',
      allowlistPassword: 'x',
      blocklist: ['1.1.1.1'],
      expiresAt: '2029-01-01T00:00:00Z',
    });
    const client = await api.record(update, { id, input: { remark: 'b' } });
    expect(client).toEqual({
      id,
      verifyKey: 'k',
      remark: 'b',
      hasBasicPassword: true,
      webUsername: 'w',
      hasWebPassword: true,
      hasAllowlistPassword: true,
      blocklist: ['1.1.1.1'],
      allowlist: [],
      rateLimit: 5,
      expiresAt: '2029-01-01T00:00:00.000Z',
      effectiveExpiresAt: '2029-01-01T00:00:00.000Z',
      owner: null,
    });
    const emptied = await api.record(update, {
      id,
      input: { remark: null, basicPassword: null, allowlistPassword: null, blocklist: null, expiresAt: null, rateLimit: null },
    });
    expect(emptied).toMatchObject({ remark: '', hasBasicPassword: false, hasAllowlistPassword: false, blocklist: [], expiresAt: null, rateLimit: null });
    for (const [field, value] of [['verifyKey', null], ['compress', null], ['rateLimit', 0], ['maxTunnels', -1]] as const) {
      expect((await api.run(update, { id, input: { [field]: value } })).errors.length).toBe(1);
    }
  });

  test('an ordinary user sets what belongs to the owner; limits, key, web login and owner stay as they are', async () => {
    const api = await openTestSchema(databases);
    const owner = await newUser(api);
    const id = await newClient(api, { verifyKey: 'k', ownerId: owner, rateLimit: 5 });
    const input = {
      remark: 'mine',
      basicUser: 'b',
      blocklist: ['1.1.1.1'],
      verifyKey: 'other',
      rateLimit: 9,
      webUsername: 'w',
      webPassword: 'w',
      ownerId: null,
    };
    const { data, errors } = await api.run(update, { id, input }, { kind: 'user', userId: owner });
    expect(errors).toEqual([]);
    expect(data).toMatchObject({
      updateClient: { remark: 'mine', blocklist: ['1.1.1.1'], verifyKey: 'k', rateLimit: 5, webUsername: null, owner: { id: owner } },
    });
    expect(await row(api, id)).toMatchObject({ remark: 'mine', basicUser: 'b', vkey: 'k' });
  });

  test('a web login has both halves or none; one half may be changed, and both removed', async () => {
    const api = await openTestSchema(databases);
    expect(await api.code(create, { input: { webUsername: 'w' } })).toBe('WEB_LOGIN_INCOMPLETE');
    expect((await api.run(create, { input: { webPassword: 'secret' } })).errors).toMatchObject([{
      code: 'WEB_LOGIN_INCOMPLETE',
      extensions: { field: 'input.webUsername' },
    }]);
    const id = await newClient(api, { webUsername: 'w', webPassword: 'secret' });
    expect(await api.record(update, { id, input: { webUsername: 'v' } })).toMatchObject({ webUsername: 'v', hasWebPassword: true });
    await api.ok(update, { id, input: { webPassword: 'changed' } });
    expect(await verify((await row(api, id)).webPasswordHash, 'changed')).toBe(true);
    expect(await api.code(update, { id, input: { webUsername: 'other', webPassword: null } })).toBe('WEB_LOGIN_INCOMPLETE');
    expect(await api.record(update, { id, input: { webUsername: null, webPassword: null } })).toMatchObject({ webUsername: null, hasWebPassword: false });
  });

  test('sessions of the web login end when one of the credentials of the client changes, and by nothing else', async () => {
    const api = await openTestSchema(databases);
    const { db } = api.services.store;
    const id = await newClient(api, { webUsername: 'w', webPassword: 'secret' });
    const ends = async (input: Record<string, unknown>) => {
      await db.session.deleteMany();
      await db.session.create({ data: { id: 's', kind: 'client', clientId: id, stamp: '', lastSeenAt: new Date() } });
      await api.ok(update, { id, input });
      return await db.session.count() === 0;
    };
    for (const input of [{ verifyKey: 'another' }, { webUsername: 'v' }, { webPassword: 'another' }]) expect([input, await ends(input)]).toEqual([input, true]);
    for (const input of [{ remark: 'x' }, { verifyKey: 'another', webUsername: 'v' }]) expect([input, await ends(input)]).toEqual([input, false]);
  });

  test("a client's own expiry is not later than its owner's, also when the owner changes; the earlier one counts", async () => {
    const api = await openTestSchema(databases);
    const early = await newUser(api, { expiresAt: new Date('2027-01-01T00:00:00Z') });
    const input = { ownerId: early, expiresAt: '2028-01-01T00:00:00Z' };
    expect(await api.code(create, { input })).toBe('CLIENT_EXPIRES_AFTER_OWNER');
    const id = await newClient(api, { expiresAt: input.expiresAt });
    expect(await api.code(update, { id, input: { ownerId: early } })).toBe('CLIENT_EXPIRES_AFTER_OWNER');
    expect(await api.record(update, { id, input: { ownerId: early, expiresAt: null } }))
      .toMatchObject({ expiresAt: null, effectiveExpiresAt: '2027-01-01T00:00:00.000Z', owner: { id: early } });
    expect(api.engine.wantedClients.get(id)?.expiresAt).toBe(Date.UTC(2027, 0, 1));
    expect(await api.code(update, { id, input: { expiresAt: input.expiresAt } })).toBe('CLIENT_EXPIRES_AFTER_OWNER');
  });

  test('an owner gets no more clients than allowed, whether they are created, moved or added concurrently', async () => {
    const api = await openTestSchema(databases);
    const ownerId = await newUser(api, { maxClients: 3 });
    const codes = await Promise.all(Array.from({ length: 8 }, () => api.code(create, { input: { ownerId } })));
    expect(codes.filter((code) => code === undefined)).toHaveLength(3);
    expect(codes.filter((code) => code === 'OWNER_CLIENT_QUOTA')).toHaveLength(5);
    const free = await newClient(api);
    expect(await api.code(update, { id: free, input: { ownerId } })).toBe('OWNER_CLIENT_QUOTA');
    const [first] = await api.services.store.db.client.findMany({ where: { userId: ownerId } });
    expect((await api.record(update, { id: first?.id, input: { ownerId: null } }))['owner']).toBeNull();
    expect((await api.record(update, { id: free, input: { ownerId } }))['owner']).toEqual({ id: ownerId });
    expect(await api.services.store.db.user.findUniqueOrThrow({ where: { id: ownerId } })).toMatchObject({ clientCount: 3 });
  });

  test('a client moves to an owner only with all its tunnels', async () => {
    const api = await openTestSchema(databases);
    const ownerId = await newUser(api, { maxTunnels: 1 });
    const id = await newClient(api);
    for (const port of [9001, 9002]) {
      await api.ok('mutation ($input: CreateTunnelInput!) { createTunnel(input: $input) { id } }', { input: { clientId: id, mode: 'TCP', port } });
    }
    expect(await api.code(update, { id, input: { ownerId } })).toBe('USER_TUNNEL_QUOTA');
    expect(await api.services.store.db.user.findUniqueOrThrow({ where: { id: ownerId } })).toMatchObject({ clientCount: 0, tunnelCount: 0 });
  });

  test('an owner who does not exist is refused', async () => {
    const api = await openTestSchema(databases);
    expect(await api.code(create, { input: { ownerId: 7 } })).toBe('OWNER_NOT_FOUND');
    expect(await api.code(update, { id: await newClient(api), input: { ownerId: 0 } })).toBe('OWNER_NOT_FOUND');
  });

  test('disabling reaches the engine, is logged with its author, and can be repeated', async () => {
    const api = await openTestSchema(databases);
    const id = await newClient(api);
    for (const _ of [1, 2]) expect((await api.record(enable, { id, enabled: false }))['enabled']).toBe(false);
    expect(api.engine.wantedClients.get(id)?.enabled).toBe(false);
    expect(await row(api, id)).toMatchObject({ disabledByAdmin: true });
    await api.ok(enable, { id, enabled: true });
    expect(api.engine.wantedClients.get(id)?.enabled).toBe(true);
    expect(await row(api, id)).toMatchObject({ disabledByAdmin: false });
  });

  test('owners enable again what they have disabled, but nothing that an administrator has disabled, or that has expired', async () => {
    const api = await openTestSchema(databases);
    const { db } = api.services.store;
    const userId = await newUser(api);
    const id = await newClient(api, { ownerId: userId });
    const user: Caller = { kind: 'user', userId };
    const set = (enabled: boolean, caller?: Caller) => api.code(enable, { id, enabled }, caller);
    expect([await set(false, user), await set(true, user)]).toEqual([undefined, undefined]);
    expect([await set(false), await set(true, user)]).toEqual([undefined, 'FORBIDDEN']);
    // It stays so if the owner disables it as well.
    expect([await set(false, user), await set(true, user), await set(true)]).toEqual([undefined, 'FORBIDDEN', undefined]);
    expect([await set(false, user), await set(true, user)]).toEqual([undefined, undefined]);
    const past = new Date(0);
    await db.client.update({ where: { id }, data: { expiresAt: past } });
    expect([await set(false, user), await set(true, user)]).toEqual([undefined, 'FORBIDDEN']);
    await db.client.update({ where: { id }, data: { expiresAt: null } });
    await db.user.update({ where: { id: userId }, data: { expiresAt: past } });
    expect([await set(true, user), await set(true)]).toEqual(['FORBIDDEN', undefined]);
    // An edit of another field does not fail because the expiry of the owner is earlier meanwhile.
    await db.client.update({ where: { id }, data: { expiresAt: new Date('2099-01-01') } });
    expect(await api.code(update, { id, input: { remark: 'x' } })).toBeUndefined();
  });

  test('the web login of a client sees its owner, without the clients of the owner; a command for the agent needs a name of the server', async () => {
    const api = await openTestSchema(databases);
    const ownerId = await newUser(api);
    const id = await newClient(api, { ownerId });
    const owner = async (caller: Caller) => (await api.run(`{ client(id: ${id}) { owner { id clients { total } } } }`, {}, caller)).data;
    expect(await owner({ kind: 'user', userId: ownerId })).toEqual({ client: { owner: { id: ownerId, clients: { total: 1 } } } });
    expect(await owner({ kind: 'client', clientId: id })).toEqual({ client: { owner: { id: ownerId, clients: null } } });
    const command = async () => (await api.record(`{ client(id: ${id}) { agentCommand } }`))['agentCommand'];
    expect(await command()).toBeNull();
    await api.ok('mutation { updateGlobalSettings(input: { serverUrl: "adit.example" }) { version } }');
    expect(await command()).toContain(' --server adit.example:8025 ');
  });

  test('deleting takes the tunnels and all counts along', async () => {
    const api = await openTestSchema(databases);
    const ownerId = await newUser(api);
    const id = await newClient(api, { ownerId });
    await api.ok('mutation ($input: CreateTunnelInput!) { createTunnel(input: $input) { id } }', { input: { clientId: id, mode: 'TCP' } });
    expect(await api.ok(remove, { id })).toEqual({ deleteClient: id });
    expect(await api.ok('{ clients { total } tunnels { total rows { id } } }')).toEqual({ clients: { total: 0 }, tunnels: { total: 0, rows: [] } });
    expect(await api.services.store.db.user.findUniqueOrThrow({ where: { id: ownerId } })).toMatchObject({ clientCount: 0, tunnelCount: 0 });
    expect(api.engine.wantedClients.size + api.engine.wantedTunnels.size).toBe(0);
  });

  test('an unknown id is NOT_FOUND in a mutation and null in a query', async () => {
    const api = await openTestSchema(databases);
    for (const [operation, variables] of [[update, { input: {} }], [enable, { enabled: true }], [remove, {}]] as const) {
      expect((await api.run(operation, { id: 99, ...variables })).errors[0]).toMatchObject({ code: 'NOT_FOUND', message: 'client ID not found' });
    }
    expect(await api.ok('{ client(id: 99) { id } }')).toEqual({ client: null });
  });

  test('texts that are too long or hold NUL are refused by the name of their field, and nothing changes', async () => {
    const api = await openTestSchema(databases);
    const id = await newClient(api, { remark: 'as it was' });
    await api.ok(update, { id, input: { remark: '😀'.repeat(255) } });
    for (
      const [field, value] of Object.entries({
        remark: 'x'.repeat(256),
        verifyKey: 'x'.repeat(256),
        basicUser: '😀'.repeat(256),
        webPassword: 'x'.repeat(256),
        allowlistPassword: 'a\0b',
        blocklist: ['10.0.0.1'.repeat(150_000)],
        allowlist: ['a\0'],
      })
    ) {
      expect((await api.run(update, { id, input: { compress: true, [field]: value } })).errors[0]).toMatchObject({
        code: 'INVALID_INPUT',
        extensions: { field: `input.${field}` },
      });
    }
    expect(await row(api, id)).toMatchObject({ compress: false, remark: '😀'.repeat(255) });
  });
});
