import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { endChildren } from '../support/child.ts';
import { eitherDialect } from '../support/database.ts';
import { sized } from '../support/endurance.ts';
import { aliases, clientFields, HostileUser, operations, tunnelFields } from '../support/hostile-user.ts';
import { call, metrics, signedNow } from '../support/processes.ts';

// Short form: test/e2e/event-loop.test.ts

const many = {
  clients: sized(2500, 10_000),
  tunnels: sized(5000, 50_000),
  hosts: sized(1000, 2000),
  longTexts: sized(100, 300),
  longLists: sized(20, 50),
  longestLists: sized(3, 20),
  longestTunnels: sized(5, 100),
};
/** How many ask for the widest list at the same time. */
const crowd = sized(5, 40);

eitherDialect(`no call holds the event loop for longer than 50 ms of CPU, with ${many.clients} clients and ${many.tunnels} tunnels`, (databases) => {
  let user: HostileUser;
  beforeAll(async () => {
    user = await HostileUser.start(databases, many);
  });
  afterAll(() => endChildren());

  test.each(Object.keys(operations))('an operation of a user: %s', async (name) => {
    expect(await user.operate(name)).toEqual([]);
  });

  test.each(['/client/list/', '/index/gettunnel/', '/index/hostlist/', '/user/list/'])(
    "an administrator's list without a limit: %s",
    async (path) => {
      const problems = await user.watched(() => call(user.server, path, path === '/index/gettunnel/' ? { limit: sized(60, 50_000) } : {}));
      expect(problems).toEqual([]);
    },
  );

  test('all of them at once, and by a token that may only read', async () => {
    const problems = await user.watched(() => Promise.all(Object.values(operations).map(([query]) => user.graphql(query, user.tokens.readOnly))));
    expect(problems).toEqual([]);
  });

  test(`${crowd} of the widest lists at once`, async () => {
    const problems = await user.watched(() =>
      Promise.all(Array.from({ length: crowd }, () => user.graphql(operations['the widest list']?.[0] ?? '', user.tokens.token)))
    );
    expect(problems).toEqual([]);
  });

  test('the tunnels of a client whose lists have 1 MB', async () => {
    const problems = await user.watched(() =>
      call(user.server, '/index/gettunnel/', { search: 'one of a client with long lists', limit: many.longestTunnels })
    );
    expect(problems).toEqual([]);
  });

  test('the metrics, the page of the editor, and a page of clients whose lists have 1 MB', async () => {
    const page = async () =>
      (await fetch(`http://127.0.0.1:${user.server.httpPort}/graphql`, { headers: { accept: 'text/html', authorization: `Bearer ${user.tokens.readOnly}` } }))
        .text();
    for (
      const [name, work] of Object.entries({
        metrics: () => metrics(user.server),
        page,
        list: () => call(user.server, '/client/list/', { sort: 'Id', order: 'desc', limit: 10 }),
      })
    ) {
      expect({ name, beyond: await user.watched(work) }).toEqual({ name, beyond: [] });
    }
  });

  test('lists of a user without a limit, many at once', async () => {
    const list = async (path: string) =>
      (await fetch(`http://127.0.0.1:${user.server.httpPort}${path}`, { method: 'POST', headers: { authorization: `Bearer ${user.tokens.token}` } })).text();
    const problems = await user.watched(() =>
      Promise.all(
        ['/client/list/', `/index/gettunnel/?limit=${sized(100, 500)}`, `/index/gettunnel/?search=tunnel&limit=${sized(60, 300)}`, '/index/hostlist/'].map(
          list,
        ),
      )
    );
    expect(problems).toEqual([]);
  });

  test('twelve lists of a user whose clients have long lists of addresses, at once', async () => {
    const list = async () =>
      (await fetch(`http://127.0.0.1:${user.server.httpPort}/client/list/`, { method: 'POST', headers: { authorization: `Bearer ${user.tokens.lister}` } }))
        .text();
    const problems = await user.watched(() => Promise.all(Array.from({ length: 12 }, list)));
    expect(problems).toEqual([]);
  });

  test("an administrator's operations", async () => {
    const { auth_key: key, timestamp } = signedNow();
    const run = async (query: string) =>
      (await fetch(`http://127.0.0.1:${user.server.httpPort}/graphql`, {
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
      expect({ query, beyond: await user.watched(() => run(query)) }).toEqual({ query, beyond: [] });
    }
  });
});
