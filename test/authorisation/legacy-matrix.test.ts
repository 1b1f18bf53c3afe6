import { beforeAll, expect, test } from '@jest/globals';
import { routes } from '../../src/legacy/routes.ts';
import { testApis } from '../support/api.ts';
import { testDatabases } from '../support/database.ts';
import { type Answer, denied, type ExpectedEndpoint, expectedEndpoints } from './legacy-endpoints.ts';
import { combinations, isAdministrator, isAtLeast, isTheirs, isUnknown, isWall } from './roles.ts';
import { openWorld, timeoutMs, targets, type CallerName, type Target, type World } from './world.ts';

const apis = testApis(testDatabases('sqlite'));
let world: World;
beforeAll(async () => {
  world = await openWorld(await apis.start());
}, timeoutMs);

/** How a caller is refused whatever the record is; undefined = that depends on the record. */
function refusalOfAll({ least, notTheirs, reads }: ExpectedEndpoint, caller: CallerName): Answer | undefined {
  if (isUnknown(caller)) return [401, { status: 0, msg: unknownTexts[caller] ?? '' }];
  if (isWall(caller)) return expectsRecord(notTheirs) ? notTheirs : denied;
  if (caller === 'read-only token' && reads !== true) return denied;
  return isAtLeast(caller, least) ? undefined : denied;
}

/** What a call is to be answered with; undefined = it is to be done. */
function refusal(expected: ExpectedEndpoint, caller: CallerName, target: Target): Answer | undefined {
  const { notTheirs, notThere, except } = expected;
  const ofAll = refusalOfAll(expected, caller);
  if (ofAll !== undefined) return ofAll;
  const exception = except?.(caller, target);
  if (exception !== undefined) return exception;
  if (target === 'missing' && isAdministrator(caller)) return notThere;
  return isTheirs(caller, target) ? undefined : notTheirs;
}

/** A single record that is refused looks like one that isn't there. */
function expectsRecord(notTheirs: Answer | undefined): notTheirs is Answer {
  return JSON.stringify(notTheirs?.[1]) === '{"code":0}';
}

const unknownTexts: Partial<Record<CallerName, unknown>> = {
  anonymous: 'missing auth_key/timestamp',
  'bad signature': 'bad auth_key',
  'expired signature': expect.stringMatching(/^timestamp outside the 20 second window \(server time \d+\)$/),
  'disabled user': 'invalid token',
  'expired user': 'invalid token',
};

test('every endpoint for known callers has its expectation, and nothing else has', () => {
  expect([...new Set(Object.keys(expectedEndpoints).map((name) => name.replace(/ .*/, '')))].toSorted())
    .toEqual(routes.filter(({ access }) => access === 'caller').map(({ path }) => path).toSorted());
});

test.each(Object.entries(expectedEndpoints).map(([name, expected], at) => [name, expected, at] as const))('%s', async (name, expected, at) => {
  const [path = ''] = name.split(' ');
  const restore = async () => {
    await world.restore();
    if (expected.given !== undefined) await world.api.store.db.$executeRawUnsafe(expected.given);
  };
  const ask = async (caller: CallerName, target: Target): Promise<Answer> => {
    const { headers, parameters } = world.as(caller);
    const { status, body } = await world.api.call(path, { ...parameters, ...expected.send(targets[target]) }, { headers });
    return [status, body];
  };
  const calls = combinations({
    at,
    sent: (id) => JSON.stringify(expected.send(id)),
    isRefused: (caller) => refusalOfAll(expected, caller) !== undefined,
    hasExceptions: expected.except !== undefined,
  }).map(({ caller, target }) => ({ caller, target, refused: refusal(expected, caller, target) }));
  const found: Record<string, unknown> = {};
  const wanted: Record<string, unknown> = {};

  await restore();
  const before = world.differences();
  for (const { caller, target, refused } of calls) {
    if (refused === undefined) continue;
    found[`${caller}, ${target}`] = await ask(caller, target);
    wanted[`${caller}, ${target}`] = refused;
  }
  expect(found).toEqual(wanted);
  expect(world.differences()).toEqual(before);

  let changed = false;
  for (const { caller, target, refused } of calls) {
    if (refused !== undefined) continue;
    if (changed) await restore();
    changed = expected.does !== undefined;
    const body = expected.body(targets[target], caller);
    expect([caller, target, await ask(caller, target)]).toEqual([caller, target, [200, body]]);
    expect([caller, target, world.differences()]).toEqual([caller, target, expected.does?.(targets[target], caller) ?? before]);
  }
}, timeoutMs);

test('what an administrator switched off, a user does not switch on, also not by switching it off once more', async () => {
  await world.restore();
  const status = async (as: CallerName, value: number) =>
    (await world.api.call('/client/changestatus/', { id: 1, status: value, ...world.as(as).parameters }, world.as(as))).body;
  const done = { status: 1, msg: 'modified success' };
  expect([await status('owner', 0), await status('owner', 1)]).toEqual([done, done]);
  expect([await status('signature', 0), await status('owner', 1)]).toEqual([done, { status: 0, msg: 'permission denied' }]);
  expect([await status('owner', 0), await status('owner', 1)]).toEqual([done, { status: 0, msg: 'permission denied' }]);
  expect([await status('signature', 1), await status('owner', 0), await status('owner', 1)]).toEqual([done, done, done]);
});
