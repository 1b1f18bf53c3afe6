import { describe, expect, test } from '@jest/globals';
import { getNamedType, type GraphQLObjectType, isLeafType, isNonNullType, isObjectType } from 'graphql';
import { z } from 'zod';
import type { Caller } from '../../src/rules/caller.ts';
import { schema } from '../../src/schema/schema.ts';
import { eitherDialect } from '../support/database.ts';
import { openTestSchema, type TestSchema } from '../support/schema.ts';

const options = z.object({ pothosOptions: z.object({ authScopes: z.unknown().optional() }).optional() });
const sentence = 'Null unless the caller is an administrator.';
const roots: ReadonlySet<unknown> = new Set([schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]);
const records = Object.values(schema.getTypeMap()).filter(isObjectType).filter((type) => !roots.has(type) && !type.name.startsWith('__'));
const fieldsOf = (of: GraphQLObjectType) => Object.values(of.getFields()).map((field) => ({ of: of.name, field, path: `${of.name}.${field.name}` }));
const restricted = records.flatMap(fieldsOf).filter(({ field }) => field.description?.includes(sentence));

/** Where the records with such fields are found, for an ordinary user. */
const places: Readonly<Record<string, { readonly before: string; readonly after: string }>> = {
  User: { before: '{ viewer { user {', after: '} } }' },
  Host: { before: '{ host(id: 1) {', after: '} }' },
  PlatformDomain: { before: '{ platformDomains {', after: '} }' },
  Counts: { before: '{ server { counts {', after: '} } }' },
  SearchResult: { before: '{ search(text: "note") {', after: '} }' },
};

async function world(api: TestSchema): Promise<Caller> {
  await api.ok(
    'mutation { createUser(input: { username: "a", password: "password", remark: "note" }) { id } createClient(input: { ownerId: 1 }) { id } createHost(input: { clientId: 1, host: "a.example", certificate: "/c", privateKey: "/k" }) { id } }',
  );
  await api.ok('mutation { updateGlobalSettings(input: { platformDomains: [{ wildcard: "*.p.example" }] }) { serverUrl } }');
  return { kind: 'user', userId: 1 };
}

/** The innermost object of a result that has one field on each level, with the first record of a list. */
function innermost(data: unknown): Readonly<Record<string, unknown>> {
  const object = z.record(z.string(), z.unknown()).parse(Array.isArray(data) ? data[0] : data);
  const values = Object.values(object);
  return values.length === 1 && typeof values[0] === 'object' && values[0] !== null ? innermost(values[0]) : object;
}

describe('the fields of records for administrators', () => {
  test('are nullable, and null is their only refusal', () => {
    expect(restricted.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['User.remark', 'PlatformDomain.referenceCount', 'PlatformDomain.certificate', 'Host.certificatePath']),
    );
    expect(restricted.filter(({ field }) => isNonNullType(field.type))).toEqual([]);
    const scoped = records.flatMap(fieldsOf).filter(({ field: { extensions } }) => options.parse(extensions).pothosOptions?.authScopes !== undefined);
    expect(scoped.map(({ path }) => path)).toEqual([]);
    expect(records.flatMap(fieldsOf).filter(({ field }) => /for administrators/i.test(field.description ?? '')).map(({ path }) => path)).toEqual([]);
  });
});

eitherDialect('a caller who is not an administrator', (databases) => {
  test('gets null without an error for each of these fields', async () => {
    const api = await openTestSchema(databases);
    const caller = await world(api);
    expect([...new Set(restricted.map(({ of }) => of))].toSorted()).toEqual(Object.keys(places).toSorted());
    for (const { of, field, path } of restricted) {
      const { before = '', after = '' } = places[of] ?? {};
      const { data, errors } = await api.run(`${before} ${field.name} ${isLeafType(getNamedType(field.type)) ? '' : '{ __typename }'} ${after}`, {}, caller);
      expect([path, errors, innermost(data)]).toEqual([path, [], { [field.name]: null }]);
    }
    const { data, errors } = await api.run('{ client(id: 1) { owner { id clients { total } } } }', {}, { kind: 'client', clientId: 1 });
    expect([data, errors]).toEqual([{ client: { owner: { id: 1, clients: null } } }, []]);
    expect(await api.record('{ user(id: 1) { remark } }')).toEqual({ remark: 'note' });
    expect(await api.record('{ host(id: 1) { certificatePath privateKeyPath } }')).toEqual({ certificatePath: '/c', privateKeyPath: '/k' });
  });

  test('loses no other root field to one that is refused', async () => {
    const api = await openTestSchema(databases);
    const caller = await world(api);
    const { data, errors } = await api.run(
      '{ viewer { role } lockouts { source } users { total } globalSettings { serverUrl } auditEntries { total } }',
      {},
      caller,
    );
    expect(data).toEqual({ viewer: { role: 'USER' }, lockouts: null, users: null, globalSettings: null, auditEntries: null });
    expect(errors.map(({ code }) => code)).toEqual(Array.from({ length: 4 }, () => 'FORBIDDEN'));
    const login = await api.run('{ viewer { role } user(id: 1) { id } apiTokens { id } legacyApiToken { id } }', {}, { kind: 'client', clientId: 1 });
    expect(login.data).toEqual({ viewer: { role: 'CLIENT' }, user: null, apiTokens: null, legacyApiToken: null });
    expect(login.errors.map(({ code }) => code)).toEqual(Array.from({ length: 3 }, () => 'FORBIDDEN'));
  });

  test('gets FORBIDDEN for a filter by owner', async () => {
    const api = await openTestSchema(databases);
    const caller = await world(api);
    for (const list of ['clients', 'tunnels', 'hosts']) {
      for (const filter of ['ownerId: 1', 'ownerId: 2', 'unassigned: true', 'unassigned: false']) {
        for (const who of [caller, { kind: 'client', clientId: 1 }] as const) {
          expect([list, filter, await api.code(`{ ${list}(filter: { ${filter} }) { total } }`, {}, who)]).toEqual([list, filter, 'FORBIDDEN']);
        }
      }
      expect(await api.code(`{ ${list}(filter: { ownerId: null, unassigned: null }) { total } }`, {}, caller)).toBeUndefined();
    }
  });
});
