import { expect, test } from '@jest/globals';
import { schema } from '../../src/schema/schema.ts';
import { testApis, type Api } from '../support/api.ts';
import { testDatabases } from '../support/database.ts';
import { onlineState } from '../support/client-state.ts';
import { subscribe, type Subscription } from '../support/sse.ts';
import { agentsAway } from './graphql-fields.ts';
import { combinations, isAdministrator, isAtLeast, isTheirs, isUnknown, type Least, seenBy } from './roles.ts';
import { lockedAddress, openWorld, timeoutMs, targets, type CallerName, type Target } from './world.ts';

interface Expected {
  readonly least: Least;
  /** The subscription, about the record of this id. */
  readonly field: (id: number) => string;
  /** The error for a caller that may not read the record; absent = the caller receives nothing. */
  readonly refused?: { readonly notTheirs: string; readonly notThere: string };
  /** The values that subscribers receive when everything is changed (`changeAll`). */
  readonly reported: (id: number, caller: CallerName) => readonly unknown[];
  /** The values are sent repeatedly. */
  readonly repeats?: true;
  /** Makes the records different first. */
  readonly given?: string;
  /** Prepares more than records. */
  readonly prepare?: (api: Api) => void | Promise<void>;
  /** It is about no record of somebody's. */
  readonly ofAll?: true;
}

/** What each subscription is to ask for and to tell. One that isn't here fails. */
const expected: Readonly<Record<string, Expected>> = {
  clientChanged: {
    least: 'client login',
    field: (id) => `clientChanged(id: ${id}) { id client { remark } }`,
    reported: (id) => [{ id, client: { remark: 'changed' } }],
  },
  tunnelChanged: {
    least: 'client login',
    field: (id) => `tunnelChanged(id: ${id}) { id tunnel { enabled } }`,
    reported: (id) => [{ id, tunnel: { enabled: false } }],
  },
  hostChanged: { least: 'client login', field: (id) => `hostChanged(id: ${id}) { id host { enabled } }`, reported: (id) => [{ id, host: { enabled: false } }] },
  trafficEverySecond: {
    least: 'client login',
    refused: { notTheirs: 'FORBIDDEN', notThere: 'NOT_FOUND' },
    repeats: true,
    field: (id) => `trafficEverySecond(resource: CLIENT, id: ${id}) { inletBytes }`,
    reported: (id) => [{ inletBytes: 100 * id }],
  },
  connectionsEverySecond: {
    least: 'client login',
    refused: { notTheirs: 'FORBIDDEN', notThere: 'NOT_FOUND' },
    repeats: true,
    field: (id) => `connectionsEverySecond(clientId: ${id}) { total rows { id } }`,
    reported: (id) => [{ total: 1, rows: [{ id }] }],
  },
  serverTrafficEverySecond: {
    least: 'administrator',
    ofAll: true,
    repeats: true,
    field: () => 'serverTrafficEverySecond { inletBytes }',
    reported: () => [{ inletBytes: 600 }],
  },
  trafficOfEachEverySecond: {
    least: 'client login',
    refused: { notTheirs: 'FORBIDDEN', notThere: 'NOT_FOUND' },
    repeats: true,
    field: (id) => `trafficOfEachEverySecond(resource: CLIENT, ids: [${id}]) { id traffic { inletBytes } }`,
    reported: (id) => [[{ id, traffic: { inletBytes: 100 * id } }]],
  },
  userChanged: {
    least: 'administrator',
    ofAll: true,
    field: () => 'userChanged { id user { username } }',
    reported: () => [{ id: 1, user: { username: 'alice' } }],
  },
  lockoutsChanged: {
    least: 'administrator',
    ofAll: true,
    repeats: true,
    prepare: ({ attempts }) => {
      for (let guesses = 0; attempts.lockouts(Date.now()).length === 0; guesses++) attempts.begin('login', lockedAddress, `name ${guesses}`, Date.now());
    },
    field: () => 'lockoutsChanged { kind source }',
    reported: () => [[{ kind: 'ADDRESS', source: lockedAddress }]],
  },
  nodesEverySecond: {
    least: 'administrator',
    ofAll: true,
    repeats: true,
    prepare: async ({ store }) => void await store.node.join({ name: 'one', address: '', linkPort: 1, tlsPort: 2, version: '1.2.3' }),
    field: () => 'nodesEverySecond { name version }',
    reported: () => [[{ name: 'one', version: '1.2.3' }]],
  },
  problemsChanged: {
    least: 'client login',
    ofAll: true,
    repeats: true,
    given: agentsAway,
    field: () => 'problemsChanged { total rows { code client { id } } }',
    reported: (_id, caller) => {
      const rows = seenBy(caller).toReversed().map((id) => ({ code: 'AGENT_AWAY', client: { id } }));
      // Of users, too.
      const more = isAdministrator(caller) ? [{ code: 'USER_EXPIRES', client: null }] : [];
      return [{ total: rows.length + more.length, rows: [...rows, ...more] }];
    },
  },
  auditAdded: {
    least: 'administrator',
    ofAll: true,
    field: () => 'auditAdded { action resource resourceId }',
    reported: () => [
      { action: 'UPDATE', resource: 'USER', resourceId: '1' },
      ...['1', '2', '3'].flatMap((resourceId) => ['TUNNEL', 'HOST', 'CLIENT'].map((resource) => ({ action: 'UPDATE', resource, resourceId }))),
    ],
  },
};

const apis = testApis(testDatabases('sqlite'));

test('every subscription has its expectation, and nothing else has', () => {
  expect(Object.keys(expected).toSorted()).toEqual(Object.keys(schema.getSubscriptionType()?.getFields() ?? {}).toSorted());
});

/** A user, then tunnel, host and client of each number, one after the other. */
async function changeAll(api: Api): Promise<void> {
  expect((await api.signed('/user/edit', { id: 1, remark: 'changed' })).body).toMatchObject({ status: 1 });
  for (const id of [1, 2, 3]) {
    for (const [path, more] of [['/index/stop', {}], ['/index/hoststop', {}], ['/client/edit', { remark: 'changed' }]] as const) {
      expect((await api.signed(path, { id, ...more })).body).toMatchObject({ status: 1 });
    }
  }
}

function expectedReports({ least, refused, reported, ofAll }: Expected, caller: CallerName, target: Target): readonly unknown[] {
  if (isUnknown(caller)) return [];
  if (!isAtLeast(caller, least)) return ['FORBIDDEN'];
  if (!ofAll && target === 'missing') return refused ? [isAdministrator(caller) ? refused.notThere : refused.notTheirs] : [];
  if (!ofAll && !isTheirs(caller, target)) return refused ? [refused.notTheirs] : [];
  return reported(targets[target], caller);
}

/** The next result of a subscription: a value, or the code of an error; undefined = it has ended. */
async function next(subscription: Subscription): Promise<unknown> {
  const event = await subscription.next();
  return event && (event.errors?.[0]?.extensions?.['code'] ?? Object.values(event.data ?? {})[0]);
}

test.each(Object.entries(expected).map(([name, rule], at) => [name, rule, at] as const))('%s', async (_name, rule, at) => {
  const { api, as } = await openWorld(await apis.start());
  if (rule.given !== undefined) await api.store.db.$executeRawUnsafe(rule.given);
  await rule.prepare?.(api);
  for (const id of [1, 2, 3]) {
    api.engine.clients.set(id, onlineState({ inletBytes: 100 * id }));
  }
  const isRefused = (caller: CallerName) => isUnknown(caller) || !isAtLeast(caller, rule.least);
  const calls = await Promise.all(
    combinations({ at, sent: rule.field, isRefused, hasExceptions: false }).map(async ({ caller, target }) => {
      const { headers, parameters } = as(caller);
      const search = new URLSearchParams(Object.entries(parameters).map(([key, value]): [string, string] => [key, String(value)])).toString();
      const subscription = await subscribe(api, `subscription { ${rule.field(targets[target])} }`, headers, {}, search);
      return { caller, target, subscription, wanted: expectedReports(rule, caller, target) };
    }),
  );
  expect(calls.map(({ caller, target, subscription }) => [caller, target, subscription.status])).toEqual(
    calls.map(({ caller, target }) => [caller, target, isUnknown(caller) ? 401 : 200]),
  );

  await changeAll(api);
  await Promise.all(calls.map(async ({ caller, target, subscription, wanted }) => {
    for (const value of wanted) expect([caller, target, await next(subscription)]).toEqual([caller, target, value]);
  }));
  // What they are to hear, all have heard: what they are not to, they would find before the end.
  api.endSubscriptions();
  if (rule.repeats) return;
  const known = calls.filter(({ caller }) => !isUnknown(caller));
  const rest = await Promise.all(known.map(async ({ caller, target, subscription }) => [caller, target, await next(subscription)]));
  expect(rest).toEqual(known.map(({ caller, target }) => [caller, target, undefined]));
}, timeoutMs);
