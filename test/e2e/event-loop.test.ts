import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { getIntrospectionQuery } from 'graphql';
import { newToken } from '../../src/schema/access/tokens.ts';
import { endChildren } from '../support/child.ts';
import { eitherDialect } from '../support/database.ts';
import { sized } from '../support/endurance.ts';
import { askHealth, LoopHold, watchedLoop } from '../support/loop-hold.ts';
import { call, metrics, signedNow, startServer, type ServerProcess } from '../support/processes.ts';
import { seedClients, seedHosts, seedTunnels } from '../support/seed.ts';
import type { TestStore } from '../support/test-store.ts';

/** What the server's main thread may compute between two iterations of its event loop, in ms of its own CPU time. */
const mostHeld = 50;
/** The longest that `/healthz` may take meanwhile, in ms; in `npm test`, other suites use the processors too. */
const mostWaited = sized(5000, 100);
/** How many clients, tunnels and hosts there are. A list, a search or an answer that is not done in parts takes a multiple of {@link mostHeld} with the fewer of them, too. */
const many = { clients: sized(2500, 10_000), tunnels: sized(5000, 50_000), hosts: sized(1000, 2000) };
/** How many of the user's tunnels have texts as long as may be. */
const longTexts = sized(100, 300);
/** How many clients of another user have address lists as long as may be. */
const longLists = sized(20, 50);
/** How many clients have two lists as long as an administrator may make them. */
const longestLists = sized(3, 20);
/** How many tunnels one of these clients has. */
const longestTunnels = sized(5, 100);
/** How many ask for the widest list at the same time. */
const crowd = sized(5, 40);
/** The best of so many counts: in `npm test`, other suites use the processors too. */
const attempts = sized(3, 1);

const tunnelFields = 'id mode remark port serverIp targets localProxy password localPath stripPrefix proxyProtocol enabled noStore createdAt';
const clientFields =
  'id verifyKey remark enabled basicUser compress encrypt configAllowed rateLimit flowLimit maxConnections maxTunnels webUsername blocklist allowlistEnabled allowlist expiresAt effectiveExpiresAt createdAt owner { id username expiresAt } runtime { connected address localAddress version connections rate inletBytes exportBytes lastOnlineAt }';
const runtime = 'runtime { running connections rate inletBytes exportBytes refusals { cause count } health { type targets { target healthy failures } } }';
const aliases = (count: number, text: (n: number) => string) => Array.from({ length: count }, (_, n) => text(n)).join(' ');

/** What a hostile user sends, who owns what the suite has made for them, and the codes of the errors that it is answered with. */
const operations: Readonly<Record<string, readonly [query: string, code?: string]>> = {
  'tunnels of clients of tunnels': ['{ tunnels { rows { client { tunnels { rows { client { tunnels { rows { id } } } } } } } } }', 'OPERATION_TOO_COSTLY'],
  'the widest list': [`{ tunnels(limit: 200, offset: 300) { rows { ${tunnelFields} client { ${clientFields} } ${runtime} } } }`],
  'a list in a list': [`{ clients(limit: 50) { rows { id tunnels(limit: 50) { total rows { id port remark } } } } }`],
  'many lists': [`{ ${aliases(25, (n) => `a${n}: tunnels(limit: 100, offset: ${n * 100}) { total rows { id port remark enabled password createdAt } }`)} }`],
  'long lists in every row': [`{ tunnels(limit: 200) { rows { ${aliases(28, (n) => `a${n}: targets`)} } } }`, 'RESULT_TOO_LARGE'],
  'lists of clients in every row': ['{ tunnels(limit: 200) { rows { client { blocklist allowlist } } } }', 'RESULT_TOO_LARGE'],
  'long texts in every row': [`{ tunnels(limit: 200) { rows { ${aliases(28, (n) => `a${n}: localPath`)} } } }`, 'RESULT_TOO_LARGE'],
  searches: [`{ ${aliases(11, (n) => `a${n}: tunnels(search: "${'ab'.repeat(400)}${n}", limit: 1) { total }`)} }`],
  '29 searches': [`{ ${aliases(29, (n) => `a${n}: tunnels(search: "x${n}", limit: 1) { total }`)} }`, 'OPERATION_TOO_COSTLY'],
  'orders and offsets': [
    `{ ${aliases(29, (n) => `a${n}: tunnels(sort: { field: REMARK, direction: DESC }, offset: ${4000 - n}, limit: 10) { rows { id } }`)} }`,
  ],
  'filters that look at each of the tunnels': [
    `{ ${
      aliases(11, (n) => `a${n}: tunnels(filter: { connected: false, enabled: true }, sort: { field: TARGET }, offset: ${n}, limit: 1) { total rows { id } }`)
    } }`,
  ],
  introspection: [getIntrospectionQuery()],
  'introspection with aliases': [
    `{ __schema { types { ${aliases(25, (n) => `a${n}: fields { name type { name fields { name description args { name } } } }`)} } } }`,
    'OPERATION_TOO_COSTLY',
  ],
  'the same field a thousand times': [`{ server { ${'version '.repeat(990)} } }`, 'GRAPHQL_VALIDATION_FAILED'],
  'the same fields in many fragments': [
    `{ ${aliases(28, (n) => `...F${n}`)} } ${
      aliases(28, (n) => `fragment F${n} on Query { clients(limit: 1) { rows { ${'id remark verifyKey '.repeat(5)} } } }`)
    }`,
  ],
};

eitherDialect(`no call holds the event loop for longer than 50 ms of CPU, with ${many.clients} clients and ${many.tunnels} tunnels`, (databases) => {
  let server: ServerProcess;
  let hold: LoopHold;
  let token: string;
  let readOnly: string;
  let lister: string;
  let sent = 0;

  beforeAll(async () => {
    const database = await databases.create();
    const store = await database.open();
    ({ token, readOnly, lister } = await fill(store, many));
    await store.close();
    server = await startServer({ dataDir: database.dataDir, environment: { ...watchedLoop, ADIT_DATABASE_URL: database.url } });
    hold = new LoopHold(server);
  });
  afterAll(() => endChildren());

  /**
   * Runs `work` until the code that it needs is compiled, and then once more, watched. What holds the loop by itself does so each time; what the garbage
   * collector's threads leave to the main one, when other programs have the processors, comes and goes.
   */
  async function watched(work: () => Promise<unknown>): Promise<{ held: number; waited: number }> {
    await work();
    for (let left = attempts;; left--) {
      await hold.most();
      const stop = await askHealth(server);
      await work();
      const figures = { waited: await stop(), held: await hold.most() };
      if (left === 1 || beyond(figures).length === 0) return figures;
    }
  }

  async function graphql(query: string, bearer: string): Promise<string> {
    // No two texts are the same: the server remembers those that it has read and checked.
    const body = JSON.stringify({ query: `${query} # ${++sent}` });
    const response = await fetch(`http://127.0.0.1:${server.httpPort}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${bearer}` },
      body,
    });
    return response.text();
  }

  test.each(Object.keys(operations))('an operation of a user: %s', async (name) => {
    const [query = '', code] = operations[name] ?? [];
    let answered = '';
    const figures = await watched(async () => {
      answered = await graphql(query, token);
    });
    expect(answered.slice(0, 200)).toMatch(code === undefined ? /^{"data":{/ : new RegExp(`^{"errors":.*"${code}"`));
    expect(beyond(figures)).toEqual([]);
  });

  test.each(['/client/list/', '/index/gettunnel/', '/index/hostlist/', '/user/list/'])(
    "an administrator's list without a limit: %s",
    async (path) => {
      const figures = await watched(() => call(server, path, path === '/index/gettunnel/' ? { limit: sized(60, 50_000) } : {}));
      expect(beyond(figures)).toEqual([]);
    },
  );

  test('all of them at once, and by a token that may only read', async () => {
    const figures = await watched(() => Promise.all(Object.values(operations).map(([query]) => graphql(query, readOnly))));
    expect(beyond(figures)).toEqual([]);
  });

  test(`${crowd} of the widest lists at once`, async () => {
    const figures = await watched(() => Promise.all(Array.from({ length: crowd }, () => graphql(operations['the widest list']?.[0] ?? '', token))));
    expect(beyond(figures)).toEqual([]);
  });

  test('the tunnels of a client whose lists have 1 MB', async () => {
    const figures = await watched(() => call(server, '/index/gettunnel/', { search: 'one of a client with long lists', limit: longestTunnels }));
    expect(beyond(figures)).toEqual([]);
  });

  test('the metrics, the page of the editor, and a page of clients whose lists have 1 MB', async () => {
    const page = async () =>
      (await fetch(`http://127.0.0.1:${server.httpPort}/graphql`, { headers: { accept: 'text/html', authorization: `Bearer ${readOnly}` } })).text();
    for (
      const [name, work] of Object.entries({
        metrics: () => metrics(server),
        page,
        list: () => call(server, '/client/list/', { sort: 'Id', order: 'desc', limit: 10 }),
      })
    ) {
      expect({ name, beyond: beyond(await watched(work)) }).toEqual({ name, beyond: [] });
    }
  });

  test('lists of a user without a limit, many at once', async () => {
    const list = async (path: string) =>
      (await fetch(`http://127.0.0.1:${server.httpPort}${path}`, { method: 'POST', headers: { authorization: `Bearer ${token}` } })).text();
    const figures = await watched(() =>
      Promise.all(
        ['/client/list/', `/index/gettunnel/?limit=${sized(100, 500)}`, `/index/gettunnel/?search=tunnel&limit=${sized(60, 300)}`, '/index/hostlist/'].map(
          list,
        ),
      )
    );
    expect(beyond(figures)).toEqual([]);
  });

  test('twelve lists of a user whose clients have long lists of addresses, at once', async () => {
    const list = async () =>
      (await fetch(`http://127.0.0.1:${server.httpPort}/client/list/`, { method: 'POST', headers: { authorization: `Bearer ${lister}` } })).text();
    const figures = await watched(() => Promise.all(Array.from({ length: 12 }, list)));
    expect(beyond(figures)).toEqual([]);
  });

  test("an administrator's operations", async () => {
    const { auth_key: key, timestamp } = signedNow();
    const run = async (query: string) =>
      (await fetch(`http://127.0.0.1:${server.httpPort}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-adit-auth-key': key, 'x-adit-timestamp': String(timestamp) },
        body: JSON.stringify({ query }),
      })).text();
    for (
      const query of [
        `{ tunnels(limit: 200) { total rows { ${tunnelFields} client { ${clientFields} } } } }`,
        `{ clients(limit: 200, offset: ${many.clients - 1000}) { total rows { ${clientFields} } } }`,
        '{ users(limit: 200) { rows { id username clients(limit: 50) { rows { id } } } } }',
        '{ auditEntries(limit: 200) { rows { id before after } } }',
        `{ ${
          aliases(
            5,
            (n) =>
              `a${n}: tunnels(filter: { connected: false, enabled: true, running: false }, sort: { field: REMARK }, offset: ${n}, limit: 1) { total rows { id } }`,
          )
        } }`,
        `{ ${
          aliases(3, (n) =>
            `a${n}: tunnels(filter: { connected: false }, search: "tunnel", sort: { field: TARGET }, offset: ${n}, limit: 1) { total rows { id } }`)
        } }`,
        '{ hosts(filter: { certificateDaysRemainingBelow: 15 }) { total } clients(filter: { usageAbovePercent: 80, expiresBefore: "2030-01-01T00:00:00Z" }) { total } }',
      ]
    ) {
      expect({ query, beyond: beyond(await watched(() => run(query))) }).toEqual({ query, beyond: [] });
    }
  });
});

/** What is beyond the goal. */
function beyond({ held, waited }: { readonly held: number; readonly waited: number }): string[] {
  return [...held > mostHeld ? [`held the event loop for ${held} ms`] : [], ...waited > mostWaited ? [`/healthz took ${waited.toFixed(0)} ms`] : []];
}

/** Clients, tunnels that listen nowhere, hosts, and a user with a share of them who made the most of every text. */
async function fill(store: TestStore, counts: typeof many): Promise<{ token: string; readOnly: string; lister: string }> {
  const { id: userId } = await store.db.user.create({ data: { username: 'hostile', passwordHash: '' } });
  // As long as a user may make them: 64 KB each.
  const long = Array.from({ length: 5000 }, (_, n) => `10.1.${n >> 8}.${n & 255}`).join('\n');
  const clients = await seedClients(
    store,
    counts.clients,
    (n) => ({ userId: n <= 100 ? userId : null, blackIpList: n === 1 ? long : '', ipWhiteList: n === 1 ? long : '', enabled: n % 10 > 0 }),
  );
  const [first = 0] = clients;
  const tunnel = (n: number) => ({
    clientId: n <= 300 ? first : clients[n <= 800 ? n % 100 : n % counts.clients] ?? first,
    mode: 'secret',
    port: 0,
    password: `password ${n}`,
    target: n <= longTexts ? '1\n'.repeat(8000) : `10.0.0.1:${n}`,
    localPath: n <= longTexts ? 'p'.repeat(4000) : '',
  });
  // A transaction has 15 s.
  for (let before = 0; before < counts.tunnels; before += 5000) {
    await seedTunnels(store, first, Math.min(5000, counts.tunnels - before), (n) => tunnel(before + n));
  }
  await seedHosts(store, first, counts.hosts, (n) => ({ clientId: clients[n % 100] ?? first }));
  const { id: listerId } = await store.db.user.create({ data: { username: 'lister', passwordHash: '' } });
  await seedClients(store, longLists, (n) => ({ vkey: `key ${n}`, userId: listerId, blackIpList: long, ipWhiteList: long }));
  // As long as an administrator may make them: 1 MB each.
  const longest = Array.from({ length: 80_000 }, (_, n) => `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`).join('\n');
  const [longestClient = 0] = await seedClients(store, longestLists, (n) => ({ vkey: `long key ${n}`, blackIpList: longest, ipWhiteList: longest }));
  await seedTunnels(
    store,
    longestClient,
    longestTunnels,
    (n) => ({ clientId: longestClient, mode: 'secret', port: 0, password: `one of a client with long lists ${n}` }),
  );
  const tokenOf = async (owner: number, mayOnlyRead: boolean) => {
    const { token, hash } = newToken();
    await store.db.apiToken.create({ data: { userId: owner, name: 'test', hash, readOnly: mayOnlyRead } });
    return token;
  };
  return { token: await tokenOf(userId, false), readOnly: await tokenOf(userId, true), lister: await tokenOf(listerId, true) };
}
