import { beforeAll, expect, test } from '@jest/globals';
import { getNamedType, isEnumType, isInputObjectType, isLeafType, isNonNullType, type GraphQLField, type GraphQLInputType } from 'graphql';
import { z } from 'zod';
import { schema } from '../../src/schema/schema.ts';
import { testApis } from '../support/api.ts';
import { testDatabases } from '../support/database.ts';
import { callers, openWorld, password, targets, type CallerName, type Target, type World } from './world.ts';

/** The least that a caller of a root field has to be, and whether it is about a record of somebody's. */
type Rule = 'administrator' | 'user' | 'any' | 'own record, user' | 'own record, any' | 'own account';

/** What each root field is to ask for. A field that isn't here fails. */
const rules: Readonly<Record<string, Rule>> = {
  'Query.server': 'any', 'Query.viewer': 'any', 'Query.lockouts': 'administrator',
  'Query.user': 'own account', 'Query.users': 'administrator', 'Query.apiTokens': 'own account', 'Query.legacyApiToken': 'own account',
  'Query.client': 'own record, any', 'Query.clients': 'any', 'Query.tunnel': 'own record, any', 'Query.tunnels': 'own record, any',
  'Query.host': 'own record, any', 'Query.hosts': 'own record, any', 'Query.platformHostAvailable': 'any', 'Query.platformDomains': 'any',
  'Query.globalSettings': 'administrator', 'Query.diagnoseHost': 'any', 'Query.diagnoseTunnel': 'own record, any',
  'Query.traffic': 'own record, any', 'Query.auditEntries': 'administrator',
  'Mutation.createUser': 'administrator', 'Mutation.updateUser': 'administrator', 'Mutation.setUserEnabled': 'administrator',
  'Mutation.deleteUser': 'administrator', 'Mutation.changePassword': 'any', 'Mutation.freeLockout': 'administrator',
  'Mutation.createApiToken': 'user', 'Mutation.revokeApiToken': 'own record, user',
  'Mutation.regenerateLegacyApiToken': 'own account', 'Mutation.revokeLegacyApiToken': 'own account',
  'Mutation.createClient': 'any', 'Mutation.updateClient': 'own record, any', 'Mutation.setClientEnabled': 'own record, user', 'Mutation.deleteClient': 'own record, user',
  'Mutation.createTunnel': 'own record, any', 'Mutation.copyTunnel': 'own record, any', 'Mutation.updateTunnel': 'own record, any',
  'Mutation.startTunnel': 'own record, any', 'Mutation.stopTunnel': 'own record, any', 'Mutation.deleteTunnel': 'own record, any',
  'Mutation.createHost': 'own record, any', 'Mutation.updateHost': 'own record, any', 'Mutation.startHost': 'own record, any',
  'Mutation.stopHost': 'own record, any', 'Mutation.deleteHost': 'own record, any', 'Mutation.saveGlobalSettings': 'administrator',
};

/** Whom each subscription lets in. What they then hear, test/http/subscriptions.test.ts proves. */
const subscriptions = {
  clientChanged: { clientLogin: true }, tunnelChanged: { clientLogin: true }, hostChanged: { clientLogin: true },
  trafficEverySecond: { clientLogin: true }, auditAdded: { administrator: true },
};

const answer = z.object({
  data: z.record(z.string(), z.unknown()).nullish(),
  errors: z.array(z.object({ extensions: z.object({ code: z.string().optional() }).optional() })).optional(),
});

const fields = (['Query', 'Mutation'] as const).flatMap((type) => {
  const root = type === 'Query' ? schema.getQueryType() : schema.getMutationType();
  return Object.values(root?.getFields() ?? {}).map((field) => [`${type}.${field.name}`, field] as const);
});

/** The arguments of a field, about the record with this id. */
function argumentsFor(field: GraphQLField<unknown, unknown>, id: number): string {
  const given = field.args.filter(({ name, type }) => isNonNullType(type) || names.has(name)).map(({ name, type }) => `${name}: ${literal(name, type, id, field.name)}`);
  return given.length === 0 ? '' : `(${given.join(', ')})`;
}

const names: ReadonlySet<string> = new Set(['clientId', 'userId', 'currentPassword']);

/** A value that means something: the record's id, and what a new record can't be without. */
function literal(name: string, type: GraphQLInputType, id: number, field: string): string {
  const named = getNamedType(type);
  if (isEnumType(named)) return named.getValues()[0]?.name ?? '';
  if (isInputObjectType(named)) return inputs[field]?.(id) ?? '{}';
  if (name === 'currentPassword') return JSON.stringify(password);
  switch (named.name) {
    case 'Int': return String(id);
    case 'Boolean': return 'true';
    case 'DateTime': return '"2026-01-01T00:00:00Z"';
    default: return name === 'platformDomainId' ? '"d"' : name === 'newPassword' ? '"new password"' : '"host1.example.com"';
  }
}

const inputs: Readonly<Record<string, (id: number) => string>> = {
  createUser: () => '{ username: "new", password: "new password" }',
  createApiToken: () => '{ name: "new" }',
  createTunnel: (id) => `{ clientId: ${id}, mode: tcp, targets: ["22"] }`,
  createHost: (id) => `{ clientId: ${id}, host: "new.example.com", targets: ["80"] }`,
};

const apis = testApis(testDatabases('sqlite'));
let world: World;
beforeAll(async () => { world = await openWorld(await apis.start()); });

/** What became of a field: 'done', 'nothing' for null, or the code of the error. */
async function outcomeOf(name: string, field: GraphQLField<unknown, unknown>, caller: CallerName, target: Target): Promise<string> {
  const { headers, parameters } = world.as(caller);
  const selection = isLeafType(getNamedType(field.type)) ? '' : ' { __typename }';
  const query = `${name.startsWith('Query') ? 'query' : 'mutation'} { ${field.name}${argumentsFor(field, targets[target])}${selection} }`;
  const search = new URLSearchParams(Object.entries(parameters).map(([key, value]): [string, string] => [key, String(value)])).toString();
  const response = await fetch(`${world.api.url}/graphql?${search}`, {
    method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify({ query }),
  });
  const { data, errors } = answer.parse(await response.json());
  const [error] = errors ?? [];
  if (error !== undefined) return error.extensions?.code ?? `an error without a code for ${query}`;
  return data?.[field.name] === null ? 'nothing' : 'done';
}

const unknown: ReadonlySet<CallerName> = new Set(['anonymous', 'bad signature', 'expired signature', 'disabled user', 'expired user']);
const administrators: ReadonlySet<CallerName> = new Set(['administrator session', 'signature']);

/** Whether a caller is to be let in to a field, and to a record. */
function mayCall(rule: Rule, name: string, caller: CallerName, target: Target): boolean {
  if (caller === 'read-only token' && name.startsWith('Mutation')) return false;
  if (administrators.has(caller)) return true;
  if (rule === 'administrator') return false;
  if (rule !== 'any' && rule !== 'own record, any' && caller === 'legacy client login') return false;
  return !rule.startsWith('own') || target === (caller === 'other user' ? "another's" : 'own');
}

test('every root field has its rule, and nothing else has', () => {
  expect(Object.keys(rules).toSorted()).toEqual(fields.map(([name]) => name).toSorted());
  const declared = Object.values(schema.getSubscriptionType()?.getFields() ?? {}).map((field) => [field.name, scoped.parse(field.extensions['pothosOptions']).authScopes]);
  expect(Object.fromEntries(declared)).toEqual(subscriptions);
});

const scoped = z.object({ authScopes: z.record(z.string(), z.boolean()) });

test.each(fields.filter(([name]) => name in rules))('%s', async (name, field) => {
  const rule = rules[name];
  if (rule === undefined) throw new Error(`${name} has no rule`);
  const wrong: string[] = [];
  const calls = callers.flatMap((caller) => (['own', "another's", 'unassigned', 'missing'] as const).map((target) => ({ caller, target })));
  const isDenied = ({ caller, target }: typeof calls[number]) => unknown.has(caller) || !mayCall(rule, name, caller, target);
  await world.restore();
  const before = await world.snapshot();
  for (const call of calls.filter(isDenied)) {
    const outcome = await outcomeOf(name, field, call.caller, call.target);
    const wanted = unknown.has(call.caller) ? ['UNAUTHENTICATED'] : ['FORBIDDEN', 'NOT_FOUND', 'nothing'];
    if (!wanted.includes(outcome)) wrong.push(`${call.caller}, ${call.target}: ${outcome} instead of ${wanted.join(' or ')}`);
  }
  if (await world.snapshot() !== before) wrong.push('a call that was denied changed something');
  for (const call of calls.filter((one) => !isDenied(one))) {
    const outcome = await outcomeOf(name, field, call.caller, call.target);
    if (['UNAUTHENTICATED', 'INTERNAL'].includes(outcome)) wrong.push(`${call.caller}, ${call.target}: ${outcome}`);
    // Beyond its scope, a field may have rules of its own for a caller that is let in.
    if (outcome === 'FORBIDDEN' && !exceptions.has(`${name} ${call.caller}`)) wrong.push(`${call.caller}, ${call.target}: FORBIDDEN`);
    if (name.startsWith('Mutation')) await world.restore();
  }
  expect(wrong).toEqual([]);
});

/** A token makes no token that could outlast it. */
const exceptions: ReadonlySet<string> = new Set(['createApiToken', 'regenerateLegacyApiToken'].flatMap((field) =>
  ['user token', 'other user'].map((caller) => `Mutation.${field} ${caller}`)));
