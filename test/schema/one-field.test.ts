import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import { isLeafType, getNamedType, isObjectType } from 'graphql';
import { columnsOfClient } from '../../src/schema/client/columns.ts';
import { columnsOfHost } from '../../src/schema/host/columns.ts';
import { schema } from '../../src/schema/schema.ts';
import { columnsOfTunnel } from '../../src/schema/tunnel/columns.ts';
import { columnsOfUser } from '../../src/schema/user/columns.ts';
import type { ColumnUse } from '../../src/schema/values/columns.ts';
import { cheapPasswords } from '../support/cheap-passwords.ts';
import { testDatabases } from '../support/database.ts';
import { openTestSchema, type TestSchema } from '../support/schema.ts';

cheapPasswords();

/** A kind of records: an input field with another value than the record has, and what else changes with it. */
interface Kind {
  readonly columns: Readonly<Record<string, ColumnUse>>;
  /** By input field: the value, further columns and fields that change with it, and fields that do not. */
  readonly inputs: Readonly<
    Record<string, readonly [unknown, { readonly columns?: readonly string[]; readonly fields?: readonly string[]; readonly same?: readonly string[] }?]>
  >;
  /** The inputs that refuse null. */
  readonly neverNull: readonly string[];
  /** Others that do, but go together with inputs that are not tried. */
  readonly alsoNeverNull?: readonly string[];
  readonly row: (api: TestSchema, id: number) => Promise<object>;
  /** Sets columns that no input sets. */
  readonly set: (api: TestSchema, id: number, data: object) => Promise<unknown>;
  readonly add: (api: TestSchema) => Promise<number>;
}

const client = (api: TestSchema, input: object = {}) => api.id('mutation ($input: CreateClientInput!) { createClient(input: $input) { id } }', { input });

/** By the name of the type. */
const kinds: Readonly<Record<string, Kind>> = {
  Client: {
    columns: columnsOfClient,
    inputs: {
      verifyKey: ['another-key', { fields: ['agentCommand'] }],
      remark: ['a note'],
      basicUser: ['somebody'],
      basicPassword: ['p1'],
      compress: [true],
      encrypt: [true],
      configAllowed: [true],
      rateLimit: [11],
      flowLimit: [12],
      maxConnections: [13],
      maxTunnels: [14],
      webUsername: ['web'],
      webPassword: ['a password of 20 chars', { same: ['hasWebPassword'] }],
      blocklist: [['192.0.2.1']],
      allowlistEnabled: [true],
      allowlistPassword: ['p2'],
      allowlist: [['192.0.2.2']],
      expiresAt: ['2100-01-01T00:00:00.000Z', { fields: ['effectiveExpiresAt'] }],
      ownerId: ['1'],
    },
    neverNull: ['verifyKey', 'compress', 'encrypt', 'configAllowed', 'allowlistEnabled'],
    row: ({ services }, id) => services.store.db.client.findUniqueOrThrow({ where: { id } }),
    set: ({ services }, id, data) => services.store.db.client.update({ where: { id }, data }),
    add: (api) => client(api, { webUsername: 'before', webPassword: 'a password of 19 chars' }),
  },
  Tunnel: {
    columns: columnsOfTunnel,
    inputs: {
      clientId: ['2', { columns: ['ownerId', 'clientKey'] }],
      mode: ['UDP'],
      remark: ['a note'],
      port: [9002, { fields: ['publicAddress'] }],
      serverIp: ['192.0.2.1', { fields: ['publicAddress'] }],
      targets: [['a:1']],
      localProxy: [true],
      password: ['p'],
      localPath: ['/srv'],
      stripPrefix: ['/strip'],
      proxyProtocol: ['V2'],
      accounts: [[{ user: 'alice', password: 'p' }]],
    },
    neverNull: ['localProxy', 'proxyProtocol'],
    alsoNeverNull: ['clientId', 'mode'],
    row: ({ services }, id) => services.store.db.tunnel.findUniqueOrThrow({ where: { id } }),
    set: ({ services }, id, data) => services.store.db.tunnel.update({ where: { id }, data }),
    add: async (api) =>
      api.id('mutation ($input: CreateTunnelInput!) { createTunnel(input: $input) { id } }', {
        input: { clientId: await client(api, { ownerId: '1' }), mode: 'TCP', port: 9001, targets: ['b:2'] },
      }),
  },
  Host: {
    columns: columnsOfHost,
    inputs: {
      clientId: ['2', { columns: ['ownerId', 'clientKey'] }],
      remark: ['a note'],
      host: ['b.example.com', { fields: ['publicUrls'] }],
      scheme: ['HTTPS', { fields: ['publicUrls'] }],
      location: ['/a', { fields: ['publicUrls'] }],
      targets: [['a:1']],
      localProxy: [true],
      headers: [['A: b']],
      hostChange: ['c.example.com'],
      certificate: ['/a/certificate'],
      privateKey: ['/a/key'],
      autoHttps: [true],
      acme: [true],
    },
    neverNull: ['host', 'scheme', 'localProxy', 'autoHttps', 'acme'],
    alsoNeverNull: ['clientId', 'mode', 'platformDomainId', 'platformPrefix'],
    row: ({ services }, id) => services.store.db.host.findUniqueOrThrow({ where: { id } }),
    set: ({ services }, id, data) => services.store.db.host.update({ where: { id }, data }),
    add: async (api) =>
      api.id('mutation ($input: CreateHostInput!) { createHost(input: $input) { id } }', {
        input: { clientId: await client(api, { ownerId: '1' }), host: 'a.example.com', certificate: '/b/certificate', privateKey: '/b/key' },
      }),
  },
  User: {
    columns: columnsOfUser,
    inputs: {
      username: ['another'],
      password: ['a password of 20 chars'],
      remark: ['a note'],
      maxClients: [11],
      maxTunnels: [12],
      expiresAt: ['2100-01-01T00:00:00.000Z'],
    },
    neverNull: ['username', 'password'],
    row: ({ services }, id) => services.store.db.user.findUniqueOrThrow({ where: { id } }),
    set: ({ services }, id, data) => services.store.db.user.update({ where: { id }, data }),
    add: (api) => api.id('mutation { createUser(input: { username: "alice", password: "a password of 19 chars" }) { id } }'),
  },
};

/** The fields of a record that need no argument, with those of records in it that are no further records. */
function selection(type: string): string {
  const record = schema.getType(type);
  if (!isObjectType(record)) throw new Error(`${type} is no object`);
  return Object.values(record.getFields()).filter(({ args }) => args.length === 0).map(({ name, type: of }) => {
    const inner = getNamedType(of);
    if (isLeafType(inner)) return name;
    if (!isObjectType(inner)) throw new Error(`${inner.name} is no object`);
    return `${name} { ${
      inner.getFields()['id'] ? 'id' : Object.values(inner.getFields()).filter((one) => isLeafType(getNamedType(one.type))).map((one) => one.name).join(' ')
    } }`;
  }).join(' ');
}

const changed = (before: object, after: object): string[] => {
  const values = new Map<string, unknown>(Object.entries(before));
  return Object.entries(after).filter(([name, value]) => !isDeepStrictEqual(values.get(name), value)).map(([name]) => name).toSorted();
};

describe.each(Object.entries(kinds))('%s', (type, { columns, inputs, neverNull, alsoNeverNull = [], row, set, add }) => {
  const databases = testDatabases('sqlite');

  test('each input field has a value here, except those of hosts below platform domains', () => {
    const all = new Set(Object.values(columns).flatMap(({ input }) => input ?? []).filter((input) => !input.startsWith('platform')));
    expect(Object.keys(inputs).toSorted()).toEqual([...all].toSorted());
  });

  test('each input field changes its own columns, which are shown by their own fields, and nothing else', async () => {
    const api = await openTestSchema(databases, { allowLocalProxy: true, publicUrl: 'https://panel.example.net' });
    await api.services.store.db.user.create({ data: { username: 'owner', passwordHash: '' } });
    const id = await add(api);
    await client(api);
    const field = type.toLowerCase();
    const show = () => api.record(`query ($id: ID!) { ${field}(id: $id) { ${selection(type)} } }`, { id });
    const found: Record<string, unknown> = {};
    const expected: Record<string, unknown> = {};
    // What is switched on can be switched off.
    const off = Object.entries(inputs).filter(([, [value]]) => value === true).map(([input]) => [input, [false]] as const);
    for (const [input, [value, further = {}]] of [...Object.entries(inputs), ...off]) {
      const name = value === false ? `${input} off` : input;
      const [rowBefore, before] = [await row(api, id), await show()];
      await api.ok(`mutation ($id: ID!, $input: Update${type}Input!) { update${type}(id: $id, input: $input) { id } }`, { id, input: { [input]: value } });
      found[name] = { columns: changed(rowBefore, await row(api, id)), fields: changed(before, await show()) };
      const own = Object.entries(columns).filter(([, use]) => use.input === input);
      expected[name] = {
        columns: [...own.map(([name]) => name), ...further.columns ?? []].toSorted(),
        fields: ['version', ...own.flatMap(([, { shown }]) => shown ?? []), ...further.fields ?? []].filter((name) => !further.same?.includes(name)).toSorted(),
      };
    }
    expect(found).toEqual(expected);
  });

  test('null takes back what was given, if it is accepted', async () => {
    const api = await openTestSchema(databases);
    await api.services.store.db.user.create({ data: { username: 'owner', passwordHash: '' } });
    const id = await add(api);
    const before = await row(api, id);
    const given = Object.entries(inputs).filter(([input]) =>
      !['clientId', 'mode', 'port', 'targets', 'certificate', 'privateKey', 'webUsername', 'webPassword', 'ownerId'].includes(input)
    );
    const change = (input: object) =>
      api.run(`mutation ($id: ID!, $input: Update${type}Input!) { update${type}(id: $id, input: $input) { id } }`, { id, input });
    const kept: string[] = [];
    expect((await change(Object.fromEntries(given.map(([input, [value]]) => [input, value])))).errors).toEqual([]);
    const fieldsOfErrors = async (input: string) => (await change({ [input]: null })).errors.map(({ extensions }) => extensions['field']);
    for (const [input] of given) {
      if ((await fieldsOfErrors(input)).length > 0) kept.push(input);
    }
    const own = new Set(Object.entries(columns).filter(([, { input }]) => input !== null && kept.includes(input)).map(([name]) => name));
    expect(changed(before, await row(api, id)).filter((name) => !own.has(name))).toEqual([]);
    expect(kept).toEqual(neverNull);
    const refused = [...kept, ...alsoNeverNull];
    expect(await Promise.all(refused.map(fieldsOfErrors))).toEqual(refused.map((input) => [`input.${input}`]));
  });

  test('each other column is shown by its own field, and by no other', async () => {
    const api = await openTestSchema(databases);
    await api.services.store.db.user.create({ data: { username: 'owner', passwordHash: '' } });
    const id = await add(api);
    const show = () => api.record(`query ($id: ID!) { ${type.toLowerCase()}(id: $id) { ${selection(type)} } }`, { id });
    const others = Object.entries(columns).filter(([name, { input, shown }]) => input === null && name !== 'id' && shown !== 'runtime');
    for (const [name, { shown }] of others) {
      const [value, before] = [new Map<string, unknown>(Object.entries(await row(api, id))).get(name), await show()];
      const other = typeof value === 'boolean'
        ? !value
        : typeof value === 'number'
        ? value + 1
        : name.endsWith('At')
        ? new Date('2020-02-02T02:02:02Z')
        : 'other';
      await set(api, id, { [name]: other });
      const fields = shown === null ? [] : [shown];
      expect([name, changed(before, await show())]).toEqual([name, fields]);
    }
  });
});
