import { describe, expect, test } from '@jest/globals';
import { isInputObjectType, isNonNullType } from 'graphql';
import { schema } from '../../src/schema/schema.ts';
import { eitherDialect } from '../support/database.ts';
import { openTestSchema, type TestSchema } from '../support/schema.ts';

/** The smallest valid input of each create mutation. @param field the field that is about to be null */
const smallest: Readonly<Record<string, (field: string) => Readonly<Record<string, unknown>>>> = {
  createUser: () => ({ username: 'b', password: 'password' }),
  createClient: () => ({}),
  createTunnel: () => ({ clientId: 1, mode: 'TCP' }),
  createHost: (field) => ({
    clientId: 1,
    ...(field === 'host' ? { mode: 'PLATFORM', platformDomainId: 'd1', platformPrefix: 'a', scheme: 'HTTP' } : { host: 'a.example' }),
  }),
  createApiToken: () => ({ name: 'a' }),
  createEnrolment: () => ({ clientId: 1 }),
};

const creates = Object.values(schema.getMutationType()?.getFields() ?? {}).filter(({ name }) => /^create[A-Z]/.test(name)).map(({ name, args }) => {
  const type = args.find((arg) => arg.name === 'input')?.type;
  const input = isNonNullType(type) ? type.ofType : type;
  if (!isInputObjectType(input)) throw new Error(`${name} has no input`);
  return { name, input, optional: Object.values(input.getFields()).filter((field) => !isNonNullType(field.type)).map((field) => field.name) };
});

/** Columns that differ between two records with the same input. */
const randomOrCounted = new Set(['id', 'vkey', 'hash', 'passwordHash', 'createdAt', 'port']);

/** The row that a create wrote; the row is deleted again. */
async function rowOf(api: TestSchema, name: string, input: string, values: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>> {
  const { db } = api.services.store;
  const tables = {
    createUser: db.user,
    createClient: db.client,
    createTunnel: db.tunnel,
    createHost: db.host,
    createApiToken: db.apiToken,
    createEnrolment: db.enrolment,
  };
  const table = Object.entries(tables).find(([of]) => of === name)?.[1];
  if (!table) throw new Error(`the test knows no table of ${name}`);
  await api.ok(`mutation ($input: ${input}!) { ${name}(input: $input) { __typename } }`, { input: values });
  const row: unknown = await (table as typeof db.user).findFirstOrThrow({ orderBy: { id: 'desc' } });
  const verb = ['createApiToken', 'createEnrolment'].includes(name) ? name.replace('create', 'revoke') : name.replace('create', 'delete');
  await api.ok(`mutation ($id: ID!) { ${verb}(id: $id) }`, { id: (row as { readonly id: number }).id });
  return Object.fromEntries(Object.entries(row as object).filter(([column]) => !randomOrCounted.has(column)));
}

describe('the create inputs', () => {
  test('say what null means', () => {
    expect(creates.filter(({ input }) => !input.description?.includes('Fields that are absent or null get their default.')).map(({ name }) => name)).toEqual(
      [],
    );
  });
});

eitherDialect('null in a create is the same as an absent field', (databases) => {
  test.each(creates)('$name', async ({ name, input, optional }) => {
    const now = Date.now();
    const api = await openTestSchema(databases, {}, () => now);
    await api.ok('mutation { createUser(input: { username: "a", password: "password" }) { id } createClient(input: {}) { id } }');
    await api.ok('mutation { updateGlobalSettings(input: { platformDomains: [{ id: "d1", wildcard: "*.p.example" }] }) { serverUrl } }');
    expect(optional).not.toEqual([]);
    for (const field of optional) {
      const values = smallest[name]?.(field) ?? {};
      const created = async (more: object) => ({ field, row: await rowOf(api, name, input.name, { ...values, ...more }) });
      expect(await created({ [field]: null })).toEqual(await created({}));
    }
    const values = smallest[name]?.('') ?? {};
    const nulls = Object.fromEntries(optional.filter((field) => !(field in values)).map((field) => [field, null]));
    expect(await rowOf(api, name, input.name, { ...values, ...nulls })).toEqual(await rowOf(api, name, input.name, values));
  });

  test('a platform domain', async () => {
    const api = await openTestSchema(databases);
    const save =
      'mutation ($domains: [PlatformDomainInput!]) { updateGlobalSettings(input: { platformDomains: $domains }) { platformDomains { wildcard certificateConfigured } } }';
    const type = schema.getType('PlatformDomainInput');
    const optional = isInputObjectType(type) ? Object.values(type.getFields()).filter((field) => !isNonNullType(field.type)).map((field) => field.name) : [];
    expect(optional).toHaveLength(3);
    for (const [index, field] of optional.entries()) {
      expect(await api.record(save, { domains: [{ wildcard: `*.p${index}.example`, [field]: null }] })).toEqual({
        platformDomains: [{ wildcard: `*.p${index}.example`, certificateConfigured: false }],
      });
    }
  });

  test('a required field that depends on others is still required', async () => {
    const api = await openTestSchema(databases);
    await api.ok('mutation { createClient(input: {}) { id } }');
    const create = 'mutation ($input: CreateHostInput!) { createHost(input: $input) { id } }';
    expect(await api.code(create, { input: { clientId: 1, host: null } })).toBe('HOST_INVALID');
    expect(await api.code(create, { input: { clientId: 1, mode: 'PLATFORM', platformDomainId: null } })).toBe('PLATFORM_DOMAIN_REQUIRED');
    expect(await api.code('mutation { createTunnel(input: { clientId: 1, mode: SECRET, password: null }) { id } }')).toBe(
      await api.code('mutation { createTunnel(input: { clientId: 1, mode: SECRET }) { id } }'),
    );
  });
});
