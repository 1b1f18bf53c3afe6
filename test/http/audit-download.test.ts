import { get, type IncomingMessage } from 'node:http';
import { expect, jest, test } from '@jest/globals';
import { z } from 'zod';
import type { Caller } from '../../src/rules/caller.ts';
import { addAuditEntries, type NewAuditEntry } from '../../src/store/audit.ts';
import { SearchTooBroadError } from '../../src/store/errors.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { basic, testApps, type TestApp } from '../support/http.ts';

const start = testApps();
const entry = z.object({
  id: z.string(),
  at: z.string(),
  callerKind: z.string(),
  callerId: z.string().nullable(),
  callerName: z.string().nullable(),
  method: z.string().nullable(),
  tokenName: z.string().nullable(),
  address: z.string().nullable(),
  resource: z.string(),
  resourceId: z.string(),
  resourceName: z.string().nullable(),
  action: z.string(),
  before: z.unknown(),
  after: z.unknown(),
});
const selection = Object.keys(entry.shape).join(' ');
const answer = z.object({ data: z.object({ auditEntries: z.object({ rows: z.array(entry) }) }) });

const download = ({ url }: TestApp, format: 'ndjson' | 'csv', conditions: Readonly<Record<string, string>> = {}, headers: Record<string, string> = basic()) =>
  fetch(`${url}/audit/download.${format}?${new URLSearchParams(conditions).toString()}`, { headers });

/** The entries of a download. */
async function entriesOf(app: TestApp, conditions?: Readonly<Record<string, string>>): Promise<Array<z.infer<typeof entry>>> {
  const response = await download(app, 'ndjson', conditions);
  expect(response.status).toBe(200);
  return (await response.text()).split('\n').slice(0, -1).map((line) => entry.parse(JSON.parse(line)));
}

const plain: NewAuditEntry = {
  at: new Date('2026-01-01T00:00:00Z'),
  callerKind: 'admin',
  callerId: null,
  method: '',
  tokenName: '',
  address: '',
  resource: 'client',
  resourceId: '1',
  action: 'create',
  before: null,
  after: null,
};

/** An application whose log has entries of every kind of caller, an hour apart. */
async function startWithEntries(): Promise<TestApp> {
  const app = await start();
  const { store } = app.api.services;
  const user = await store.db.user.create({ data: { username: 'alice', passwordHash: '' } });
  const named = await store.db.client.create({ data: { vkey: 'one', remark: 'office' } });
  const unnamed = await store.db.client.create({ data: { vkey: 'two' } });
  const of = (hour: number, changes: Partial<NewAuditEntry>): NewAuditEntry => ({ ...plain, at: new Date(Date.UTC(2026, 0, 1, hour)), ...changes });
  await store.transaction((tx) =>
    addAuditEntries(tx, [
      of(0, { callerKind: 'user', callerId: user.id, method: 'token', tokenName: 'backup', address: '203.0.113.7', after: '{"remark":"one"}' }),
      of(1, { callerKind: 'client', callerId: named.id, action: 'update', before: '{"remark":"one"}', after: '{"remark":"two"}' }),
      of(2, { callerKind: 'client', callerId: unnamed.id, action: 'delete', resource: 'tunnel', resourceId: '7', before: '{"remark":"web"}' }),
      of(3, { callerKind: 'anonymous', resource: 'failedAttempt', resourceId: '=HYPERLINK("http://x")' }),
      of(4, { callerKind: 'user', callerId: 99 }),
    ])
  );
  return app;
}

test('a download has the entries that GraphQL returns, newest first, with the same conditions', async () => {
  const app = await startWithEntries();
  const listed = async (filter: string, search = '') => {
    const query = `{ auditEntries(limit: 50, filter: {${filter}}, search: ${JSON.stringify(search)}) { rows { ${selection} } } }`;
    return answer.parse(await (await app.graphql({ query })).json()).data.auditEntries.rows;
  };
  const all = await entriesOf(app);
  expect(all).toEqual(await listed(''));
  expect(all.map(({ callerName }) => callerName)).toEqual([null, null, null, 'office', 'alice']);
  const conditions: ReadonlyArray<readonly [Readonly<Record<string, string>>, string, number]> = [
    [{ resource: 'TUNNEL' }, 'resource: TUNNEL', 1],
    [{ resource: 'CLIENT', resourceId: '1' }, 'resource: CLIENT, resourceId: "1"', 3],
    [{ action: 'UPDATE' }, 'action: UPDATE', 1],
    [{ callerKind: 'USER' }, 'callerKind: USER', 2],
    [{ callerKind: 'USER', callerId: '99' }, 'callerKind: USER, callerId: 99', 1],
    [{ from: '2026-01-01T01:00:00Z' }, 'from: "2026-01-01T01:00:00Z"', 4],
    [{ to: '2026-01-01T01:00:00Z' }, 'to: "2026-01-01T01:00:00Z"', 1],
    [{ from: '2026-01-01T02:00:00+01:00', to: '2026-01-01T02:00:00Z' }, 'from: "2026-01-01T01:00:00Z", to: "2026-01-01T02:00:00Z"', 1],
    [{ beforeId: all[1]?.id ?? '' }, `beforeId: ${all[1]?.id}`, 3],
  ];
  for (const [given, filter, count] of conditions) {
    const found = await entriesOf(app, given);
    expect([filter, found]).toEqual([filter, await listed(filter)]);
    expect([filter, found.length]).toEqual([filter, count]);
  }
  expect(await entriesOf(app, { search: 'BACKUP' })).toEqual(await listed('', 'BACKUP'));
  expect((await entriesOf(app, { search: 'web', action: 'DELETE' })).map(({ resourceId }) => resourceId)).toEqual(['7']);
  expect(await entriesOf(app, { resource: 'USER' })).toEqual([]);
});

test('a CSV file has a line for each entry under the names of the columns, and no text that a spreadsheet runs', async () => {
  const app = await startWithEntries();
  const response = await download(app, 'csv', { to: '2026-01-01T04:00:00Z' });
  expect(response.headers.get('content-type')).toMatch(/^text\/csv/);
  expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="adit-audit-\d{4}-\d\d-\d\d\.csv"$/);
  expect(response.headers.get('cache-control')).toBe('no-store');
  const [head, ...lines] = (await response.text()).split('\r\n');
  expect(head).toBe(selection.split(' ').join(','));
  expect(lines).toEqual([
    expect.stringMatching(/^"\d+","2026-01-01T03:00:00\.000Z","ANONYMOUS","","","","","","FAILED_ATTEMPT","'=HYPERLINK\(""http:\/\/x""\)","","CREATE","",""$/),
    expect.stringMatching(/^"\d+","2026-01-01T02:00:00\.000Z","CLIENT","2","","","","","TUNNEL","7","web","DELETE","\{""remark"":""web""\}",""$/),
    expect.stringContaining('"CLIENT","1","office"'),
    expect.stringContaining('"USER","1","alice","TOKEN","backup","203.0.113.7","CLIENT","1","one","CREATE","","{""remark"":""one""}"'),
    '',
  ]);
  const begins = ['=', '+', '-', '@', '\t', '\r', 'x', "'"];
  const at = new Date('2026-02-01T00:00:00Z');
  await app.api.services.store.transaction((tx) => addAuditEntries(tx, begins.map((begin) => ({ ...plain, at, resourceId: `${begin}1` }))));
  const texts = (await (await download(app, 'csv', { from: at.toISOString() })).text()).matchAll(/"CLIENT","([^"]*)","","CREATE"/g);
  expect(Array.from(texts, ([, text]) => text).toReversed()).toEqual(["'=1", "'+1", "'-1", "'@1", "'\t1", "'\r1", 'x1', "'1"]);
  const empty = await download(app, 'csv', { resource: 'USER' });
  expect([empty.status, await empty.text()]).toEqual([200, `${head}\r\n`]);
});

test('a log that has just as many entries as a page, or one more, is complete', async () => {
  const app = await start();
  const { store } = app.api.services;
  const more = (count: number) => store.transaction((tx) => addAuditEntries(tx, Array.from({ length: count }, () => plain)));
  expect(await entriesOf(app)).toEqual([]);
  await more(100);
  const ids = async () => new Set((await entriesOf(app)).map(({ id }) => id)).size;
  expect(await ids()).toBe(100);
  await more(1);
  expect(await ids()).toBe(101);
});

test('a parameter that means nothing is refused by its name', async () => {
  const app = await start();
  const wrong = [
    ['resource', 'client'],
    ['action', 'EXPLODE'],
    ['callerKind', ''],
    ['callerId', '0'],
    ['callerId', '2147483648'],
    ['beforeId', 'x'],
    ['from', '2026-01-01'],
    ['to', 'now'],
    ['search', 'a\0'],
    ['resourceId', 'a'.repeat(1001)],
  ] as const;
  for (const [name, value] of wrong) {
    const response = await download(app, 'ndjson', { [name]: value });
    expect([name, response.status, await response.json()]).toMatchObject([name, 400, { errors: [{ extensions: { code: 'INVALID_INPUT', field: name } }] }]);
  }
});

test.each([
  ['SEARCH_TOO_BROAD', 400, new SearchTooBroadError()],
  ['DATABASE_UNAVAILABLE', 503, Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })],
  ['INTERNAL', 500, new Error('oops')],
])('a log that cannot be read: %s is answered with %i', async (code, status, error) => {
  const app = await startWithEntries();
  const spy = jest.spyOn(app.api.services.store, 'auditPages').mockImplementation(() => {
    throw error;
  });
  const response = await download(app, 'csv', { search: 'office' });
  expect([response.status, await response.json()]).toMatchObject([status, { errors: [{ extensions: { code } }] }]);
  spy.mockRestore();
});

test('an administrator has two downloads at a time, and so has each token; one that ends makes room for one', async () => {
  const app = await start();
  const token = async (name: string) => {
    const { data } = await app.api.run(`mutation { createApiToken(input: { name: "${name}", readOnly: true }) { token } }`);
    return z.object({ createApiToken: z.object({ token: z.string() }) }).parse(data).createApiToken.token;
  };
  const callers = [basic(), { authorization: `Bearer ${await token('one')}` }, { authorization: `Bearer ${await token('two')}` }];
  const ends: Array<() => void> = [];
  const spy = jest.spyOn(app.api.services.store, 'auditPages').mockImplementation(() => {
    const ended = new Promise<void>((resolve) => ends.push(resolve));
    return (async function*() {
      yield [];
      await ended;
    })();
  });
  const begin = (headers: Record<string, string>) => download(app, 'csv', {}, headers);
  const refused = async (headers: Record<string, string>) => {
    const response = await begin(headers);
    expect([response.status, await response.json()]).toMatchObject([429, { errors: [{ extensions: { code: 'TOO_MANY_OPERATIONS' } }] }]);
  };
  for (const caller of callers) {
    const begun = ends.length;
    const [first, second] = [await begin(caller), await begin(caller)];
    expect([first.status, second.status]).toEqual([200, 200]);
    await refused(caller);
    ends[begun]?.();
    await first.text();
    await eventuallyAsync(() => begin(caller), ({ status }) => status === 200);
    await refused(caller);
  }
  for (const end of ends) end();
  spy.mockRestore();
});

test('nobody but an administrator gets the log; only a person in a browser is asked for a password', async () => {
  const app = await startWithEntries();
  const { status, headers } = await download(app, 'ndjson', {}, {});
  expect([status, headers.get('www-authenticate')]).toEqual([401, null]);
  const page = await new Promise<IncomingMessage>((resolve) => get(`${app.url}/audit/download.csv`, { headers: { accept: 'text/html' } }, resolve));
  page.resume();
  expect([page.statusCode, page.headers['www-authenticate']]).toEqual([401, 'Basic realm="adit", charset="UTF-8"']);
  const token = async (input: string, caller?: Caller) => {
    const { data } = await app.api.run(`mutation { createApiToken(input: { name: "x", ${input} }) { token } }`, {}, caller);
    return z.object({ createApiToken: z.object({ token: z.string() }) }).parse(data).createApiToken.token;
  };
  for (const secret of [await token('readOnly: false', { kind: 'user', userId: 1 }), await token('scope: WALL')]) {
    const refused = await download(app, 'csv', {}, { authorization: `Bearer ${secret}` });
    expect([refused.status, await refused.json()]).toMatchObject([403, { errors: [{ extensions: { code: 'FORBIDDEN' } }] }]);
  }
  const allowed = await download(app, 'ndjson', {}, { authorization: `Bearer ${await token('readOnly: true')}` });
  expect([allowed.status, (await allowed.text()).split('\n').length]).toEqual([200, 9]);
  for (let guess = 0; guess < 10; guess++) expect((await download(app, 'csv', {}, basic('admin', 'guessed'))).status).toBe(401);
  expect((await download(app, 'csv')).status).toBe(429);
});
