import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { addAuditEntries } from '../../src/store/audit.ts';
import { resourceName } from '../../src/schema/audit/names.ts';
import { hidden, hiddenNew } from '../../src/schema/audit/rules.ts';
import { eitherDialect } from '../support/database.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { openTestSchema, type TestSchema } from '../support/schema.ts';

const entries = z.object({
  total: z.number(),
  rows: z.array(z.object({
    id: z.number(),
    callerKind: z.string(),
    callerId: z.number().nullable(),
    method: z.string().nullable(),
    tokenName: z.string().nullable(),
    address: z.string().nullable(),
    resource: z.string(),
    resourceId: z.string(),
    resourceName: z.string().nullable(),
    action: z.string(),
    before: z.record(z.string(), z.unknown()).nullable(),
    after: z.record(z.string(), z.unknown()).nullable(),
  })),
});
const selection = 'total rows { id callerKind callerId method tokenName address resource resourceId resourceName action before after }';

async function auditOf(api: TestSchema, args = ''): Promise<z.infer<typeof entries>> {
  return entries.parse(await api.record(`{ auditEntries${args} { ${selection} } }`));
}

eitherDialect('the audit log', (databases) => {
  test('has an entry for every change: who, how, from where, what, before and after', async () => {
    const api = await openTestSchema(databases);
    const { store } = api.services;
    const { id: userId } = await store.db.user.create({ data: { username: 'alice', passwordHash: 'x' } });
    const { data } = await api.run('mutation { createClient(input: { remark: "one" }) { id } }', {}, {
      kind: 'user',
      userId,
      by: 'token',
      tokenName: 'backup',
      address: '203.0.113.7',
    });
    expect(data).toEqual({ createClient: { id: 1 } });
    await api.ok('mutation { updateClient(id: 1, input: { remark: "two" }) { id } }');
    await api.ok('mutation { deleteClient(id: 1) }');
    const { total, rows } = await auditOf(api);
    expect(total).toBe(3);
    expect(rows.map(({ action, callerKind, callerId }) => [action, callerKind, callerId])).toEqual([['DELETE', 'ADMINISTRATOR', null], [
      'UPDATE',
      'ADMINISTRATOR',
      null,
    ], ['CREATE', 'USER', userId]]);
    expect(rows.map(({ tokenName, resourceName }) => [tokenName, resourceName])).toEqual([[null, 'two'], [null, 'two'], ['backup', 'one']]);
    expect((await auditOf(api, '(search: "BACKUP")')).rows.map(({ id }) => id)).toEqual([rows[2]?.id]);
    expect(rows[2]).toMatchObject({ method: 'TOKEN', address: '203.0.113.7', resource: 'CLIENT', resourceId: '1', before: null });
    expect(rows[1]?.before).toMatchObject({ id: 1, remark: 'one' });
    expect(rows[1]?.after).toMatchObject({ remark: 'two' });
    expect(rows[0]?.after).toBeNull();
  });

  test('is searched for a text in any case: in values, addresses and ids, together with the filter, page by page, and read as a whole', async () => {
    const api = await openTestSchema(databases);
    const { store } = api.services;
    const row = { callerKind: 'admin', callerId: null, method: '', tokenName: '', address: '203.0.113.7', resource: 'client', action: 'update', before: null };
    const values = Array.from({ length: 250 }, (_, n) => ({
      ...row,
      at: new Date(Date.UTC(2026, 10, 1, 0, n)),
      resourceId: `id-${n}`,
      action: n % 2 === 0 ? 'update' : 'create',
      before: n === 241 ? JSON.stringify({ remark: 'formerly' }) : null,
      after: n === 240 ? null : JSON.stringify({ remark: n % 10 === 0 ? 'An "OFFICE", \u00c4' : 'x' }),
    }));
    await store.transaction(async (tx) => addAuditEntries(tx, values));
    const found = async (search: string, more = '') => {
      const { total, rows } = await auditOf(api, `(search: ${JSON.stringify(search)}${more})`);
      return [total, rows.map(({ resourceId }) => resourceId)];
    };
    const office = Array.from({ length: 24 }, (_, n) => `id-${230 - 10 * n}`);
    expect(await found('office')).toEqual([24, office]);
    expect(await found('an "office", \u00e4')).toEqual([24, office]);
    expect(await found('office', ', offset: 20, limit: 2')).toEqual([24, ['id-30', 'id-20']]);
    expect(await found('office', ', filter: { action: CREATE }')).toEqual([0, []]);
    expect(await found('office', ', filter: { from: "2026-11-01T00:20:00Z", to: "2026-11-01T00:40:00Z" }')).toEqual([2, ['id-30', 'id-20']]);
    expect(await found('ID-249')).toEqual([1, ['id-249']]);
    expect(await found('FORMERLY')).toEqual([1, ['id-241']]);
    expect(await found('113.7', ', limit: 0')).toEqual([250, []]);
    expect(await found('%')).toEqual([0, []]);
    expect(await api.code('{ auditEntries(search: "a\\u0000") { total } }')).toBe('INVALID_INPUT');
    expect(await api.record('{ auditEntries(search: "office") { searchedBackTo } }')).toEqual({ searchedBackTo: null });
    const read = async (search?: string, more = {}) => {
      const pages = [];
      for await (const page of store.auditPages({ action: 'update', ...search !== undefined && { search }, ...more })) {
        pages.push(page.map(({ resourceId }) => resourceId));
      }
      return pages;
    };
    expect((await read()).map((page) => page.length)).toEqual([100, 25]);
    expect((await read()).flat()).toEqual(Array.from({ length: 125 }, (_, n) => `id-${248 - 2 * n}`));
    expect(await read('office')).toEqual([office]);
    const { id: last } = await store.db.auditEntry.findFirstOrThrow({ where: { resourceId: 'id-7' } });
    expect(await read(undefined, { beforeId: last })).toEqual([['id-6', 'id-4', 'id-2', 'id-0']]);
    expect(await read('office', { beforeId: last })).toEqual([['id-0']]);
    expect(await read('office', { action: 'create' })).toEqual([]);
  });

  test('is filtered by each condition alone, and names who made a change and what was changed', async () => {
    const api = await openTestSchema(databases);
    const { store } = api.services;
    await store.db.user.create({ data: { username: 'alice', passwordHash: '' } });
    await store.db.client.create({ data: { vkey: 'k', remark: 'office' } });
    const at = (minute: number) => new Date(Date.UTC(2030, 0, 1, 0, minute));
    const values = { method: '', tokenName: '', address: '', before: null, after: null };
    const entry = { ...values, callerKind: 'user', callerId: 1, resource: 'client', resourceId: '1', action: 'update' };
    const others = [{}, { resource: 'tunnel' }, { resourceId: '2' }, { action: 'delete' }, { callerKind: 'client' }, { callerId: 2 }];
    await store.transaction(async (tx) => addAuditEntries(tx, others.map((other, n) => ({ ...entry, ...other, at: at(n + 1) }))));
    const found = async (filter: string) => (await auditOf(api, `(filter: { ${filter} })`)).rows.map(({ id }) => id);
    expect([await found('resource: TUNNEL'), await found('resourceId: "2"'), await found('action: DELETE')]).toEqual([[2], [3], [4]]);
    expect([await found('callerKind: CLIENT'), await found('callerId: 2')]).toEqual([[5], [6]]);
    expect(await found(`from: "${at(2).toISOString()}", to: "${at(4).toISOString()}"`)).toEqual([3, 2]);
    const names = await api.record('{ auditEntries { rows { callerName } } }');
    expect(names).toEqual({ rows: [null, 'office', 'alice', 'alice', 'alice', 'alice'].map((callerName) => ({ callerName })) });

    const called = { username: 'a user', remark: 'a note', host: 'a host', name: 'a token' };
    expect(Object.keys(called).map((_, n) => resourceName(null, Object.fromEntries(Object.entries(called).slice(n))))).toEqual(Object.values(called));
    expect(resourceName({ remark: 'before' }, { remark: 'after' })).toBe('after');
    expect([resourceName({ remark: 'before' }, null), resourceName(null, { remark: '' }), resourceName(null, { id: 1 })]).toEqual(['before', null, null]);
  });

  test('takes more entries than one statement has, and gives each its id', async () => {
    const { services: { store } } = await openTestSchema(databases);
    const row = {
      callerKind: 'admin',
      callerId: null,
      method: '',
      tokenName: '',
      address: '',
      resource: 'client',
      action: 'update',
      before: null,
      after: null,
    };
    const many = Array.from({ length: 2001 }, (_, n) => ({ ...row, at: new Date(n), resourceId: String(n) }));
    const added = await store.transaction((tx) => addAuditEntries(tx, many));
    const select = { id: true, resourceId: true } as const;
    expect(added.map(({ id, resourceId }) => ({ id, resourceId }))).toEqual(await store.db.auditEntry.findMany({ select, orderBy: { id: 'asc' } }));
    expect(added.map(({ resourceId }) => resourceId)).toEqual(many.map(({ resourceId }) => resourceId));
  });

  test('has none for a change that was refused', async () => {
    const api = await openTestSchema(databases);
    expect(await api.code('mutation { createClient(input: { remark: "x", ownerId: 99 }) { id } }')).toBe('OWNER_NOT_FOUND');
    expect(await api.code('mutation { deleteClient(id: 9) }')).toBe('NOT_FOUND');
    expect((await auditOf(api)).total).toBe(0);
  });

  test('keeps no secret: only that one is set, and that it was changed', async () => {
    const api = await openTestSchema(databases);
    const planted = ['vkey-PLANTED', 'basic-PLANTED', 'web-PLANTED', 'white-PLANTED', 'visitor-PLANTED', 'header-PLANTED', 'basic-PLANTED-2'];
    await api.ok(
      `mutation { createClient(input: { verifyKey: "vkey-PLANTED", basicPassword: "basic-PLANTED", webUsername: "w", webPassword: "web-PLANTED", allowlistPassword: "white-PLANTED" }) { id } }`,
    );
    await api.ok('mutation { createTunnel(input: { clientId: 1, mode: SECRET, password: "visitor-PLANTED" }) { id } }');
    await api.ok('mutation { createHost(input: { clientId: 1, host: "a.example.com", headers: ["Authorization: header-PLANTED"] }) { id } }');
    await api.ok('mutation { updateClient(id: 1, input: { basicPassword: "basic-PLANTED-2" }) { id } }');
    const { rows } = await auditOf(api);
    const stored = JSON.stringify(await api.services.store.db.auditEntry.findMany());
    for (const secret of planted) expect(stored).not.toContain(secret);
    expect(stored).not.toContain('argon2');
    expect(rows[0]?.after).toMatchObject({ verifyKey: hidden, basicPassword: hiddenNew, webPassword: hidden, allowlistPassword: hidden });
    expect(rows[1]?.after).toMatchObject({ host: 'a.example.com', headers: hidden });
    expect(rows[2]?.after).toMatchObject({ mode: 'secret', password: hidden });
    expect(rows[3]?.after).toMatchObject({ basicPassword: hidden });
  });

  test('has entries as Prisma reads and writes them, also of a guess with a NUL', async () => {
    const api = await openTestSchema(databases);
    const { attempts, store } = api.services;
    const entry = {
      at: new Date('2030-01-02T03:04:05.006Z'),
      callerKind: 'user',
      callerId: 7,
      method: 'token',
      tokenName: 'backup',
      address: '::1',
      resource: 'client',
      resourceId: '1',
      action: 'update',
      before: null,
      after: '{"a":"é"}',
    };
    const added = await store.transaction((tx) => addAuditEntries(tx, [entry, { ...entry, callerId: null, before: '{}' }]));
    expect(added).toEqual([{ id: 1, ...entry }, { id: 2, ...entry, callerId: null, before: '{}' }]);
    expect(await store.db.auditEntry.findMany({ orderBy: { id: 'asc' } })).toEqual(added);
    await store.db.auditEntry.create({ data: entry });
    expect(await store.db.$queryRaw`SELECT count(*) AS kinds FROM (SELECT DISTINCT at FROM "AuditEntry") AS x`).toMatchObject([{ kinds: 1n }]);
    attempts.begin('login', '203.0.113.7', 'a\0b', Date.now()).failed();
    await eventuallyAsync(() => store.auditPage({ offset: 0, limit: 1 }), ({ rows }) => rows[0]?.resourceId === 'a\uFFFDb');
  });

  test('has a guess that is found out while something is written', async () => {
    const api = await openTestSchema(databases);
    const { store } = api.services;
    const { id: userId } = await store.db.user.create({ data: { username: 'alice', passwordHash: '', clients: { create: { vkey: 'k' } } } });
    const add = 'mutation { createTunnel(input: { clientId: 1, mode: SECRET, password: "in use" }) { id } }';
    await api.ok(add);
    const added = api.services.live.audit({ kind: 'admin' });
    expect(await api.code(add, {}, { kind: 'user', userId, address: '203.0.113.7' })).toBe('TUNNEL_KEY_DUPLICATE');
    await eventuallyAsync(() => store.auditPage({ offset: 0, limit: 1 }), ({ rows }) => rows[0]?.resource === 'failedAttempt');
    // Subscribers get it, too, although nothing else follows such a change.
    expect(await added.next()).toMatchObject({ value: { resource: 'failedAttempt' } });
    await added.return?.();
    expect(api.logged).toEqual([]);
  });

  test('cannot be filled by guessing, from any number of addresses', async () => {
    const api = await openTestSchema(databases);
    const { attempts, store } = api.services;
    for (let n = 0; n < 300; n++) {
      for (let m = 0; m < 10; m++) attempts.begin('login', `198.51.${n >> 8}.${n & 255}`, `name ${n} ${m}`, Date.now()).failed();
    }
    const page = await eventuallyAsync(() => store.auditPage({ offset: 0, limit: 0 }), ({ total }) => total >= 200);
    expect(page.total).toBe(200);
    expect(await store.db.auditEntry.groupBy({ by: ['resource'], _count: true, orderBy: { resource: 'asc' } })).toEqual([
      { resource: 'failedAttempt', _count: 100 },
      { resource: 'lockout', _count: 100 },
    ]);
  });

  test('is read in pages and by filters, by administrators alone, and forgets what is old', async () => {
    const api = await openTestSchema(databases);
    const { store } = api.services;
    const day = (n: number) => new Date(Date.now() - n * 86_400_000);
    const entry = {
      callerKind: 'admin',
      callerId: null,
      method: 'signature',
      tokenName: '',
      address: '',
      resource: 'client',
      action: 'update',
      before: null,
      after: null,
    };
    const six = [1, 2, 3, 4, 5, 6].map((n) => ({ ...entry, at: day(n), resourceId: String(n % 2), ...(n === 3 && { callerKind: 'user', callerId: 7 }) }));
    await store.transaction((tx) => addAuditEntries(tx, six));
    const idsOf = async (args: string) => {
      const page = await auditOf(api, args);
      return [page.total, page.rows.map(({ id }) => id)];
    };
    expect(await idsOf('(limit: 2, offset: 1)')).toEqual([6, [5, 4]]);
    expect(await idsOf('(limit: 0)')).toEqual([6, []]);
    expect(await idsOf('(limit: 2, filter: { beforeId: 5 })')).toEqual([4, [4, 3]]);
    expect(await idsOf('(search: "1", filter: { beforeId: 5 })')).toEqual([2, [3, 1]]);
    expect(await idsOf('(filter: { resource: CLIENT, resourceId: "1" })')).toEqual([3, [5, 3, 1]]);
    expect(await idsOf('(filter: { callerKind: USER, callerId: 7 })')).toEqual([1, [3]]);
    expect(await idsOf(`(filter: { from: "${day(3.5).toISOString()}", to: "${day(1.5).toISOString()}" })`)).toEqual([2, [3, 2]]);
    expect(await api.code('{ auditEntries { total } }', {}, { kind: 'user', userId: 7 })).toBe('FORBIDDEN');
    await store.prune({ audit: 4, traffic: { minute: 1, hour: 1, day: 1 } });
    expect(await idsOf('')).toEqual([3, [3, 2, 1]]);
  });
});
