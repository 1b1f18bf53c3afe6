import { expect, jest, test } from '@jest/globals';
import type { Caller } from '../../src/rules/caller.ts';
import { eitherDialect } from '../support/database.ts';
import { openTestSchema, type TestSchema } from '../support/schema.ts';

const fields = 'id mode remark port serverIp targets localProxy password localPath stripPrefix proxyProtocol enabled client { id } runtime { running error }';
const create = `mutation ($input: CreateTunnelInput!) { createTunnel(input: $input) { ${fields} } }`;
const copy = `mutation ($id: ID!) { copyTunnel(id: $id) { ${fields} } }`;
const update = `mutation ($id: ID!, $input: UpdateTunnelInput!) { updateTunnel(id: $id, input: $input) { ${fields} } }`;
const start = `mutation ($id: ID!) { startTunnel(id: $id) { ${fields} } }`;
const stop = `mutation ($id: ID!) { stopTunnel(id: $id) { ${fields} } }`;
const remove = 'mutation ($id: ID!) { deleteTunnel(id: $id) }';

type Input = Readonly<Record<string, unknown>>;

const newClient = (api: TestSchema, input: Input = {}) => api.id('mutation ($input: CreateClientInput!) { createClient(input: $input) { id } }', { input });

/** A tunnel of a new client. */
async function newTunnel(api: TestSchema, input: Input = {}): Promise<number> {
  return api.id(create, { input: { clientId: await newClient(api), mode: 'TCP', targets: ['127.0.0.1:22'], ...input } });
}

const totals = async ({ services }: TestSchema) =>
  Object.fromEntries(
    (await services.store.db.total.findMany({ where: { name: { notIn: ['audit', 'users', 'hosts'] } } })).map(({ name, value }) => [name, value]),
  );

eitherDialect('tunnels', (databases) => {
  test('accounts of a proxy: names are shown, passwords are not, and an account without a password keeps it', async () => {
    const api = await openTestSchema(databases);
    const id = await newTunnel(api, { mode: 'SOCKS5', targets: [], accounts: [{ user: 'alice', password: 'hers' }, { user: 'bob', password: 'other' }] });
    const change = (accounts: unknown) =>
      api.record('mutation ($id: ID!, $input: UpdateTunnelInput!) { updateTunnel(id: $id, input: $input) { accountNames } }', { id, input: { accounts } });
    const stored = () => api.engine.wantedTunnels.get(id)?.accounts;
    expect(stored()).toEqual([{ user: 'alice', password: 'hers' }, { user: 'bob', password: 'other' }]);
    expect(await change([{ user: 'bob' }, { user: 'carol', password: '' }])).toEqual({ accountNames: ['bob', 'carol'] });
    expect(stored()).toEqual([{ user: 'bob', password: 'other' }, { user: 'carol', password: '' }]);
    const audited = JSON.stringify(await api.services.store.db.auditEntry.findMany({ where: { resource: 'tunnel' } }));
    expect(audited).toContain('accounts');
    expect(audited).not.toMatch(/hers|"other/);
    const refused: Array<[unknown, RegExp]> = [
      [[{ user: 'dave' }], /accounts\.0\.password.*needs one/],
      [[{ user: 'a:b', password: 'x' }], /colon/],
      [[{ user: '', password: 'x' }], /empty/],
      [[{ user: 'é'.repeat(128), password: 'x' }], /255 bytes/],
      [[{ user: 'x', password: '1' }, { user: 'x', password: '2' }], /another account/],
      [Array.from({ length: 1001 }, (_, n) => ({ user: `u${n}`, password: '' })), /more than 1000/],
      [Array.from({ length: 260 }, (_, n) => ({ user: `u${n}`, password: 'p'.repeat(255) })), /longer than 65536 characters/],
    ];
    for (const [accounts, problem] of refused) await expect(change(accounts)).rejects.toThrow(problem);
    expect(stored()).toHaveLength(2);
    expect(api.engine.wantedTunnels.get(await api.id(copy, { id }))?.accounts).toEqual(stored());
    expect(await change(null)).toEqual({ accountNames: [] });
    expect(stored()).toEqual([]);
  });

  test('a new tunnel is started, on the port that was asked for or on one that is picked', async () => {
    const api = await openTestSchema(databases);
    const clientId = await newClient(api);
    const input = {
      clientId,
      mode: 'TCP',
      remark: 'ssh',
      port: 9001,
      serverIp: '127.0.0.1',
      targets: ['10.0.0.1:22', '[::1]:22\r\n8080'],
      proxyProtocol: 'V2',
    };
    expect(await api.record(create, { input })).toEqual({
      id: 1,
      mode: 'TCP',
      remark: 'ssh',
      port: 9001,
      serverIp: '127.0.0.1',
      targets: ['10.0.0.1:22', '[::1]:22', '8080'],
      localProxy: false,
      password: null,
      localPath: null,
      stripPrefix: null,
      proxyProtocol: 'V2',
      enabled: true,
      client: { id: clientId },
      runtime: { running: true, error: null },
    });
    expect(api.engine.wantedTunnels.get(1)).toEqual({
      id: 1,
      clientId,
      mode: 'tcp',
      enabled: true,
      port: 9001,
      serverIp: '127.0.0.1',
      targets: ['10.0.0.1:22', '[::1]:22', '127.0.0.1:8080'],
      localProxy: false,
      password: '',
      localPath: '',
      stripPrefix: '',
      proxyProtocol: 'V2',
      accounts: [],
    });
    for (const port of [null, undefined]) {
      expect(await api.record(create, { input: { clientId, mode: 'TCP', port } })).toMatchObject({ port: expect.any(Number) });
    }
    expect([...api.engine.wantedTunnels.values()].map(({ port }) => port)).toEqual([9001, 20_000, 20_001]);
    expect(api.engine.openLeases.size).toBe(0);
    expect(await totals(api)).toEqual({ clients: 1, tunnels: 3, 'tunnels:tcp': 3 });
  });

  test("a port that is occupied is refused with the contract's text, and leaves no row, no count and no lease", async () => {
    const api = await openTestSchema(databases);
    await newTunnel(api, { port: 9001 });
    api.engine.taken.add(9002);
    for (const port of [9001, 9002]) {
      expect((await api.run(create, { input: { clientId: 1, mode: 'TCP', port } })).errors[0]).toMatchObject({
        code: 'PORT_UNAVAILABLE',
        message: 'The port cannot be opened because it may has been occupied or is no longer allowed.',
        extensions: { free: 9003 },
      });
    }
    const errorOf = async (port: number, caller: Caller) =>
      (await api.run(create, { input: { clientId: 1, mode: 'TCP', port } }, caller)).errors[0]?.extensions;
    expect(await errorOf(9001, { kind: 'admin' })).toMatchObject({ field: 'input.port', tunnelId: 1, tunnelRemark: '' });
    expect(await errorOf(9002, { kind: 'admin' })).not.toHaveProperty('tunnelId');
    // Whose tunnel it is remains a secret of its owner.
    const another = await newClient(api);
    const { errors } = await api.run(create, { input: { clientId: another, mode: 'TCP', port: 9001 } }, { kind: 'client', clientId: another });
    expect(errors).toMatchObject([{ code: 'PORT_UNAVAILABLE' }]);
    expect(errors[0]?.extensions).not.toHaveProperty('tunnelId');
    const agent = { kind: 'client', clientId: 1, by: 'vkey' } as const;
    expect((await api.run(create, { input: { clientId: 1, mode: 'TCP', port: 9001 } }, agent)).errors[0]?.extensions).not.toHaveProperty('free');
    for (let port = 9003; port <= 9012; port++) api.engine.taken.add(port);
    expect((await api.run(create, { input: { clientId: 1, mode: 'TCP', port: 9002 } })).errors[0]?.extensions).not.toHaveProperty('free');
    expect(await api.ok('{ tunnels { total rows { id } } }')).toEqual({ tunnels: { total: 1, rows: [{ id: 1 }] } });
    expect(api.engine.openLeases.size).toBe(0);
  });

  test('ports are asked for with mode and address; after a taken one, up to ten are tried, and none beyond the last', async () => {
    const api = await openTestSchema(databases);
    const clientId = await newClient(api);
    const asked = jest.spyOn(api.engine, 'reservePort');
    for (let port = 65_526; port <= 65_535; port++) api.engine.taken.add(port);
    const input = { clientId, mode: 'UDP', serverIp: '127.0.0.1' };
    const errorOf = async (port: number | null) => (await api.run(create, { input: { ...input, port } })).errors[0]?.extensions;
    expect(await errorOf(65_526)).not.toHaveProperty('free');
    const ports = Array.from({ length: 10 }, (_, n) => 65_526 + n);
    expect(asked.mock.calls.map(([request]) => request)).toEqual(ports.map((port) => expect.objectContaining({ mode: 'udp', port, serverIp: '127.0.0.1' })));
    api.engine.taken.delete(65_535);
    expect(await errorOf(65_526)).toMatchObject({ free: 65_535 });
    asked.mockReset().mockResolvedValue({ unavailable: 'none is left' });
    expect(await errorOf(null)).not.toHaveProperty('free');
    expect(asked).toHaveBeenCalledTimes(1);
  });

  test('the port is given back when the transaction fails', async () => {
    const api = await openTestSchema(databases);
    const clientId = await newClient(api, { maxTunnels: 1 });
    expect(await api.code(create, { input: { clientId: 99, mode: 'TCP' } })).toBe('NOT_FOUND');
    await api.ok(create, { input: { clientId, mode: 'TCP' } });
    expect(await api.run(create, { input: { clientId, mode: 'TCP' } })).toMatchObject({
      errors: [{ code: 'CLIENT_TUNNEL_QUOTA', message: 'The number of tunnels exceeds the limit' }],
    });
    expect(api.engine.openLeases.size).toBe(0);
    expect(await totals(api)).toMatchObject({ tunnels: 1 });
  });

  test('quotas of client and owner hold for any number of writers at once', async () => {
    const api = await openTestSchema(databases);
    const owner = await api.services.store.db.user.create({ data: { username: 'alice', passwordHash: '', maxTunnels: 3 } });
    const clients = [await newClient(api, { ownerId: owner.id, maxTunnels: 2 }), await newClient(api, { ownerId: owner.id })] as const;
    const codes = await Promise.all(Array.from({ length: 12 }, (_, n) => api.code(create, { input: { clientId: clients[n % 2], mode: 'TCP' } })));
    expect(codes.filter((code) => code === undefined)).toHaveLength(3);
    expect(new Set(codes)).toEqual(new Set([undefined, 'CLIENT_TUNNEL_QUOTA', 'USER_TUNNEL_QUOTA']));
    expect(await totals(api)).toMatchObject({ tunnels: 3 });
  });

  test('a mode that the engine does not serve is refused: added, changed to, copied or started', async () => {
    const api = await openTestSchema(databases);
    const id = await newTunnel(api);
    const udp = await api.id(create, { input: { clientId: 1, mode: 'UDP' } });
    await api.ok(stop, { id: udp });
    api.engine.modes = ['tcp'];
    expect((await api.run(create, { input: { clientId: 1, mode: 'UDP' } })).errors).toMatchObject([{
      code: 'UNSUPPORTED_MODE',
      extensions: { field: 'input.mode' },
    }]);
    expect(await api.code(update, { id, input: { mode: 'UDP' } })).toBe('UNSUPPORTED_MODE');
    expect(await api.code(copy, { id: udp })).toBe('UNSUPPORTED_MODE');
    expect(await api.code(update, { id: udp, input: { remark: 'still editable' } })).toBeUndefined();
    expect(await api.code(start, { id: udp })).toBe('UNSUPPORTED_MODE');
  });

  test('a malformed target or address is refused by its field and line', async () => {
    const api = await openTestSchema(databases);
    const id = await newTunnel(api);
    const { errors } = await api.run(update, { id, input: { remark: 'new', targets: ['127.0.0.1:80', 'not a target'] } });
    expect(errors[0]).toMatchObject({
      code: 'INVALID_INPUT',
      message: 'invalid targets: "not a target" is not host:port',
      extensions: { field: 'input.targets.1', line: 'not a target' },
    });
    expect((await api.run(create, { input: { clientId: 1, mode: 'TCP', serverIp: '1.2.3' } })).errors[0]).toMatchObject({
      code: 'INVALID_INPUT',
      extensions: { field: 'input.serverIp' },
    });
    expect((await api.run(update, { id, input: { targets: Array.from({ length: 2000 }, () => '127.0.0.1:80') } })).errors[0]).toMatchObject({
      extensions: { field: 'input.targets' },
    });
    expect(await api.record('query ($id: ID!) { tunnel(id: $id) { remark targets } }', { id })).toEqual({ remark: '', targets: ['127.0.0.1:22'] });
  });

  test('an edit keeps what it does not name, and touches the listener only if it has to be another', async () => {
    const api = await openTestSchema(databases);
    const id = await newTunnel(api, { port: 9001, remark: 'ssh' });
    const before = await api.record('query ($id: ID!) { tunnel(id: $id) { id mode remark port serverIp targets enabled } }', { id });
    expect(await api.record(update, { id, input: { targets: ['10.0.0.1:80'] } })).toMatchObject({ ...before, targets: ['10.0.0.1:80'] });
    expect(api.engine.applied.at(-1)).toMatchObject({ kind: 'tunnel', lease: undefined });
    expect(await api.record(update, { id, input: { port: 9002 } })).toMatchObject({ port: 9002 });
    expect(api.engine.applied.at(-1)).toMatchObject({ kind: 'tunnel', lease: { port: 9002 } });
    expect(await api.record(update, { id, input: { port: null } })).toMatchObject({ port: 20_000 });
    expect(await api.record(update, { id, input: { serverIp: '127.0.0.1' } })).toMatchObject({ port: 20_000, serverIp: '127.0.0.1' });
    expect(api.engine.applied.at(-1)).toMatchObject({ lease: { port: 20_000 } });
    api.engine.taken.add(9003);
    expect(await api.code(update, { id, input: { port: 9003, remark: 'lost' } })).toBe('PORT_UNAVAILABLE');
    expect(await api.record('query ($id: ID!) { tunnel(id: $id) { port remark } }', { id })).toEqual({ port: 20_000, remark: 'ssh' });
    expect(api.engine.openLeases.size).toBe(0);
  });

  test('an edit leaves a stopped tunnel stopped, and tests its new port', async () => {
    const api = await openTestSchema(databases);
    const id = await newTunnel(api, { port: 9001 });
    await api.ok(stop, { id });
    expect(await api.record(update, { id, input: { port: 9002, remark: 'new' } })).toMatchObject({
      port: 9002,
      remark: 'new',
      enabled: false,
      runtime: { running: false },
    });
    api.engine.taken.add(9003);
    expect(await api.code(update, { id, input: { port: 9003 } })).toBe('PORT_UNAVAILABLE');
    expect(api.engine.openLeases.size).toBe(0);
  });

  test('an edit keeps the counters, also those written while it runs', async () => {
    const api = await openTestSchema(databases);
    const id = await newTunnel(api);
    await api.services.store.db.tunnel.update({ where: { id }, data: { inletBytes: 2n ** 40n } });
    await api.ok(update, { id, input: { remark: 'new' } });
    expect((await api.services.store.db.tunnel.findUniqueOrThrow({ where: { id } })).inletBytes).toBe(2n ** 40n);
  });

  test('a tunnel moves to another client if that one may have more, and its count with it', async () => {
    const api = await openTestSchema(databases);
    const id = await newTunnel(api);
    const full = await newClient(api, { maxTunnels: 1 });
    expect(await api.record(update, { id, input: { clientId: full } })).toMatchObject({ client: { id: full } });
    expect(api.engine.wantedTunnels.get(id)?.clientId).toBe(full);
    const other = await newTunnel(api);
    expect(await api.code(update, { id: other, input: { clientId: full } })).toBe('CLIENT_TUNNEL_QUOTA');
    expect((await api.run(update, { id: other, input: { clientId: 99 } })).errors[0]).toMatchObject({ code: 'NOT_FOUND', extensions: { resource: 'client' } });
    expect(await api.record(update, { id: other, input: { clientId: 0 } })).toMatchObject({ client: { id: 3 } });
    const counts = await api.services.store.db.client.findMany({ orderBy: { id: 'asc' }, select: { tunnelCount: true } });
    expect(counts.map(({ tunnelCount }) => tunnelCount)).toEqual([0, 1, 1]);
    // Within the quota of an owner, nothing changes by a move.
    const { id: userId } = await api.services.store.db.user.create({ data: { username: 'alice', passwordHash: '', maxTunnels: 1 } });
    const [one, two] = [await newClient(api, { ownerId: userId }), await newClient(api, { ownerId: userId })];
    const owned = await api.id(create, { input: { clientId: one, mode: 'TCP' } });
    expect(await api.record(update, { id: owned, input: { clientId: two } })).toMatchObject({ client: { id: two } });
  });

  test('a change of mode keeps the port if possible, tests it if the transport differs, and releases it if the mode needs none', async () => {
    const api = await openTestSchema(databases);
    const id = await newTunnel(api, { port: 9001 });
    expect(await api.record(update, { id, input: { mode: 'SOCKS5' } })).toMatchObject({ mode: 'SOCKS5', port: 9001 });
    expect(api.engine.applied.at(-1)).toMatchObject({ lease: undefined });
    expect(await api.record(update, { id, input: { mode: 'UDP' } })).toMatchObject({ port: 9001 });
    expect(api.engine.applied.at(-1)).toMatchObject({ lease: { port: 9001 } });
    expect(await api.record(update, { id, input: { mode: 'SECRET', password: 'k' } })).toMatchObject({ port: null });
    expect(await api.record(update, { id, input: { mode: 'TCP' } })).toMatchObject({ port: 20_000 });
    expect(await totals(api)).toEqual({ clients: 1, tunnels: 1, 'tunnels:tcp': 1, 'tunnels:socks5': 0, 'tunnels:udp': 0, 'tunnels:secret': 0 });
  });

  test('a p2p tunnel without a password gets one of its own, made or changed to; a secret one has to be given one', async () => {
    const api = await openTestSchema(databases);
    const generated = expect.stringMatching(/^[a-z2-7]{24}$/);
    const made = await api.record(create, { input: { clientId: await newClient(api), mode: 'P2P', password: null } });
    expect(made).toMatchObject({ mode: 'P2P', password: generated });
    const changed = await api.record(update, { id: await newTunnel(api, {}), input: { mode: 'P2P' } });
    expect(changed).toMatchObject({ mode: 'P2P', password: generated });
    expect(changed['password']).not.toBe(made['password']);
    expect(await api.record(update, { id: made['id'], input: { remark: 'kept' } })).toMatchObject({ password: made['password'] });
    expect(api.engine.wantedTunnels.get(Number(made['id']))?.password).toBe(made['password']);
  });

  test('the key of a secret or p2p tunnel belongs to one: added, changed or copied; an edit without it keeps it', async () => {
    const api = await openTestSchema(databases);
    const first = await newTunnel(api, { mode: 'SECRET', password: 'same', port: 9001 });
    const second = await newTunnel(api, { mode: 'P2P', password: 'other' });
    const answer = await api.run(create, { input: { clientId: 1, mode: 'P2P', password: 'same' } });
    expect(answer.errors[0]).toMatchObject({ code: 'TUNNEL_KEY_DUPLICATE', message: 'secret mode keys same must be unique' });
    expect(await api.code(update, { id: second, input: { password: 'same' } })).toBe('TUNNEL_KEY_DUPLICATE');
    expect(await api.code(copy, { id: first })).toBe('TUNNEL_KEY_DUPLICATE');
    expect(await api.record(update, { id: first, input: { remark: 'x' } })).toMatchObject({ password: 'same', port: null });
    expect((await api.run(update, { id: first, input: { password: null } })).errors[0]?.extensions).toMatchObject({
      code: 'INVALID_INPUT',
      field: 'input.password',
    });
    expect((await api.run(create, { input: { clientId: 1, mode: 'SECRET' } })).errors[0]?.extensions).toMatchObject({
      code: 'INVALID_INPUT',
      field: 'input.password',
    });
    expect(await api.code(update, { id: await newTunnel(api, {}), input: { mode: 'SECRET' } })).toBe('INVALID_INPUT');
    // One of an older version, which took them without.
    const { id: keyless } = await api.services.store.db.tunnel.create({ data: { clientId: 1, mode: 'secret' } });
    expect(await api.record(copy, { id: keyless })).toMatchObject({ mode: 'SECRET', password: null, port: null });
    expect(await api.record(create, { input: { clientId: 1, mode: 'TCP', password: 'same' } })).toMatchObject({ mode: 'TCP', password: 'same' });
  });

  test('a copy has a port of its own, everything else as the source, and is started with counters at zero', async () => {
    const api = await openTestSchema(databases);
    const id = await newTunnel(api, { port: 9001, remark: 'ssh', serverIp: '127.0.0.1', proxyProtocol: 'V1', localPath: '/srv', stripPrefix: '/a' });
    await api.services.store.db.tunnel.update({ where: { id }, data: { inletBytes: 5n, enabled: false } });
    const source = await api.record(`query ($id: ID!) { tunnel(id: $id) { ${fields} } }`, { id });
    const made = await api.record(copy, { id });
    expect(made).toEqual({ ...source, id: id + 1, port: 20_000, enabled: true, runtime: { running: true, error: null } });
    expect(await api.services.store.db.tunnel.findUniqueOrThrow({ where: { id: id + 1 } })).toMatchObject({ inletBytes: 0n });
    expect((await api.run(copy, { id: 99 })).errors[0]).toMatchObject({ code: 'NOT_FOUND', message: 'tunnel ID not found' });
  });

  test('starting and stopping can be repeated; one that could not open its port tries again', async () => {
    const api = await openTestSchema(databases);
    const id = await newTunnel(api, { port: 9001 });
    for (const _ of [1, 2]) expect(await api.record(stop, { id })).toMatchObject({ enabled: false, port: 9001, runtime: { running: false } });
    expect(await api.record(start, { id })).toMatchObject({ enabled: true, port: 9001, runtime: { running: true } });
    const started = api.engine.applied.length;
    expect(await api.record(start, { id })).toMatchObject({ enabled: true, port: 9001, runtime: { running: true } });
    expect(api.engine.applied).toHaveLength(started);
    api.engine.broken.add(id);
    expect(await api.record(`query ($id: ID!) { tunnel(id: $id) { ${fields} } }`, { id })).toMatchObject({
      enabled: true,
      runtime: { running: false, error: 'its port is occupied' },
    });
    const applied = api.engine.applied.length;
    await api.ok(start, { id });
    expect(api.engine.applied).toHaveLength(applied + 1);
    expect(api.engine.openLeases.size).toBe(0);
  });

  test('runtime is the state that the engine reports, each figure in its field', async () => {
    const api = await openTestSchema(databases);
    const id = await newTunnel(api);
    const figures = { connections: 2, rate: 9, inletRate: 7, exportRate: 3, inletBytes: 4, exportBytes: 5, dropped: 6 };
    const visitors = [{ address: '192.0.2.1', path: 'direct', since: Date.parse('2026-01-02') }] as const;
    api.engine.tunnels.set(id, { running: false, error: 'why', refusals: { login: 3, offline: 1 }, health: null, ...figures, visitors });
    const operation = `query ($id: ID!) { tunnel(id: $id) { runtime {
      running error ${Object.keys(figures).join(' ')} refusals { cause count } visitors { address path since } health { type }
    } } }`;
    expect(await api.record(operation, { id })).toEqual({
      runtime: {
        running: false,
        error: 'why',
        ...figures,
        refusals: [{ cause: 'OFFLINE', count: 1 }, { cause: 'LOGIN', count: 3 }],
        visitors: [{ address: '192.0.2.1', path: 'DIRECT', since: '2026-01-02T00:00:00.000Z' }],
        health: null,
      },
    });
  });

  test('a stopped tunnel whose port somebody took meanwhile is not started, and stays stopped', async () => {
    const api = await openTestSchema(databases);
    const id = await newTunnel(api, { port: 9001 });
    await api.ok(stop, { id });
    const other = await newTunnel(api, { port: 9001 });
    expect((await api.run(start, { id })).errors[0]).toMatchObject({ code: 'PORT_IN_USE', message: `port 9001 is in use by tunnel ${other}` });
    await api.ok(remove, { id: other });
    expect(await api.record(start, { id })).toMatchObject({ enabled: true, port: 9001 });
  });

  test('if a start fails because the port is in use, the error names the other tunnel only to callers who may see it', async () => {
    const api = await openTestSchema(databases);
    const { db } = api.services.store;
    const [alice, bob] = [
      await db.user.create({ data: { username: 'alice', passwordHash: '' } }),
      await db.user.create({ data: { username: 'bob', passwordHash: '' } }),
    ];
    const stopped: number[] = [];
    for (const { id: ownerId } of [alice, bob]) {
      const clientId = await newClient(api, { ownerId });
      stopped.push(await api.id(create, { input: { clientId, mode: 'TCP', port: 9001 } }));
      await api.ok(stop, { id: stopped.at(-1) });
    }
    const holder = await api.id(create, { input: { clientId: 2, mode: 'TCP', port: 9001, remark: 'web' } });
    const as = (user: { readonly id: number }) => ({ kind: 'user', userId: user.id }) as const;
    const messages: unknown[] = [];
    for (const [id, caller] of [[stopped[0], as(alice)], [stopped[1], as(bob)], [stopped[0], undefined]] as const) {
      const [error] = (await api.run(start, { id }, caller)).errors;
      messages.push(error?.message);
      expect(error).toMatchObject({ code: 'PORT_IN_USE' });
      if (caller?.userId === alice.id) expect(JSON.stringify(error)).not.toMatch(/web|by tunnel/);
    }
    expect(messages).toEqual(['port 9001 is in use', `port 9001 is in use by tunnel ${holder} (web)`, `port 9001 is in use by tunnel ${holder} (web)`]);
    api.engine.taken.add(9001);
    await api.ok(remove, { id: holder });
    expect((await api.run(start, { id: stopped[0] })).errors[0]?.message).toBe('port 9001 is in use');
    expect(api.engine.openLeases.size).toBe(0);
  });

  test('a port that a write before has given up is free for a start and for an edit, however close they come', async () => {
    const api = await openTestSchema(databases);
    const first = await newTunnel(api, { port: 9001 });
    await api.ok(stop, { id: first });
    const second = await api.id(create, { input: { clientId: 1, mode: 'TCP', port: 9001 } });
    // Those that come while one is under way share a transaction, if they may.
    const busy = () => api.ok('mutation { updateClient(id: 1, input: { remark: "x" }) { id } }');
    await Promise.all([busy(), api.ok(stop, { id: second }), api.ok(start, { id: first })]);
    const third = await api.id(create, { input: { clientId: 1, mode: 'TCP' } });
    await Promise.all([busy(), api.ok(stop, { id: first }), api.ok(update, { id: third, input: { port: 9001 } })]);
    expect(await api.ok('{ tunnels { rows { port enabled runtime { running } } } }')).toMatchObject({
      tunnels: { rows: [{ enabled: false }, { enabled: false }, { port: 9001, enabled: true, runtime: { running: true } }] },
    });
  });

  test('deleting frees port and slot', async () => {
    const api = await openTestSchema(databases);
    const id = await newTunnel(api, { port: 9001 });
    expect(await api.ok(remove, { id })).toEqual({ deleteTunnel: id });
    expect(api.engine.wantedTunnels.size).toBe(0);
    expect(await totals(api)).toMatchObject({ tunnels: 0, 'tunnels:tcp': 0 });
    expect(await api.record(create, { input: { clientId: 1, mode: 'TCP', port: 9001 } })).toMatchObject({ port: 9001 });
  });

  test('an unknown id is NOT_FOUND in a mutation and null in a query', async () => {
    const api = await openTestSchema(databases);
    for (const [operation, variables] of [[update, { input: {} }], [copy, {}], [start, {}], [stop, {}], [remove, {}]] as const) {
      expect((await api.run(operation, { id: 99, ...variables })).errors[0]).toMatchObject({ code: 'NOT_FOUND', message: 'tunnel ID not found' });
    }
    expect(await api.ok('{ tunnel(id: 99) { id } }')).toEqual({ tunnel: null });
  });

  test('local_proxy stays off unless the server allows it', async () => {
    const api = await openTestSchema(databases);
    const id = await newTunnel(api, { localProxy: true });
    expect(await api.record(update, { id, input: { localProxy: true } })).toMatchObject({ localProxy: false });
    // The server's settings have allowed it before.
    await api.services.store.db.tunnel.update({ where: { id }, data: { localProxy: true } });
    expect(await api.record(update, { id, input: { remark: 'x' } })).toMatchObject({ localProxy: false });
    const allowing = await openTestSchema(databases, { allowLocalProxy: true });
    const allowed = await newTunnel(allowing, { localProxy: true });
    expect(await allowing.record(update, { id: allowed, input: { remark: 'x' } })).toMatchObject({ localProxy: true });
  });
});
