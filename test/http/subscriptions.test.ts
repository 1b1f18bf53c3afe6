import { ServerResponse } from 'node:http';
import { expect, jest, test } from '@jest/globals';
import { z } from 'zod';
import { onlineState } from '../support/client-state.ts';
import { EventRate, eventCostPerSecond } from '../../src/http/event-results.ts';
import { limits } from '../../src/http/graphql-limits.ts';
import { newToken } from '../../src/schema/access/tokens.ts';
import { rowLimits } from '../../src/schema/lists/page.ts';
import { eventually, eventuallyAsync } from '../support/eventually.ts';
import { basic, testApps, type TestApp } from '../support/http.ts';
import { seedClients, seedHosts, seedTunnels } from '../support/seed.ts';
import { subscribe } from '../support/sse.ts';
import { tunnelOf } from '../support/tunnel.ts';
import { hostOf } from '../support/vhost.ts';

const start = testApps();
const online = onlineState({ connections: 2, rate: 1000, inletRate: 700, exportRate: 300, inletBytes: 600, exportBytes: 400 });
const clientChanged = 'subscription { clientChanged { id client { remark runtime { connected } } } }';

/** A user with a token. */
async function makeUser({ api }: TestApp, username: string): Promise<{ id: number; tokenId: number; headers: Record<string, string> }> {
  const { db } = api.services.store;
  const { id } = await db.user.create({ data: { username, passwordHash: '' } });
  const { token, hash } = newToken();
  const row = await db.apiToken.create({ data: { userId: id, name: 'test', hash } });
  return { id, tokenId: row.id, headers: { authorization: `Bearer ${token}` } };
}

test('agents that connect or disconnect are published at once, as server-sent events, with the current state', async () => {
  const app = await start();
  const [id = 0] = await seedClients(app.api.services.store, 1);
  const waits = jest.spyOn(EventRate.prototype, 'wait');
  const events = await subscribe(app, clientChanged, basic());
  expect([events.status, events.contentType]).toEqual([200, 'text/event-stream']);
  app.api.engine.clients.set(id, online);
  app.api.engine.tell('client', id);
  expect(await events.next()).toEqual({ data: { clientChanged: { id, client: { remark: 'office 1', runtime: { connected: true } } } } });
  expect(waits.mock.calls).toEqual([['admin', 6]]);
  waits.mockRestore();
  app.api.engine.clients.set(id, { ...online, connected: false });
  app.api.engine.tell('client', id);
  expect(await events.next()).toEqual({ data: { clientChanged: { id, client: { remark: 'office 1', runtime: { connected: false } } } } });
});

test('changes, stops and deletions of tunnels and hosts are published, optionally for a single one', async () => {
  const app = await start();
  const [client = 0] = await seedClients(app.api.services.store, 1);
  const [first = 0, second = 0] = await seedTunnels(app.api.services.store, client, 2);
  const [host = 0] = await seedHosts(app.api.services.store, client, 1);
  const all = await subscribe(app, 'subscription { tunnelChanged { id tunnel { enabled } } }', basic());
  const one = await subscribe(app, 'subscription ($id: ID) { tunnelChanged(id: $id) { id tunnel { enabled } } }', basic(), { id: second });
  const hosts = await subscribe(app, 'subscription { hostChanged { id host { enabled } } }', basic());
  await app.graphql({ query: `mutation { stopTunnel(id: ${first}) { id } }` });
  expect(await all.next()).toEqual({ data: { tunnelChanged: { id: first, tunnel: { enabled: false } } } });
  await app.graphql({ query: `mutation { deleteTunnel(id: ${second}) stopHost(id: ${host}) { id } }` });
  expect(await all.next()).toEqual({ data: { tunnelChanged: { id: second, tunnel: null } } });
  expect(await one.next()).toEqual({ data: { tunnelChanged: { id: second, tunnel: null } } });
  expect(await hosts.next()).toEqual({ data: { hostChanged: { id: host, host: { enabled: false } } } });
});

test('a target that leaves the rotation of a tunnel or host is published with its error', async () => {
  const app = await start();
  const { engine, services } = app.api;
  const [client = 0] = await seedClients(services.store, 1);
  const [tunnel = 0] = await seedTunnels(services.store, client, 1);
  const [host = 0] = await seedHosts(services.store, client, 1);
  const health = 'runtime { health { type intervalSeconds timeoutSeconds maxFailed path targets { target healthy failures since lastError } } }';
  const tunnels = await subscribe(app, `subscription { tunnelChanged { tunnel { ${health} } } }`, basic());
  const hosts = await subscribe(app, `subscription { hostChanged { host { ${health} } } }`, basic());
  const state = {
    intervalMs: 10_000,
    timeoutMs: 2500,
    maxFailed: 3,
    targets: [{ target: 'a:1', healthy: false, failures: 3, since: 0, lastError: 'refused' }, {
      target: 'b:2',
      healthy: true,
      failures: 0,
      since: null,
      lastError: '',
    }],
  };
  engine.health.set(`tunnel ${tunnel}`, { ...state, type: 'tcp', path: '' }).set(`host ${host}`, { ...state, type: 'http', path: '/x' });
  engine.wantedTunnels.set(tunnel, { ...tunnelOf({}), id: tunnel });
  engine.wantedHosts.set(host, { ...hostOf({}), id: host });
  engine.tell('tunnel', tunnel);
  engine.tell('host', host);
  const shown = {
    intervalSeconds: 10,
    timeoutSeconds: 2.5,
    maxFailed: 3,
    targets: [{ target: 'a:1', healthy: false, failures: 3, since: '1970-01-01T00:00:00.000Z', lastError: 'refused' }, {
      target: 'b:2',
      healthy: true,
      failures: 0,
      since: null,
      lastError: null,
    }],
  };
  expect(await tunnels.next()).toEqual({ data: { tunnelChanged: { tunnel: { runtime: { health: { ...shown, type: 'TCP', path: null } } } } } });
  expect(await hosts.next()).toEqual({ data: { hostChanged: { host: { runtime: { health: { ...shown, type: 'HTTP', path: '/x' } } } } } });
  engine.health.clear();
  engine.tell('tunnel', tunnel);
  expect(await tunnels.next()).toEqual({ data: { tunnelChanged: { tunnel: { runtime: { health: null } } } } });
});

test('a user receives only events of their own records, including when one is taken away', async () => {
  const app = await start();
  const [alice, bob] = await Promise.all([makeUser(app, 'alice'), makeUser(app, 'bob')]);
  const [alices = 0, bobs = 0] = await seedClients(app.api.services.store, 2, (n) => ({ userId: n === 1 ? alice.id : bob.id }));
  const events = await subscribe(app, clientChanged, alice.headers);
  for (const id of [bobs, alices]) await app.graphql({ query: `mutation { updateClient(id: ${id}, input: { remark: "changed" }) { id } }` });
  expect(await events.next()).toMatchObject({ data: { clientChanged: { id: alices, client: { remark: 'changed' } } } });
  await app.graphql({ query: `mutation { updateClient(id: ${alices}, input: { ownerId: ${bob.id} }) { id } }` });
  expect(await events.next()).toMatchObject({ data: { clientChanged: { id: alices, client: null } } });
  const audit = await subscribe(app, 'subscription { auditAdded { id } }', alice.headers);
  expect((await audit.next())?.errors?.[0]?.extensions?.['code']).toBe('FORBIDDEN');
  const traffic = await subscribe(app, `subscription { trafficEverySecond(resource: CLIENT, id: ${bobs}) { rate } }`, alice.headers);
  expect((await traffic.next())?.errors?.[0]?.extensions?.['code']).toBe('FORBIDDEN');
});

test.each(['TUNNEL', 'HOST'])(
  "traffic of a %s ends for its former owner when it moves to somebody else's client, directly or with its client",
  async (kind) => {
    const app = await start();
    const { engine, services: { store } } = app.api;
    const [alice, bob] = await Promise.all([makeUser(app, 'alice'), makeUser(app, 'bob')]);
    const [first = 0, second = 0, bobs = 0] = await seedClients(store, 3, (n) => ({ userId: n < 3 ? alice.id : bob.id }));
    const [moved = 0, carried = 0] = await (kind === 'TUNNEL' ? seedTunnels : seedHosts)(store, first, 2);
    for (const id of [moved, carried]) {
      engine.wantedTunnels.set(id, { ...tunnelOf({}), id });
      engine.wantedHosts.set(id, { ...hostOf({}), id });
    }
    const update = kind === 'TUNNEL' ? 'updateTunnel' : 'updateHost';
    const move = async (id: number, client: number) =>
      expect(await (await app.graphql({ query: `mutation { ${update}(id: ${id}, input: { clientId: ${client} }) { id } }` })).json()).toMatchObject({
        data: { [update]: { id: String(id) } },
      });
    const trafficOf = (id: number) => subscribe(app, `subscription { trafficEverySecond(resource: ${kind}, id: ${id}) { rate } }`, alice.headers);
    const each = await subscribe(app, `subscription { trafficOfEachEverySecond(resource: ${kind}, ids: [${moved}, ${carried}]) { id } }`, alice.headers);
    const [ofMoved, ofCarried] = await Promise.all([trafficOf(moved), trafficOf(carried)]);
    expect(await ofMoved.next()).toEqual({ data: { trafficEverySecond: { rate: 0 } } });

    await Promise.all([move(moved, bobs), move(carried, second)]);
    await ends(ofMoved);
    expect(await ofCarried.next()).toEqual({ data: { trafficEverySecond: { rate: 0 } } });
    // Its new client is the one that counts from now on.
    await app.graphql({ query: `mutation { updateClient(id: ${second}, input: { ownerId: ${bob.id} }) { id } }` });
    await Promise.all([ends(ofCarried), ends(each)]);
  },
);

test('traffic of several records is limited to as many as a page has; duplicates count once', async () => {
  const app = await start();
  const [id = 0] = await seedClients(app.api.services.store, 1);
  app.api.engine.clients.set(id, online);
  const query = 'subscription ($ids: [ID!]!) { trafficOfEachEverySecond(resource: CLIENT, ids: $ids) { traffic { rate } } }';
  const trafficOf = (ids: readonly number[]) => subscribe(app, query, basic(), { ids });
  const same = await trafficOf(Array.from({ length: rowLimits.most + 1 }, () => id));
  expect(await same.next()).toEqual({ data: { trafficOfEachEverySecond: [{ traffic: { rate: 1000 } }] } });
  const different = await trafficOf(Array.from({ length: rowLimits.most + 1 }, (_, index) => id + index));
  expect((await different.next())?.errors?.[0]?.extensions).toMatchObject({ code: 'INVALID_INPUT', field: 'ids', most: rowLimits.most });
});

/** Reads what was sent before, until the subscription ends. */
async function ends(subscription: Awaited<ReturnType<typeof subscribe>>): Promise<void> {
  while (await subscription.next() !== undefined);
}

test('ends when the caller loses access: disabled, or the token revoked', async () => {
  const app = await start();
  const [alice, bob] = await Promise.all([makeUser(app, 'alice'), makeUser(app, 'bob')]);
  const [alices, bobs] = await Promise.all([subscribe(app, clientChanged, alice.headers), subscribe(app, clientChanged, bob.headers)]);
  await app.graphql({ query: `mutation { setUserEnabled(id: ${alice.id}, enabled: false) { id } }` });
  expect(await alices.next()).toBeUndefined();
  await app.api.services.store.db.apiToken.delete({ where: { id: bob.tokenId } });
  expect(await bobs.next()).toBeUndefined();
});

test('traffic comes every second; the audit log as it is written', async () => {
  const app = await start();
  const [id = 0] = await seedClients(app.api.services.store, 1);
  app.api.engine.clients.set(id, online);
  const traffic = await subscribe(
    app,
    `subscription { trafficEverySecond(resource: CLIENT, id: ${id}) { rate inletRate exportRate connections inletBytes exportBytes } }`,
    basic(),
  );
  const audit = await subscribe(app, 'subscription { auditAdded { action resource resourceId callerKind method } }', basic());
  for (let n = 0; n < 2; n++) {
    expect(await traffic.next()).toEqual({
      data: { trafficEverySecond: { rate: 1000, inletRate: 700, exportRate: 300, connections: 2, inletBytes: 600, exportBytes: 400 } },
    });
  }
  const host = z.object({ data: z.object({ createHost: z.object({ id: z.coerce.number() }) }) }).parse(
    await (await app.graphql({ query: `mutation { createHost(input: { clientId: ${id}, host: "a.example.com", targets: ["80"] }) { id } }` })).json(),
  ).data.createHost.id;
  const ofHost = await subscribe(app, `subscription { trafficEverySecond(resource: HOST, id: ${host}) { rate connections } }`, basic());
  expect(await ofHost.next()).toEqual({ data: { trafficEverySecond: { rate: 0, connections: 0 } } });
  expect(await audit.next()).toMatchObject({ data: { auditAdded: { action: 'CREATE', resource: 'HOST' } } });
  await app.graphql({ query: `mutation { deleteClient(id: ${id}) }` });
  expect(await audit.next()).toEqual({
    data: { auditAdded: { action: 'DELETE', resource: 'CLIENT', resourceId: String(id), callerKind: 'ADMINISTRATOR', method: 'PASSWORD' } },
  });
});

test("every second the sum of a user's clients as they come and go, for the user and administrators; of all clients, for administrators", async () => {
  const app = await start();
  const { engine, services } = app.api;
  const [alice, bob] = await Promise.all([makeUser(app, 'alice'), makeUser(app, 'bob')]);
  const ids = await seedClients(services.store, 4, (n) => ({ userId: n === 3 ? bob.id : alice.id }));
  // The engine does not know the last one, as after its start.
  for (const id of ids.slice(0, 3)) engine.clients.set(id, online);
  const sums = (n: number) => ({
    rate: n * 1000,
    inletRate: n * 700,
    exportRate: n * 300,
    connections: n * 2,
    inletBytes: n * 600,
    exportBytes: n * 400,
  });
  const traffic = (id: number) =>
    `subscription { trafficEverySecond(resource: USER, id: ${id}) { rate inletRate exportRate connections inletBytes exportBytes } }`;
  const alices = await subscribe(app, traffic(alice.id), alice.headers);
  expect(await alices.next()).toEqual({ data: { trafficEverySecond: sums(2) } });
  expect((await (await subscribe(app, traffic(bob.id), alice.headers)).next())?.errors?.[0]?.extensions?.['code']).toBe('FORBIDDEN');
  const all = 'subscription { serverTrafficEverySecond { rate inletRate exportRate connections inletBytes exportBytes } }';
  expect((await (await subscribe(app, all, alice.headers)).next())?.errors?.[0]?.extensions?.['code']).toBe('FORBIDDEN');
  expect(await (await subscribe(app, all, basic())).next()).toEqual({ data: { serverTrafficEverySecond: sums(3) } });
  const server = 'subscription { trafficEverySecond(resource: SERVER) { rate inletRate exportRate connections inletBytes exportBytes } }';
  expect((await (await subscribe(app, server, alice.headers)).next())?.errors?.[0]?.extensions?.['code']).toBe('FORBIDDEN');
  expect(await (await subscribe(app, server, basic())).next()).toEqual({ data: { trafficEverySecond: sums(3) } });
  for (const resource of ['SERVER', 'USER']) {
    const each = await subscribe(app, `subscription { trafficOfEachEverySecond(resource: ${resource}, ids: [${alice.id}]) { id } }`, basic());
    expect((await each.next())?.errors?.[0]?.extensions).toMatchObject({ code: 'INVALID_INPUT', field: 'resource' });
  }
  const next = async (wanted: object) => {
    while (JSON.stringify((await alices.next())?.data?.['trafficEverySecond']) !== JSON.stringify(wanted));
  };
  await app.graphql({ query: `mutation { updateClient(id: ${ids[2]}, input: { ownerId: ${alice.id} }) { id } }` });
  await next(sums(3));
  await app.graphql({ query: `mutation { updateClient(id: ${ids[0]}, input: { ownerId: ${bob.id} }) { id } deleteClient(id: ${ids[1]}) }` });
  await next(sums(1));
});

test('a user has a limited number of subscriptions, and those that leave make room', async () => {
  const app = await start();
  const alice = await makeUser(app, 'alice');
  const subscriptions = await Promise.all(Array.from({ length: 20 }, () => subscribe(app, clientChanged, alice.headers)));
  const refused = await subscribe(app, clientChanged, alice.headers);
  expect((await refused.next())?.errors?.[0]?.extensions?.['code']).toBe('SUBSCRIPTION_LIMIT');
  subscriptions[0]?.stop();
  await eventually(() => app.api.services.live.subscribers, (count) => count === 19);
  expect((await subscribe(app, clientChanged, alice.headers)).contentType).toBe('text/event-stream');
});

test('a subscriber who leaves while the subscription begins takes no place', async () => {
  const app = await start();
  const { store, live } = app.api.services;
  const [id = 0] = await seedClients(store, 1);
  const opened = jest.spyOn(live, 'everySecondOf');
  const { byIds } = store;
  let look = (): void => undefined;
  const left = new Promise<void>((resolve) => {
    look = resolve;
  });
  const asked = new Promise<void>((resolve) => {
    // The first step of the subscription is to look whether the client is the caller's.
    const wait = async (...args: Parameters<typeof byIds>) => {
      resolve();
      await left;
      return byIds.apply(store, args);
    };
    jest.spyOn(store, 'byIds').mockImplementationOnce(wait);
  });
  const controller = new AbortController();
  const response = fetch(`${app.url}/graphql`, {
    method: 'POST',
    signal: controller.signal,
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...basic() },
    body: JSON.stringify({ query: `subscription { connectionsEverySecond(clientId: ${id}) { total } }` }),
  });
  await asked;
  const { connections } = app;
  controller.abort();
  await expect(response).rejects.toThrow('aborted');
  await eventually(() => app.connections, (count) => count < connections);
  look();
  await eventually(() => opened.mock.calls.length, (count) => count === 1);
  await eventually(() => live.subscribers, (count) => count === 0);
});

test('a subscriber who reads gets the error that too many events were waiting', async () => {
  const app = await start();
  const ids = await seedClients(app.api.services.store, 258);
  const events = await subscribe(app, clientChanged, basic());
  let go = (): void => undefined;
  const wait = jest.spyOn(EventRate.prototype, 'wait').mockImplementation(() =>
    new Promise((resolve) => {
      go = resolve;
    })
  );
  for (const id of ids) app.api.engine.tell('client', id);
  await eventually(() => app.api.services.live.subscribers, (count) => count === 0);
  go();
  expect(await events.next()).toMatchObject({ data: { clientChanged: { id: ids[0] } } });
  expect(await events.next()).toMatchObject({ errors: [{ extensions: { code: 'SUBSCRIBER_TOO_SLOW' } }] });
  expect(await events.next()).toBeUndefined();
  wait.mockRestore();
});

test('a subscriber who does not read is disconnected when too many events are waiting', async () => {
  const app = await start();
  const ids = await seedClients(app.api.services.store, 258);
  const events = await subscribe(app, clientChanged, basic());
  // What the kernel takes without a reader depends on the machine.
  Object.defineProperty(ServerResponse.prototype, 'writableNeedDrain', { configurable: true, get: () => true });
  try {
    const wait = jest.spyOn(EventRate.prototype, 'wait').mockReturnValue(new Promise(() => undefined));
    for (const id of ids) app.api.engine.tell('client', id);
    await expect(events.next()).rejects.toThrow('terminated');
    wait.mockRestore();
  } finally {
    Reflect.deleteProperty(ServerResponse.prototype, 'writableNeedDrain');
  }
});

test('the open connections of a client come once a second, with what their tunnel is at that time; problems as far as they are wanted', async () => {
  const app = await start();
  const { engine, services: { store } } = app.api;
  const [client = 0] = await seedClients(store, 3, () => ({ flowLimit: 1, inletBytes: 2n ** 21n }));
  const [id = 0] = await seedTunnels(store, client, 1);
  for (let n = 0; n < 201; n++) engine.addVisitor(client, { kind: 'tunnel', id });
  const problems = await subscribe(app, 'subscription { problemsChanged(limit: 2) { total rows { code client { remark } } } }', basic());
  const connections = await subscribe(app, `subscription { connectionsEverySecond(clientId: ${client}) { total rows { id tunnel { remark } } } }`, basic());
  for (const remark of ['before', 'after']) {
    await store.db.tunnel.update({ where: { id }, data: { remark } });
    const rows = Array.from({ length: 200 }, (_, n) => ({ id: n + 1, tunnel: { remark } }));
    await eventuallyAsync(
      () => connections.next(),
      (event) => JSON.stringify(event) === JSON.stringify({ data: { connectionsEverySecond: { total: 201, rows } } }),
    );
  }
  const used = (n: number) => ({ code: 'TRAFFIC_USED_UP', client: { remark: `office ${n}` } });
  expect(await problems.next()).toEqual({ data: { problemsChanged: { total: 3, rows: [used(1), used(2)] } } });
});

test('a subscription whose events could return too much is refused, and what its events cost in a second is limited', async () => {
  const app = await start();
  const refused = await subscribe(
    app,
    'subscription { clientChanged { client { tunnels(limit: 200) { rows { id port client { id hosts(limit: 10) { rows { id } } } } } } } }',
    basic(),
  );
  expect((await refused.next())?.errors?.[0]?.extensions).toEqual({ code: 'OPERATION_TOO_COSTLY', most: limits.eventCost });
  const rate = new EventRate();
  const begun = performance.now();
  // The first is free of waiting, each of the others waits for those before.
  await Promise.all(Array.from({ length: 6 }, () => rate.wait('user 1', eventCostPerSecond / 10)));
  expect(performance.now() - begun).toBeGreaterThan(490);
  // Nobody waits for others.
  const ended: string[] = [];
  const between = new EventRate();
  await between.wait('user 1', eventCostPerSecond / 3);
  const waiting = between.wait('user 1', 1).then(() => ended.push('user 1'));
  await between.wait('user 2', eventCostPerSecond).then(() => ended.push('user 2'));
  await waiting;
  expect(ended).toEqual(['user 2', 'user 1']);
});
