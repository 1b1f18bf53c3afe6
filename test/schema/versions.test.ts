import { expect, test } from '@jest/globals';
import { eitherDialect } from '../support/database.ts';
import { openTestSchema, type TestSchema } from '../support/schema.ts';

/** A record whose updates name the version that they are based on. */
interface Case {
  readonly name: string;
  readonly make: (api: TestSchema) => Promise<number>;
  /** The field that reads the record. */
  readonly read: (id: number) => string;
  /** An update with further arguments. @param input the fields to change */
  readonly update: (id: number, args: string, input: string) => string;
  /** Changes one field that is shown, and one that is not. */
  readonly inputs: readonly [shown: string, hidden: string];
  /** The name of the record in the error. */
  readonly resource: string;
}

const client = (api: TestSchema) => api.id('mutation { createClient(input: { remark: "one" }) { id } }');
const updateOf = (type: string) => (id: number, args: string, input: string) => `mutation { update${type}(id: ${id}${args}, input: ${input}) { id version } }`;

const cases: readonly Case[] = [
  {
    name: 'a client',
    resource: 'client',
    make: client,
    read: (id) => `client(id: ${id})`,
    update: updateOf('Client'),
    inputs: ['{ remark: "x" }', '{ basicUser: "u", basicPassword: "p" }'],
  },
  {
    name: 'a tunnel',
    resource: 'tunnel',
    make: async (api) =>
      await api.id(`mutation { createTunnel(input: { clientId: ${await client(api)}, mode: SECRET, password: "p", targets: ["22"] }) { id } }`),
    read: (id) => `tunnel(id: ${id})`,
    update: updateOf('Tunnel'),
    inputs: ['{ remark: "x" }', '{ password: "other" }'],
  },
  {
    name: 'a host',
    resource: 'host',
    make: async (api) => await api.id(`mutation { createHost(input: { clientId: ${await client(api)}, host: "a.com", targets: ["80"] }) { id } }`),
    read: (id) => `host(id: ${id})`,
    update: updateOf('Host'),
    inputs: ['{ location: "/x" }', '{ headers: ["A: b"] }'],
  },
  {
    name: 'a user',
    resource: 'user',
    make: (api) => api.id('mutation { createUser(input: { username: "u", password: "password" }) { id } }'),
    read: (id) => `user(id: ${id})`,
    update: updateOf('User'),
    inputs: ['{ remark: "x" }', '{ password: "another password" }'],
  },
  {
    name: 'the settings',
    resource: 'settings',
    make: async () => 1,
    read: () => 'globalSettings',
    update: (_id, args, input) => `mutation { updateGlobalSettings(${args === '' ? '' : `${args.replace(/^, /, '')}, `}input: ${input}) { version } }`,
    inputs: ['{ serverUrl: "https://x" }', '{ platformDomains: [{ wildcard: "*.example.com" }] }'],
  },
];

eitherDialect('versions', (databases) => {
  test.each(cases)('$name is only changed if it still has the expected version', async ({ make, read, update, inputs, resource }) => {
    const api = await openTestSchema(databases);
    const id = await make(api);
    const version = async () => (await api.record(`{ ${read(id)} { version } }`))['version'];
    const first = await version();
    expect(first).toMatch(/^[\w-]{16}$/);
    const [shown, hidden] = inputs;
    // An update without a version overwrites any.
    const { version: second } = await api.record(update(id, '', hidden));
    expect(second).not.toBe(first);
    expect(await version()).toBe(second);
    const { errors } = await api.run(update(id, `, expectedVersion: "${String(first)}"`, shown));
    expect(errors).toMatchObject([{ code: 'CONFLICT', extensions: { resource, version: second } }]);
    expect(await version()).toBe(second);
    const { version: third } = await api.record(update(id, `, expectedVersion: "${String(second)}"`, shown));
    expect(third).not.toBe(second);
    expect(await version()).toBe(third);
  });

  test('counters, running state and other records do not change a version', async () => {
    const api = await openTestSchema(databases);
    const id = await client(api);
    const version = async () => (await api.record(`{ client(id: ${id}) { version } }`))['version'];
    const before = await version();
    await api.services.store.db.client.update({ where: { id }, data: { inletBytes: 5n, connected: true, lastOnlineAt: new Date(), rate: 7n } });
    await api.ok(`mutation { createTunnel(input: { clientId: ${id}, mode: TCP, targets: ["22"] }) { id } }`);
    await api.ok(`mutation { setClientEnabled(id: ${id}, enabled: false) { id } }`);
    expect(await version()).toBe(before);
  });

  test('the version of the settings changes with each of them, and each value of a platform domain', async () => {
    const api = await openTestSchema(databases);
    const { db } = api.services.store;
    await db.globalSettings.create({ data: { id: 1 } });
    await db.platformDomain.create({ data: { id: 'a', wildcard: '*.a.com' } });
    const settings = (data: object) => db.globalSettings.update({ where: { id: 1 }, data });
    const domain = (data: object) => db.platformDomain.updateMany({ data });
    const changes = [
      ...[() => settings({ blackIpList: '192.0.2.1' }), () => settings({ serverUrl: 'https://x' })],
      ...[() => domain({ id: 'b' }), () => domain({ wildcard: '*.b.com' }), () => domain({ certFilePath: '/c' }), () => domain({ keyFilePath: '/k' })],
    ];
    const version = async () => (await api.record('{ globalSettings { version } }'))['version'];
    const versions = [await version()];
    for (const change of changes) {
      await change();
      versions.push(await version());
    }
    expect(new Set(versions).size).toBe(changes.length + 1);
  });

  test("a version reveals nothing without the server's key: that of the same record differs between servers", async () => {
    const [one, other] = [await openTestSchema(databases, { versionKey: 'one' }), await openTestSchema(databases, { versionKey: 'other' })];
    const versionAt = async (api: TestSchema) =>
      (await api.record(`{ client(id: ${await api.id('mutation { createClient(input: { verifyKey: "key" }) { id } }')}) { version } }`))['version'];
    expect(await versionAt(one)).not.toBe(await versionAt(other));
  });

  test('problems of fields are reported together, also with an outdated version', async () => {
    const api = await openTestSchema(databases);
    const id = await client(api);
    expect(await api.code(`mutation { updateClient(id: ${id}, expectedVersion: "old", input: { rateLimit: -1 }) { id } }`)).toBe('INVALID_INPUT');
  });
});
