import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { slotLimits } from '../../src/schema/limits/operation-slots.ts';
import { newToken } from '../../src/schema/access/tokens.ts';
import { addAuditEntries } from '../../src/store/audit.ts';
import { isShort } from '../support/endurance.ts';
import { eventually, eventuallyAsync } from '../support/eventually.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { basic, testApps, type TestApp } from '../support/http.ts';
import { seedClients, seedTunnels } from '../support/seed.ts';

const start = testApps();
const open: Socket[] = [];
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
});

/** Sends an operation over a connection of its own, of which nothing is read. */
async function deaf({ url }: TestApp, query: string, accept: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  open.push(socket);
  socket.on('error', () => undefined).pause();
  await once(socket, 'connect');
  const body = JSON.stringify({ query });
  socket.write(
    `POST /graphql HTTP/1.1\r\nhost: x\r\nauthorization: ${basic().authorization}\r\naccept: ${accept}\r\ncontent-type: application/json\r\ncontent-length: ${
      Buffer.byteLength(body)
    }\r\n\r\n${body}`,
  );
  return socket;
}

/** Clients with as much text as they may have. */
function longClients(app: TestApp): Promise<number[]> {
  return seedClients(app.api.services.store, 30, () => ({ blackIpList: Array.from({ length: 1000 }, (_, n) => `203.0.${n >> 8}.${n & 255}`).join('\n') }));
}

if (!isShort) {
  test('a subscriber that reads nothing is cut off when too many events wait, and its place is free', async () => {
    const app = await start();
    const ids = await longClients(app);
    const { services, engine } = app.api;
    const fields = Array.from({ length: 20 }, (_, n) => `a${n}: blocklist`).join(' ');
    await deaf(app, `subscription { clientChanged { client { ${fields} } } }`, 'text/event-stream');
    await eventually(() => services.live.subscribers, (count) => count === 1);
    // 300 KB each: the buffers of the connection are full, and those that follow wait.
    for (let n = 0; n < 40; n++) {
      engine.tell('client', ids[0] ?? 0);
      await new Promise((resolve) => {
        setTimeout(resolve, 60);
      });
    }
    let reported = 0;
    await eventually(
      () => {
        for (const id of ids) engine.tell('client', id);
        reported += ids.length;
        return services.live.subscribers;
      },
      (count) => count === 0,
      50_000,
    );
    expect(reported).toBeGreaterThan(256);
    await eventually(() => app.connections, (count) => count === 0);
  });
}

test('a subscriber that reads nothing is cut off when it has taken nothing for a while', async () => {
  const app = await start({ stalledMs: 500 });
  const ids = await longClients(app);
  const { services, engine } = app.api;
  const fields = Array.from({ length: 20 }, (_, n) => `a${n}: blocklist`).join(' ');
  await deaf(app, `subscription { clientChanged { client { ${fields} } } }`, 'text/event-stream');
  await eventually(() => services.live.subscribers, (count) => count === 1);
  for (let n = 0; n < 60; n++) {
    engine.tell('client', ids[0] ?? 0);
    await new Promise((resolve) => {
      setTimeout(resolve, 60);
    });
    if (services.live.subscribers === 0) break;
  }
  const left = await eventually(() => [services.live.subscribers, app.connections], ([subscribers, connections]) => subscribers === 0 && connections === 0);
  expect(left).toEqual([0, 0]);
});

test('a result that is not read is dropped, and the slot of its operation is released', async () => {
  const app = await start({ stalledMs: 3000 });
  const [client = 0] = await seedClients(app.api.services.store, 1);
  await seedTunnels(app.api.services.store, client, 200, () => ({ localPath: '€'.repeat(4000) }));
  const fields = Array.from({ length: 4 }, (_, n) => `a${n}: localPath`).join(' ');
  // More of them than one caller's operations: those that wait begin when those before are given up.
  await Promise.all(Array.from({ length: 40 }, () => deaf(app, `{ tunnels(limit: 200) { rows { ${fields} } } }`, 'application/json')));
  // The buffers of a connection hold some results whole; the others are cut.
  await eventually(() => app.connections, (count) => count === 40);
  await eventually(() => app.connections, (count) => count < 40);
  const ends = await Promise.all(Array.from({ length: slotLimits.running }, () => app.api.services.slots.take('admin')));
  expect(ends).toHaveLength(slotLimits.running);
  for (const end of ends) end();
});

test('a subscriber that reads gets a comment often enough to stay, and proxies keep nothing back', async () => {
  const app = await start({ stalledMs: 1000 });
  const socket = await deaf(app, 'subscription { clientChanged { id } }', 'text/event-stream');
  let text = '';
  socket.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  }).resume();
  await eventually(() => text.split(':\n\n').length, (comments) => comments > 8);
  expect(text.toLowerCase()).toContain('\r\nx-accel-buffering: no\r\n');
  expect(text.toLowerCase()).toContain('\r\ncache-control: no-cache\r\n');
  expect(app.api.services.live.subscribers).toBe(1);
});

test('a download of the audit log that nobody reads holds one page, a caller has two of them, and their places are free when they end', async () => {
  const app = await start();
  const { store } = app.api.services;
  const row = { callerKind: 'user', callerId: 1, method: 'token', tokenName: 'backup', address: '203.0.113.7', resource: 'client', before: null };
  const long = JSON.stringify({ remark: 'x'.repeat(10_000) });
  await store.db.user.create({ data: { username: 'alice', passwordHash: '' } });
  const entries = Array.from(
    { length: 3000 },
    (_, n) => ({ ...row, at: new Date(n * 1000), resourceId: `=${n}`, action: n === 7 ? 'delete' : 'create', after: n === 7 ? '{"remark":"office"}' : long }),
  );
  // More than the parameters of one statement.
  await store.transaction((tx) => addAuditEntries(tx, entries));
  let pages = 0;
  const { auditPages } = store;
  Object.assign(store, {
    async *auditPages(conditions: Parameters<typeof auditPages>[0]) {
      for await (const page of auditPages(conditions)) {
        pages++;
        yield page;
      }
    },
  });
  const download = (file: string, headers: Record<string, string> = basic()) => fetch(`${app.url}/audit/download.${file}`, { headers });
  const all = await download('ndjson');
  expect([all.status, all.headers.get('content-type'), all.headers.get('content-disposition')]).toEqual([
    200,
    'application/x-ndjson',
    expect.stringMatching(/^attachment; filename="adit-audit-[\d-]{10}\.ndjson"$/),
  ]);
  const lines = (await all.text()).trimEnd().split('\n');
  expect([lines.length, pages]).toEqual([3000, 30]);
  const entry = {
    id: '8',
    at: '1970-01-01T00:00:07.000Z',
    callerKind: 'USER',
    callerId: '1',
    callerName: 'alice',
    method: 'TOKEN',
    tokenName: 'backup',
    address: '203.0.113.7',
    resource: 'CLIENT',
    resourceId: '=7',
    resourceName: 'office',
    action: 'DELETE',
    before: null,
    after: { remark: 'office' },
  };
  const filter = '?action=DELETE&resource=CLIENT&callerKind=USER&callerId=1&resourceId=%3D7&from=1970-01-01T00:00:07Z&to=1970-01-01T00:00:08Z&search=%3D7';
  expect(JSON.parse(await (await download(`ndjson${filter}`)).text())).toEqual(entry);
  expect(await (await download(`csv${filter}`)).text()).toBe(
    'id,at,callerKind,callerId,callerName,method,tokenName,address,resource,resourceId,resourceName,action,before,after\r\n'
      + '"8","1970-01-01T00:00:07.000Z","USER","1","alice","TOKEN","backup","203.0.113.7","CLIENT","\'=7","office","DELETE","","{""remark"":""office""}"\r\n',
  );
  for (const [file, field] of [['ndjson?action=NONE', 'action'], ['csv?from=today', 'from'], ['csv?search=%00', 'search']] as const) {
    const refused = await download(file);
    expect([refused.status, await refused.json()]).toEqual([
      400,
      { errors: [{ message: expect.stringMatching(`^invalid ${field}: .`), extensions: expect.objectContaining({ code: 'INVALID_INPUT', field }) }] },
    ]);
  }
  expect((await download('csv', {})).status).toBe(401);
  for (const rights of [{ userId: 1 }, { userId: 1, wall: true }, { wall: true }]) {
    const { token, hash } = newToken();
    await store.db.apiToken.create({ data: { name: 'test', hash, ...rights } });
    for (const file of ['csv', 'ndjson']) expect((await download(file, { authorization: `Bearer ${token}` })).status).toBe(403);
  }

  pages = 0;
  const sockets = await Promise.all([1, 2].map(() => deafDownload(app)));
  // What is sent until the buffers of both sides are full: 30 MB have not been read.
  await eventually(() => app.connections >= 2 && pages, (count) => count !== false && count >= 2);
  expect((await download('csv')).status).toBe(429);
  expect(pages).toBeLessThan(50);
  for (const socket of sockets) socket.destroy();
  await eventuallyAsync(async () => (await download(`ndjson${filter}`)).status, (status) => status === 200);
});

test('a download of the audit log that fails says so: with a status at its beginning, later by an end that is no end; the log has the error', async () => {
  const log = new LogRecorder();
  const app = await start({ log: log.logger });
  const { store } = app.api.services;
  let fine = 0;
  Object.assign(store, {
    // oxlint-disable-next-line require-yield -- some pages, or none
    async *auditPages() {
      const [entry] = await store.db.auditEntry.findMany({ take: 1 });
      for (let page = 0; page < fine; page++) yield Array.from({ length: 100 }, () => entry);
      throw new Error('no such table');
    },
  });
  await store.transaction((tx) =>
    addAuditEntries(tx, [{
      at: new Date(0),
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
    }])
  );
  const download = () => fetch(`${app.url}/audit/download.ndjson`, { headers: basic() });
  const failed = await download();
  const body = await failed.json();
  expect([failed.status, body]).toEqual([500, { errors: [{ message: expect.any(String), extensions: { code: 'INTERNAL', id: expect.any(String) } }] }]);
  expect(JSON.stringify(body)).not.toContain('no such table');
  fine = 3;
  const cut = await download();
  expect(cut.status).toBe(200);
  await expect(cut.text()).rejects.toThrow('terminated');
  expect(log.entries.filter(({ msg }) => msg === 'a download of the audit log failed')).toHaveLength(2);
});

/** Begins a download of which nothing is read. */
async function deafDownload({ url }: TestApp): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  open.push(socket);
  socket.on('error', () => undefined).pause();
  await once(socket, 'connect');
  socket.write(`GET /audit/download.ndjson HTTP/1.1\r\nhost: x\r\nauthorization: ${basic().authorization}\r\n\r\n`);
  return socket;
}
