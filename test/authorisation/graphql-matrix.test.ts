import { beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { schema } from '../../src/schema/schema.ts';
import { testApis } from '../support/api.ts';
import { testDatabases } from '../support/database.ts';
import { parseWithNumbers } from '../support/record-ids.ts';
import { type ExpectedField, expectedFields, type Outcome } from './graphql-fields.ts';
import { combinations, isAdministrator, isAtLeast, isTheirs, isUnknown, isWall } from './roles.ts';
import { openWorld, timeoutMs, targets, type CallerName, type Target, type World } from './world.ts';

const apis = testApis(testDatabases('sqlite'));
let world: World;
beforeAll(async () => {
  world = await openWorld(await apis.start());
}, timeoutMs);

const answer = z.object({
  data: z.record(z.string(), z.unknown()).nullish(),
  errors: z.array(z.object({ message: z.string(), extensions: z.object({ code: z.string().optional() }).optional() })).optional(),
});

/** What becomes of a call: the value of its one field, or the code of the error. */
async function outcomeOf(operation: string, caller: CallerName): Promise<Outcome> {
  const { headers, parameters } = world.as(caller);
  const search = new URLSearchParams(Object.entries(parameters).map(([key, value]): [string, string] => [key, String(value)])).toString();
  const response = await fetch(`${world.api.url}/graphql?${search}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query: operation }),
  });
  const { data, errors } = answer.parse(parseWithNumbers(await response.text()));
  const [error] = errors ?? [];
  return error === undefined ? { data: Object.values(data ?? {})[0] } : error.extensions?.code ?? error.message;
}

/** How a caller is refused whatever the record is; undefined = that depends on the record. */
function refusalOfAll(type: string, { least }: ExpectedField, caller: CallerName): Outcome | undefined {
  if (isUnknown(caller)) return 'UNAUTHENTICATED';
  if ((caller === 'read-only token' || isWall(caller)) && type === 'Mutation') return 'FORBIDDEN';
  return isAtLeast(caller, least) ? undefined : 'FORBIDDEN';
}

/** What is to become of it; undefined = it is to be done. */
function refusal(type: string, expected: ExpectedField, caller: CallerName, target: Target): Outcome | undefined {
  const { notTheirs, notThere, except } = expected;
  const ofAll = refusalOfAll(type, expected, caller);
  if (ofAll !== undefined) return ofAll;
  const exception = except?.(caller, target);
  if (exception !== undefined) return exception;
  if (target === 'missing' && isAdministrator(caller)) return notThere;
  return isTheirs(caller, target) ? undefined : notTheirs;
}

test('every root field has its expectation, and nothing else has', () => {
  const fields = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
    Object.keys(type?.getFields() ?? {}).map((name) => `${type?.name}.${name}`)
  );
  expect([...new Set(Object.keys(expectedFields).map((name) => name.replace(/ .*/, '')))].toSorted()).toEqual(fields.toSorted());
});

test.each(Object.entries(expectedFields).map(([name, expected], at) => [name, expected, at] as const))('%s', async (name, expected, at) => {
  const [type = ''] = name.split('.');
  const restore = async () => {
    await world.restore();
    if (expected.given !== undefined) await world.api.store.db.$executeRawUnsafe(expected.given);
  };
  const ask = (caller: CallerName, target: Target) => outcomeOf(`${type.toLowerCase()} { ${expected.field(targets[target])} }`, caller);
  const calls = combinations({
    at,
    sent: expected.field,
    isRefused: (caller) => refusalOfAll(type, expected, caller) !== undefined,
    hasExceptions: expected.except !== undefined,
  }).map(({ caller, target }) => ({ caller, target, refused: refusal(type, expected, caller, target) }));
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
    const data = expected.value(targets[target], caller);
    expect([caller, target, await ask(caller, target)]).toEqual([caller, target, { data }]);
    expect([caller, target, world.differences()]).toEqual([caller, target, expected.does?.(targets[target], caller) ?? before]);
  }
}, timeoutMs);
