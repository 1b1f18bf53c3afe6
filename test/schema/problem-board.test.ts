import { expect, jest, test } from '@jest/globals';
import { z } from 'zod';
import type { Caller } from '../../src/rules/caller.ts';
import type { Prisma } from '../../src/store/generated/sqlite/client.ts';
import type { CountScope } from '../../src/store/hot/counts.ts';
import type { ProblemListName } from '../../src/store/hot/problem-lists.ts';
import { storedTime } from '../../src/store/hot/stored-time.ts';
import { eitherDialect } from '../support/database.ts';
import { openTestSchema, type TestSchema } from '../support/schema.ts';
import { seedClients, seedTunnels, seedUsers } from '../support/seed.ts';

const problems = `query ($offset: Int, $limit: Int) {
  problems(offset: $offset, limit: $limit) {
    total broken
    rows { id code severity since fixes text params { name value } client { id } tunnel { id } host { id } user { id } }
  }
}`;
const record = z.object({ id: z.number() }).nullable();
const page = z.object({
  problems: z.object({
    total: z.number(),
    broken: z.number(),
    rows: z.array(
      z.looseObject({
        ...{ id: z.string(), code: z.string(), severity: z.string(), fixes: z.array(z.string()), text: z.string() },
        ...{ client: record, tunnel: record, host: record, user: record },
      }),
    ),
  }),
});
const start = Date.parse('2026-06-01T00:00:00Z');
const day = 86_400_000;

/** A schema whose clock a test moves: what is found is kept for some seconds. */
async function opened(databases: Parameters<typeof openTestSchema>[0]) {
  const clock = { now: start };
  const api = await openTestSchema(databases, {}, () => clock.now);
  const found = async (caller: Caller = { kind: 'admin' }, range: { readonly offset?: number; readonly limit?: number } = {}) => {
    clock.now += 60_000;
    const { data, errors } = await api.run(problems, range, caller);
    expect(errors).toEqual([]);
    const { problems: read } = page.parse(data);
    const severities = read.rows.map(({ severity }) => severity);
    expect(severities).toEqual(severities.toSorted()); // BROKEN comes before SOON
    if (severities.length === read.total) expect(read.broken).toBe(severities.filter((severity) => severity === 'BROKEN').length);
    for (const { id, code, ...row } of read.rows) {
      const of = (['client', 'tunnel', 'host', 'user'] as const).find((kind) => row[kind]);
      if (of) expect(id).toBe(`${code}:${of}:${row[of]?.id}`);
    }
    return read;
  };
  const codes = async (caller?: Caller) => (await found(caller)).rows.map(({ code }) => code);
  return { api, found, codes, clock };
}

const newClient = (api: TestSchema, input = {}) => api.id('mutation ($input: CreateClientInput!) { createClient(input: $input) { id } }', { input });
const newTunnel = (api: TestSchema, clientId: number) =>
  api.id(`mutation { createTunnel(input: { clientId: ${clientId}, mode: TCP, targets: ["22"] }) { id } }`);
const newHost = (api: TestSchema, clientId: number, host: string) =>
  api.id(`mutation { createHost(input: { clientId: ${clientId}, host: "${host}", targets: ["80"] }) { id } }`);

eitherDialect('problems', (databases) => {
  test('a server without problems has none; a client that was never connected, or has nothing to serve, is none', async () => {
    const { api, found } = await opened(databases);
    await newTunnel(api, await newClient(api));
    await api.services.store.db.client.update({ where: { id: await newClient(api) }, data: { lastOnlineAt: new Date(start) } });
    expect(await found()).toEqual({ total: 0, broken: 0, rows: [] });
  });

  test('the total counts what a page leaves out', async () => {
    const { api, found } = await opened(databases);
    const ids = [await newClient(api, { flowLimit: 1 }), await newClient(api, { flowLimit: 1 }), await newClient(api, { flowLimit: 1 })];
    await api.services.store.db.client.updateMany({ data: { inletBytes: 2n ** 21n } });
    const { total, broken, rows } = await found({ kind: 'admin' }, { limit: 1 });
    expect([total, broken, rows.length]).toEqual([3, 3, 1]);
    expect((await found({ kind: 'admin' }, { offset: 1, limit: 2 })).rows.map(({ client }) => client?.id)).toEqual(ids.slice(1));
  });

  test('each problem has its code, severity, parameters and fixes; those that stop visitors come first', async () => {
    const { api, found, codes } = await opened(databases);
    const { db } = api.services.store;
    const [away, closed, traffic, nearly, full, expiring, gone] = [
      await newClient(api),
      await newClient(api),
      await newClient(api, { flowLimit: 1 }),
      await newClient(api, { flowLimit: 1 }),
      await newClient(api, { maxTunnels: 1 }),
      await newClient(api, { expiresAt: new Date(start + 2 * day).toISOString() }),
      await newClient(api),
    ];
    await newTunnel(api, away);
    // Of the first, the engine does not say why.
    const [unknown, tunnel] = [await newTunnel(api, closed), await newTunnel(api, closed)];
    api.engine.broken.add(tunnel);
    const fullTunnel = await newTunnel(api, full);
    const since = new Date(start - day);
    await db.client.update({ where: { id: away }, data: { lastOnlineAt: since } });
    await db.client.updateMany({ where: { id: { in: [closed, full] } }, data: { connected: true, lastOnlineAt: since } });
    await db.tunnel.update({ where: { id: fullTunnel }, data: { running: true } });
    // It had more of them before its limit was lowered.
    await db.client.update({ where: { id: full }, data: { tunnelCount: 3 } });
    await db.client.update({ where: { id: traffic }, data: { inletBytes: 2n ** 20n, exportBytes: 1n } });
    await db.client.update({ where: { id: nearly }, data: { inletBytes: 900_000n } });
    await db.client.update({ where: { id: gone }, data: { expiresAt: since, expired: true } });
    const { rows, total, broken } = await found();
    expect({ total, broken }).toEqual({ total: 8, broken: 5 });
    const names = (params: Readonly<Record<string, string>>) => Object.entries(params).map(([name, value]) => ({ name, value }));
    const nothing = { text: undefined, client: null, tunnel: null, host: null, user: null };
    expect(rows.map((row) => ({ ...row, text: undefined }))).toEqual([
      {
        ...nothing,
        id: `AGENT_AWAY:client:${away}`,
        code: 'AGENT_AWAY',
        severity: 'BROKEN',
        since: since.toISOString(),
        fixes: ['START_AGENT'],
        params: names({ parts: '1' }),
        client: { id: away },
      },
      ...[[unknown, ''] as const, [tunnel, 'its port is occupied'] as const].map(([id, problem]) => ({
        ...nothing,
        id: `TUNNEL_CLOSED:tunnel:${id}`,
        code: 'TUNNEL_CLOSED',
        severity: 'BROKEN',
        since: null,
        fixes: ['DIAGNOSE', 'CHANGE_TUNNEL'],
        params: names({ problem }),
        tunnel: { id },
      })),
      {
        ...nothing,
        id: `CLIENT_EXPIRED:client:${gone}`,
        code: 'CLIENT_EXPIRED',
        severity: 'BROKEN',
        since: since.toISOString(),
        fixes: ['EXTEND_CLIENT'],
        params: names({ at: since.toISOString() }),
        client: { id: gone },
      },
      {
        ...nothing,
        id: `TRAFFIC_USED_UP:client:${traffic}`,
        code: 'TRAFFIC_USED_UP',
        severity: 'BROKEN',
        since: null,
        fixes: ['RAISE_LIMIT'],
        params: names({ used: '1048577', limit: '1048576' }),
        client: { id: traffic },
      },
      {
        ...nothing,
        id: `TRAFFIC_NEARLY_USED_UP:client:${nearly}`,
        code: 'TRAFFIC_NEARLY_USED_UP',
        severity: 'SOON',
        since: null,
        fixes: ['RAISE_LIMIT'],
        params: names({ used: '900000', limit: '1048576' }),
        client: { id: nearly },
      },
      {
        ...nothing,
        id: `CLIENT_EXPIRES:client:${expiring}`,
        code: 'CLIENT_EXPIRES',
        severity: 'SOON',
        since: null,
        fixes: ['EXTEND_CLIENT'],
        params: names({ at: new Date(start + 2 * day).toISOString() }),
        client: { id: expiring },
      },
      {
        ...nothing,
        id: `TUNNELS_USED_UP:client:${full}`,
        code: 'TUNNELS_USED_UP',
        severity: 'SOON',
        since: null,
        fixes: ['RAISE_LIMIT', 'DELETE_UNUSED'],
        params: names({ used: '3', limit: '1' }),
        client: { id: full },
      },
    ]);
    expect(rows[0]?.text).toBe('the agent is not connected; tunnels and hosts that do not respond: 1');
    // A page begins and ends anywhere, also in the middle of a kind.
    for (let offset = 0; offset <= total; offset++) {
      const part = await found({ kind: 'admin' }, { offset, limit: 2 });
      expect([offset, part.rows.map(({ id }) => id), part.total]).toEqual([offset, rows.slice(offset, offset + 2).map(({ id }) => id), total]);
    }
    // What is disabled is switched off on purpose, also by disabling its owner.
    await db.tunnel.updateMany({ data: { enabled: false } });
    const { id: userId } = await db.user.create({ data: { username: 'disabled', passwordHash: '', enabled: false } });
    for (const data of [{ userId }, { userId: null, enabled: false }]) {
      await db.client.updateMany({ data });
      expect(await codes()).toEqual(['TRAFFIC_USED_UP', 'TRAFFIC_NEARLY_USED_UP', 'TUNNELS_USED_UP']);
    }
  });

  test('certificates and health checks, as the engine reports them', async () => {
    const { api, found } = await opened(databases);
    const clientId = await newClient(api);
    const [missing, expiring, sick] = [await newHost(api, clientId, 'a.com'), await newHost(api, clientId, 'b.com'), await newHost(api, clientId, 'c.com')];
    const tunnel = await newTunnel(api, clientId);
    const validTo = new Date(start + 5 * day);
    api.engine.certificates.set(missing, {
      status: 'missing',
      problem: '',
      inUse: null,
      acme: { status: 'failed', failures: 1, problem: 'nobody answered', lastAt: null, nextAt: start },
    });
    api.engine.certificates.set(expiring, {
      status: 'expiring',
      problem: '',
      acme: null,
      inUse: { names: [], issuer: '', validFrom: new Date(0), validTo, fingerprint: '' },
    });
    const health = {
      type: 'tcp',
      intervalMs: 1,
      timeoutMs: 1,
      maxFailed: 1,
      path: '',
      targets: [
        { target: '127.0.0.1:79', healthy: true, failures: 0, since: null, lastError: 'silent' },
        { target: '127.0.0.1:80', healthy: false, failures: 1, since: start - 2 * day, lastError: 'refused' },
        { target: '127.0.0.1:81', healthy: false, failures: 1, since: start - day, lastError: 'silent' },
      ],
    } as const;
    // An agent that has just connected may not say since when.
    api.engine.health.set(`host ${sick}`, { ...health, targets: health.targets.map((target) => ({ ...target, since: null })) });
    api.engine.health.set(`tunnel ${tunnel}`, health);
    api.engine.troublesFound = {
      certificates: [{ id: missing, clientId, status: 'missing' }, { id: expiring, clientId, status: 'expiring' }],
      unhealthyTunnels: [{ id: tunnel, clientId }],
      unhealthyHosts: [{ id: sick, clientId }],
    };
    const { rows, total, broken } = await found();
    expect({ total, broken }).toEqual({ total: 4, broken: 3 });
    const unhealthy = { code: 'TARGETS_UNHEALTHY', since: new Date(start - day).toISOString(), params: [{ name: 'problem', value: '127.0.0.1:80: refused' }] };
    expect(rows).toMatchObject([
      { ...unhealthy, tunnel: { id: tunnel } },
      { ...unhealthy, since: null, host: { id: sick } },
      {
        code: 'CERTIFICATE_MISSING',
        fixes: ['RETRY_ACME', 'REPLACE_CERTIFICATE', 'DIAGNOSE'],
        host: { id: missing },
        text: 'there is no usable certificate: nobody answered',
      },
      { code: 'CERTIFICATE_EXPIRING', severity: 'SOON', host: { id: expiring }, text: `the certificate expires at ${validTo.toISOString()}` },
    ]);
  });

  test('each status of a certificate is a problem of its own, and a page begins and ends anywhere among them', async () => {
    const { api, found } = await opened(databases);
    const clientId = await newClient(api);
    const validTo = new Date(start + day);
    const inUse = { names: [], issuer: '', validFrom: new Date(0), validTo, fingerprint: '' };
    const wanted = {
      missing: ['CERTIFICATE_MISSING', 'BROKEN', 'there is no usable certificate: the file is gone'],
      expired: ['CERTIFICATE_EXPIRED', 'BROKEN', `the certificate expired at ${validTo.toISOString()}`],
      notYetValid: ['CERTIFICATE_NOT_YET_VALID', 'BROKEN', 'the certificate is not valid yet'],
      notCovered: ['CERTIFICATE_NOT_COVERED', 'BROKEN', 'the certificate does not cover the name'],
      refused: ['CERTIFICATE_REFUSED', 'SOON', 'the new certificate is not used: the file is gone'],
      expiring: ['CERTIFICATE_EXPIRING', 'SOON', `the certificate expires at ${validTo.toISOString()}`],
    } as const;
    const certificates = [];
    for (const status of ['missing', 'expired', 'notYetValid', 'notCovered', 'refused', 'expiring'] as const) {
      const id = await newHost(api, clientId, `${status.toLowerCase()}.com`);
      const acme = { status: 'failed', failures: 1, problem: 'nobody answered', lastAt: null, nextAt: start } as const;
      api.engine.certificates.set(id, { status, problem: 'the file is gone', inUse, acme: status === 'expired' ? acme : { ...acme, status: 'valid' } });
      certificates.push({ id, clientId, status });
    }
    api.engine.troublesFound = { certificates, unhealthyTunnels: [], unhealthyHosts: [] };
    const { rows, total, broken } = await found();
    expect([total, broken]).toEqual([6, 4]);
    const fixes = ['REPLACE_CERTIFICATE', 'DIAGNOSE'];
    expect(rows.map((row) => [row['host'], row.code, row.severity, row.text, row.fixes])).toEqual(
      certificates.map(({ id, status }) => [{ id }, ...wanted[status], status === 'expired' ? ['RETRY_ACME', ...fixes] : fixes]),
    );
    for (let offset = 0; offset < total; offset++) {
      const part = await found({ kind: 'admin' }, { offset, limit: 2 });
      expect(part.rows.map(({ id }) => id)).toEqual(rows.slice(offset, offset + 2).map(({ id }) => id));
    }
    api.engine.troublesFound = { ...api.engine.troublesFound, certificates: [], unhealthyHosts: certificates };
    const hosts = (await found()).rows;
    expect((await found({ kind: 'admin' }, { offset: 2, limit: 3 })).rows).toEqual(hosts.slice(2, 5));
  });

  test('every caller sees the problems of their own records only, and `askAdministrator` for what they cannot do', async () => {
    const { api, found, clock } = await opened(databases);
    const { db } = api.services.store;
    const [alice, bob] = [
      await db.user.create({ data: { username: 'alice', passwordHash: '', expiresAt: new Date(start + day) } }),
      await db.user.create({ data: { username: 'bob', passwordHash: '' } }),
    ];
    const own = async (ownerId: number | null, host: string) => {
      const id = await newClient(api, { ownerId, flowLimit: 1 });
      await newTunnel(api, id);
      const hostId = await newHost(api, id, host);
      await db.client.update({ where: { id }, data: { lastOnlineAt: new Date(start), inletBytes: 2n ** 21n } });
      return { id, hostId };
    };
    const [ofAlice, ofBob, ofNobody] = [await own(alice.id, 'a.com'), await own(bob.id, 'b.com'), await own(null, 'c.com')];
    api.engine.troublesFound = {
      certificates: [ofAlice, ofBob, ofNobody].map(({ id, hostId }) => ({ id: hostId, clientId: id, status: 'expired' })),
      unhealthyTunnels: [],
      unhealthyHosts: [],
    };
    const seen = async (caller: Caller) =>
      (await found(caller)).rows.map(({ code, client, host, user, fixes, text }) => ({
        code,
        of: client ?? host ?? user,
        fixes,
        ...(code === 'LOCKED_OUT' && { text }),
      }));
    const ask = ['ASK_ADMINISTRATOR'];
    const ownOf = ({ id, hostId }: typeof ofAlice) => [
      { code: 'AGENT_AWAY', of: { id }, fixes: ['START_AGENT'] },
      { code: 'TRAFFIC_USED_UP', of: { id }, fixes: ask },
      { code: 'CERTIFICATE_EXPIRED', of: { id: hostId }, fixes: ['REPLACE_CERTIFICATE', 'DIAGNOSE'] },
    ];
    expect(await seen({ kind: 'user', userId: alice.id })).toEqual([...ownOf(ofAlice), { code: 'USER_EXPIRES', of: { id: alice.id }, fixes: ask }]);
    expect(await seen({ kind: 'user', userId: bob.id })).toEqual(ownOf(ofBob));
    expect(await seen({ kind: 'client', clientId: ofBob.id })).toEqual(ownOf(ofBob));
    expect(await seen({ kind: 'client', clientId: ofAlice.id })).toEqual(ownOf(ofAlice));
    // A while before the clock has been moved to read them.
    for (let n = 0; n < 20; n++) api.services.attempts.begin('login', `203.0.113.${n % 2}`, `name ${n}`, clock.now + 30_000);
    const all = await seen({ kind: 'admin' });
    expect(all.map(({ code }) => code)).toEqual([
      ...Array.from({ length: 3 }, () => 'AGENT_AWAY'),
      ...Array.from({ length: 3 }, () => 'TRAFFIC_USED_UP'),
      ...Array.from({ length: 3 }, () => 'CERTIFICATE_EXPIRED'),
      'USER_EXPIRES',
      'LOCKED_OUT',
    ]);
    expect(all.at(-1)).toEqual({
      code: 'LOCKED_OUT',
      of: null,
      fixes: ['FREE_LOCKOUTS'],
      text: 'addresses or names that are locked out after wrong guesses: 2',
    });
    // A record that gets another owner after the engine was asked is not shown to the former one.
    await db.client.update({ where: { id: ofAlice.id }, data: { userId: bob.id } });
    expect((await seen({ kind: 'user', userId: alice.id })).map(({ code }) => code)).toEqual(['USER_EXPIRES']);
    await db.host.update({ where: { id: ofBob.hostId }, data: { clientId: ofAlice.id } });
    expect((await seen({ kind: 'client', clientId: ofBob.id })).map(({ code }) => code)).toEqual(['AGENT_AWAY', 'TRAFFIC_USED_UP']);
  });

  test('of a page that is kept, the records are left out which have got another owner since', async () => {
    const { api } = await opened(databases);
    const { db } = api.services.store;
    const [alice = 0, bob = 0] = await seedUsers(api.services.store, 2);
    const id = await newClient(api, { ownerId: alice, flowLimit: 1 });
    const [tunnel, host] = [await newTunnel(api, id), await newHost(api, id, 'a.com')];
    await db.client.update({ where: { id }, data: { inletBytes: 2n ** 21n } });
    api.engine.troublesFound = { certificates: [], unhealthyTunnels: [{ id: tunnel, clientId: id }], unhealthyHosts: [{ id: host, clientId: id }] };
    const shown = async () =>
      page.parse((await api.run(problems, {}, { kind: 'user', userId: alice })).data).problems.rows.map((row) => [row.client, row.tunnel, row.host]);
    expect(await shown()).toEqual([[{ id }, null, null], [null, { id: tunnel }, null], [null, null, { id: host }]]);
    await db.client.update({ where: { id }, data: { userId: bob } });
    expect(await shown()).toEqual([[null, null, null], [null, null, null], [null, null, null]]);
  });

  test("a host that has moved to another owner's client since the engine was asked is not shown to its former owner", async () => {
    const { api } = await opened(databases);
    const [alice = 0, bob = 0] = await seedUsers(api.services.store, 2);
    const [alices, bobs] = [await newClient(api, { ownerId: alice }), await newClient(api, { ownerId: bob })];
    const host = await newHost(api, alices, 'a.com');
    api.engine.troublesFound = { certificates: [], unhealthyTunnels: [], unhealthyHosts: [{ id: host, clientId: alices }] };
    await api.services.store.db.host.update({ where: { id: host }, data: { clientId: bobs } });
    expect((await api.run(problems, {}, { kind: 'user', userId: alice })).data).toMatchObject({ problems: { rows: [] } });
  });

  test('of many clients each owner has their own: of certificates, tunnels and hosts', async () => {
    const { api, clock } = await opened(databases);
    const { problems: board, store } = api.services;
    const [alice] = await seedUsers(store, 1);
    const clients = await seedClients(store, 203, (n) => ({ userId: n > 200 ? alice : null }));
    const [first = 0, hostOwner = 0, certificateOwner = 0] = [clients[0], ...clients.slice(-2)];
    api.engine.troublesFound = {
      unhealthyTunnels: clients.slice(0, 201).map((clientId, index) => ({ id: 1000 + index, clientId })),
      unhealthyHosts: [first, hostOwner, hostOwner].map((clientId, index) => ({ id: 2000 + index, clientId })),
      certificates: [
        ...[first, certificateOwner].map((clientId, index) => ({ id: 3000 + index, clientId, status: 'missing' }) as const),
        { id: 3010, clientId: certificateOwner, status: 'expiring' },
        { id: 3011, clientId: certificateOwner, status: 'expired' },
      ],
    };
    const counts = async (caller: Caller) => {
      const { total, broken } = await board.page(caller, { offset: 0, limit: 0 });
      return [total, broken];
    };
    expect(await counts({ kind: 'admin' })).toEqual([208, 207]);
    expect(await counts({ kind: 'user', userId: alice ?? 0 })).toEqual([6, 5]);
    expect(await counts({ kind: 'client', clientId: certificateOwner })).toEqual([3, 2]);
    // For the filters and orders of lists, those of all.
    expect(await board.troubled()).toEqual({
      clients: {
        brokenIds: [...clients.slice(0, 201), hostOwner, certificateOwner],
        soonIds: [certificateOwner],
        since: new Date(clock.now - 7 * day),
        until: new Date(clock.now + 7 * day),
      },
      tunnels: clients.slice(0, 201).map((_, index) => 1000 + index),
      hosts: [2000, 2001, 2002, 3000, 3001, 3010, 3011],
    });
  });

  test('the engine is asked again after ten seconds, or when it has failed; 64 pages are kept', async () => {
    const { api, clock } = await opened(databases);
    const { problems: board, store } = api.services;
    const page = (limit: number) => board.page({ kind: 'admin' }, { offset: 0, limit });
    const [troubles, counted] = [jest.spyOn(api.engine, 'troubles'), jest.spyOn(store, 'problemCount')];
    troubles.mockRejectedValueOnce(new Error('the engine is gone'));
    await expect(page(0)).rejects.toThrow('the engine is gone');
    await page(0);
    expect(troubles).toHaveBeenCalledTimes(2);
    clock.now += 9999;
    await page(0);
    expect(troubles).toHaveBeenCalledTimes(2);
    clock.now += 1;
    await page(1);
    expect(troubles).toHaveBeenCalledTimes(3);
    clock.now += 1999; // the page with one row is kept until its next millisecond
    for (let limit = 2; limit <= 64; limit++) await page(limit);
    const isRead = async (limit: number) => {
      counted.mockClear();
      await page(limit);
      return counted.mock.calls.length > 0;
    };
    expect([await isRead(1), await isRead(65), await isRead(64), await isRead(1)]).toEqual([false, true, false, true]);
  });

  test('callers with the same records share one reading for two seconds', async () => {
    const { api, clock } = await opened(databases);
    const id = await newClient(api);
    await newTunnel(api, id);
    const total = async (caller: Caller) => page.parse((await api.run(problems, {}, caller)).data).problems.total;
    const [admin, token] = [{ kind: 'admin' }, { kind: 'admin', by: 'token', readOnly: true }] as const;
    expect(await total(admin)).toBe(0);
    await api.services.store.db.client.update({ where: { id }, data: { lastOnlineAt: new Date(start) } });
    expect([await total(token), await total({ kind: 'client', clientId: id })]).toEqual([0, 1]);
    clock.now += 2001;
    expect(await total(token)).toBe(1);
    await api.services.store.db.client.update({ where: { id }, data: { lastOnlineAt: null } });
    expect(await total(token)).toBe(1);
    clock.now -= day; // the clock is set right
    expect(await total(token)).toBe(0);
  });

  test('each list has the records with its problem alone, in their order, of each owner and client, page by page, and their number', async () => {
    const { services: { store } } = await openTestSchema(databases);
    const moment = new Date('2026-06-01T00:00:00Z');
    const at = (days: number) => storedTime(new Date(moment.getTime() + days * day));
    const [alice = 0, bob = 0] = await seedUsers(store, 2);
    const lists: Partial<Record<ProblemListName, readonly number[]>> = {};
    /** Clients of one owner and the other; what the list must have of them, in its order. */
    const clients = async (name: ProblemListName | undefined, rows: ReadonlyArray<Partial<Prisma.ClientUncheckedCreateInput>>, order: readonly number[]) => {
      const vkey = (n: number) => `${name} ${n} ${rows.length}`;
      const ids = await seedClients(store, rows.length, (n) => ({ userId: n % 2 === 0 ? bob : alice, vkey: vkey(n), ...common, ...rows[n - 1] }));
      if (name) lists[name] = order.map((index) => ids[index] ?? 0);
      return ids;
    };
    // seedClients takes the columns of the first row.
    const common = {
      ...{ enabled: true, expired: false, connected: false, lastOnlineAt: null, expiresAt: null, inletBytes: 0, exportBytes: 0, flowLimit: 0 },
      ...{ maxTunnels: 0, tunnelCount: 0, hostCount: 0 },
    };
    const away = { lastOnlineAt: at(-2), tunnelCount: 1 };
    await clients('away', [
      ...[away, { ...away, lastOnlineAt: at(-1) }, { ...away, lastOnlineAt: at(-1) }, { ...away, lastOnlineAt: at(-3), hostCount: 1 }],
      ...[{ ...away, enabled: false }, { ...away, expired: true }, { ...away, connected: true }, { ...away, lastOnlineAt: null }, { ...away, tunnelCount: 0 }],
    ], [2, 1, 0, 3]);
    const expired = { expired: true, expiresAt: at(1) };
    await clients('expired', [
      ...[expired, { ...expired, expiresAt: at(3) }, { ...expired, expiresAt: at(2) }, { ...expired, expiresAt: at(3) }],
      ...[{ ...expired, expiresAt: at(0) }, { ...expired, expiresAt: null }, { ...expired, enabled: false }],
    ], [3, 1, 2, 0]);
    const expiring = { expiresAt: at(-1) };
    await clients('expiring', [
      ...[expiring, { expiresAt: at(-3) }, { expiresAt: at(-2) }, { expiresAt: at(-3) }],
      ...[{ expiresAt: at(0) }, { ...expiring, enabled: false }, { ...expiring, expired: true }],
    ], [1, 3, 2, 0]);
    // Four fifths of 5 MiB are 4 MiB.
    const used = (inletBytes: number, exportBytes: number) => ({ flowLimit: 5, inletBytes, exportBytes });
    const traffic = await clients('trafficUsedUp', [
      ...[used(5_242_880, 1), used(1, 5_242_880), used(5_242_880, 0), used(0, 4_194_305), used(4_194_305, 0), used(4_194_304, 0)],
      { ...used(6_000_000, 0), flowLimit: 0 },
    ], [0, 1]);
    lists.trafficNearlyUsedUp = traffic.slice(2, 5);
    const full = { maxTunnels: 2, tunnelCount: 2 };
    await clients('tunnelsUsedUp', [full, { ...full, tunnelCount: 3 }, { ...full, tunnelCount: 1 }, { ...full, maxTunnels: 0 }], [0, 1]);
    const online = await clients(undefined, [{ connected: true }, { connected: true }], []);
    const offline = await clients(undefined, [{ remark: 'offline' }], []);
    const tunnels = await seedTunnels(store, 0, 6, (n) => ({
      ...{ clientId: n === 6 ? offline[0] : online[n % 2], enabled: n !== 4, running: n === 5 },
    }));
    lists.closedTunnels = tunnels.slice(0, 3);
    const users = await seedUsers(store, 6, (n) => ({
      ...{ username: `expiring ${n}`, expired: n === 5, enabled: n !== 6, expiresAt: [at(-1), at(-2), at(-2), at(0), at(-1), at(-1)][n - 1] },
    }));
    lists.expiringUsers = [1, 2, 0].map((index) => users[index] ?? 0);

    const rows = { clients: await store.db.client.findMany(), tunnels: await store.db.tunnel.findMany() };
    /** The owner and the client of a record. */
    const of = (name: ProblemListName, id: number) => {
      if (name === 'expiringUsers') return { ownerId: id };
      const tunnel = name === 'closedTunnels' ? rows.tunnels.find((row) => row.id === id) : undefined;
      return tunnel ? { ownerId: tunnel.ownerId, clientId: tunnel.clientId } : { ownerId: rows.clients.find((row) => row.id === id)?.userId, clientId: id };
    };
    for (const [name, wanted] of Object.entries(lists) as Array<[ProblemListName, readonly number[]]>) {
      const read = async (scope: CountScope, offset = 0, limit = 50) => (await store.problemRows(name, { scope, moment, offset, limit })).map(({ id }) => id);
      const { ownerId, clientId } = of(name, wanted[0] ?? 0);
      const owned = wanted.filter((id) => of(name, id).ownerId === ownerId);
      expect([name, await read({}), await read({}, 1, 1), await read({ ownerId: ownerId ?? 0 })]).toEqual([name, wanted, wanted.slice(1, 2), owned]);
      const counts = [await store.problemCount(name, { scope: {}, moment }), await store.problemCount(name, { scope: { ownerId: ownerId ?? 0 }, moment })];
      expect([name, counts]).toEqual([name, [wanted.length, owned.length]]);
      if (clientId !== undefined) expect([name, await read({ clientId })]).toEqual([name, wanted.filter((id) => of(name, id).clientId === clientId)]);
    }
  });
});
