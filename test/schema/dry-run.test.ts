import { expect, test } from '@jest/globals';
import { eitherDialect } from '../support/database.ts';
import { openTestSchema, type TestSchema } from '../support/schema.ts';

/** A record that can be created and changed. Its operations end where the argument `dryRun` can follow. */
interface Case {
  readonly type: string;
  readonly create: (clientId: number) => string;
  readonly update: string;
  /** The same create with something wrong, and the code and field of the error. */
  readonly wrong: (clientId: number) => string;
  readonly refusal: readonly [code: string, field: string];
}

const cases: readonly Case[] = [
  {
    type: 'Client',
    create: () => 'remark: "new", verifyKey: "another"',
    update: 'remark: "changed"',
    wrong: () => 'verifyKey: "taken"',
    refusal: ['VKEY_DUPLICATE', 'input.verifyKey'],
  },
  {
    type: 'Tunnel',
    create: (clientId) => `clientId: ${clientId}, mode: TCP, port: 9003, targets: ["22"]`,
    update: 'port: 9004, remark: "changed"',
    wrong: (clientId) => `clientId: ${clientId}, mode: TCP, port: 9999, targets: ["22"]`,
    refusal: ['PORT_UNAVAILABLE', 'input.port'],
  },
  {
    type: 'Host',
    create: (clientId) => `clientId: ${clientId}, host: "b.com", targets: ["80"]`,
    update: 'location: "/changed"',
    wrong: (clientId) => `clientId: ${clientId}, host: "a.com", targets: ["80"]`,
    refusal: ['HOST_EXISTS', 'input.host'],
  },
  {
    type: 'User',
    create: () => 'username: "other", password: "password"',
    update: 'remark: "changed", password: "another password"',
    wrong: () => 'username: "taken", password: "password"',
    refusal: ['USERNAME_DUPLICATE', 'input.username'],
  },
];

/** A server with a record of each type: its ids. */
async function openWithRecords(api: TestSchema): Promise<{ readonly clientId: number; readonly ids: Readonly<Record<string, number>> }> {
  const clientId = await api.id('mutation { createClient(input: { verifyKey: "taken" }) { id } }');
  const ids = {
    Client: clientId,
    Tunnel: await api.id(`mutation { createTunnel(input: { clientId: ${clientId}, mode: TCP, port: 9001, targets: ["22"] }) { id } }`),
    Host: await api.id(`mutation { createHost(input: { clientId: ${clientId}, host: "a.com", targets: ["80"] }) { id } }`),
    User: await api.id('mutation { createUser(input: { username: "taken", password: "password" }) { id } }'),
  };
  await api.ok(`mutation { createApiToken(input: { name: "kept", userId: ${ids.User} }) { token } }`);
  return { clientId, ids };
}

/** Everything that a write could change. */
async function everything({ services: { store: { db } } }: TestSchema): Promise<unknown> {
  return {
    clients: await db.client.findMany(),
    tunnels: await db.tunnel.findMany(),
    hosts: await db.host.findMany(),
    users: await db.user.findMany(),
    tokens: await db.apiToken.findMany(),
    settings: await db.globalSettings.findMany(),
    audit: await db.auditEntry.count(),
  };
}

eitherDialect('dry runs', (databases) => {
  test.each(cases)('$type: all checks run, and nothing is stored, audited or applied', async ({ type, create, update, wrong, refusal: [code, field] }) => {
    const api = await openTestSchema(databases);
    const { clientId, ids } = await openWithRecords(api);
    api.engine.taken.add(9999);
    const [before, applied] = [await everything(api), api.engine.applied.length];
    expect(await api.record(`mutation { create${type}(dryRun: true, input: { ${create(clientId)} }) { id } }`)).toEqual({ id: 0 });
    expect(await api.record(`mutation { update${type}(id: ${ids[type]}, dryRun: true, input: { ${update} }) { id } }`)).toEqual({ id: ids[type] });
    const { errors } = await api.run(`mutation { create${type}(dryRun: true, input: { ${wrong(clientId)} }) { id } }`);
    expect(errors).toMatchObject([{ code, extensions: { field } }]);
    expect(await api.code(`mutation { update${type}(id: 999, dryRun: true, input: { ${update} }) { id } }`)).toBe('NOT_FOUND');
    expect(await everything(api)).toEqual(before);
    expect(api.engine.applied.slice(applied)).toEqual([]);
    expect(api.engine.openLeases.size).toBe(0);
    // The real one is not refused because of what was only checked.
    expect(await api.record(`mutation { create${type}(input: { ${create(clientId)} }) { id } }`)).not.toEqual({ id: 0 });
  });

  test('the settings: all checks run, and nothing is stored', async () => {
    const api = await openTestSchema(databases);
    const before = await everything(api);
    const update = (input: string) => `mutation { updateGlobalSettings(dryRun: true, input: { ${input} }) { serverUrl } }`;
    expect(await api.record(update('serverUrl: "https://adit.example.com"'))).toEqual({ serverUrl: 'https://adit.example.com' });
    expect(await api.code(update('serverUrl: "adit"'))).toBe('SERVER_URL_INVALID');
    expect(await everything(api)).toEqual(before);
  });
});
