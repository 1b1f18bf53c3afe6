import { expect, test } from '@jest/globals';
import { getNamedType, isLeafType, isObjectType } from 'graphql';
import type { Caller } from '../../src/rules/caller.ts';
import { schema } from '../../src/schema/schema.ts';
import { eitherDialect } from '../support/database.ts';
import { type RootField, rootFields, wholeOperation } from '../support/every-field.ts';
import { openTestSchema, type TestSchema } from '../support/schema.ts';

/** Every field that holds a secret which its owner may read later. */
const secretFields = ['Client.agentCommand', 'Client.verifyKey', 'Tunnel.password', 'Host.headers'];
/** Fields whose names sound like one, and that hold none; or one that is shown once, when it is made. */
const harmless = [
  'Client.hasBasicPassword',
  'Client.hasWebPassword',
  'Client.hasAllowlistPassword',
  'Host.hasPrivateKey',
  'Host.privateKeyPath',
  'PlatformDomain.privateKeyPath',
  'CreatedApiToken.token',
  'CreatedApiToken.apiToken',
  'CreatedEnrolment.command',
  'ApiToken.secrets',
  'AuditEntry.tokenName',
  'Impact.tokens',
  'Viewer.secrets',
  'Lockout.credential',
  'Query.apiTokens',
  'Query.legacyApiToken',
  'Mutation.createApiToken',
  'Mutation.revokeApiToken',
  'Mutation.regenerateLegacyApiToken',
  'Mutation.revokeLegacyApiToken',
  'Mutation.changePassword',
];

test('every field that sounds like a secret is known to hold one, or none', () => {
  const found = Object.values(schema.getTypeMap()).filter(isObjectType).filter(({ name }) => !name.startsWith('__'))
    .flatMap((type) => Object.values(type.getFields()).map((field) => `${type.name}.${field.name}`))
    .filter((name) => /\.\w*(key|password|secret|token|header|credential|command)/i.test(name) && !/Platform\w*Prefix/.test(name));
  expect(found.toSorted()).toEqual([...secretFields, ...harmless].toSorted());
});

const planted = { vkey: 'planted-verify-key', password: 'planted-tunnel-password', header: 'planted-header-value' };

async function world(api: TestSchema): Promise<void> {
  const { db } = api.services.store;
  await db.user.create({ data: { username: 'alice', passwordHash: '' } });
  await db.client.create({ data: { vkey: planted.vkey, userId: 1, remark: 'note' } });
  await db.tunnel.create({ data: { clientId: 1, mode: 'secret', password: planted.password, target: '127.0.0.1:1' } });
  await db.host.create({ data: { clientId: 1, host: 'a.example', headerChange: `X-A: ${planted.header}`, target: '127.0.0.1:1' } });
}

/** What narrows lists down is left out; ids are 1, names those of the host. */
const valueOf = (name: string): unknown => {
  if (['search', 'filter', 'resource', 'to', 'mode', 'probe'].includes(name)) return null;
  return name === 'host' ? 'a.example' : name === 'limit' ? 5 : name === 'offset' ? 0 : undefined;
};
const operationOf = (root: RootField) =>
  wholeOperation(root, (name) => name === 'resource' && root.field.name.startsWith('traffic') ? 'CLIENT' : valueOf(name));

/** The fields of an answer that hold something planted, as `field` of the object's type. */
function holding(data: unknown): string[] {
  const found = new Set<string>();
  const walk = (value: unknown, at: string): void => {
    if (typeof value === 'string' && value.includes('planted-')) found.add(at);
    else if (Array.isArray(value)) { for (const one of value) walk(one, at); }
    else if (typeof value === 'object' && value !== null) {
      const type = '__typename' in value ? String(value.__typename) : '';
      for (const [name, one] of Object.entries(value)) walk(one, `${type}.${name}`);
    }
  };
  walk(data, '');
  return [...found];
}

async function shown(api: TestSchema, caller: Caller): Promise<string[]> {
  const found = new Set<string>();
  for (const root of rootFields.filter(({ kind }) => kind === 'query')) {
    const { query, variables } = operationOf(root);
    const { data } = await api.run(query, variables, caller);
    for (const field of holding(data)) found.add(field);
  }
  return [...found].toSorted();
}

eitherDialect('tokens without secrets', (databases) => {
  test('see none of them in any query, of an administrator or a user; tokens with them see all', async () => {
    const api = await openTestSchema(databases, { publicUrl: 'https://adit.example' });
    await world(api);
    for (const who of [{ kind: 'admin' }, { kind: 'user', userId: 1 }] as const) {
      expect(await shown(api, { ...who, by: 'token' })).toEqual(secretFields.toSorted());
      expect(await shown(api, { ...who, by: 'token', withoutSecrets: true })).toEqual([]);
    }
  });

  test('get none from mutations, and find none by searches and orders', async () => {
    const api = await openTestSchema(databases);
    await world(api);
    const blind: Caller = { kind: 'admin', by: 'token', withoutSecrets: true };
    const fields = { client: 'verifyKey remark', tunnel: 'password client { verifyKey }', host: 'headers client { verifyKey }' };
    const answers = await Promise.all([
      `mutation { updateClient(id: 1, input: { remark: "x" }) { ${fields.client} } }`,
      `mutation { createClient(input: { remark: "x", verifyKey: "planted-another" }) { ${fields.client} } }`,
      `mutation { updateTunnel(id: 1, input: { password: "planted-new" }) { ${fields.tunnel} } }`,
      `mutation { updateHost(id: 1, input: { headers: ["X-B: planted-new"] }) { ${fields.host} } }`,
    ].map((operation) => api.run(operation, {}, blind)));
    expect(answers.map(({ errors }) => errors)).toEqual(answers.map(() => []));
    expect(JSON.stringify(answers)).not.toContain('planted-');
    const found = async (list: string, text: string, caller: Caller) =>
      (await api.run(`query ($text: String) { ${list}(search: $text) { total rows { id } } }`, { text }, caller)).data;
    for (const [list, text] of [['clients', 'planted-verify'], ['tunnels', 'planted-new'], ['hosts', 'planted-verify']] as const) {
      expect(await found(list, text, { kind: 'admin' })).toEqual({ [list]: { total: 1, rows: [{ id: 1 }] } });
      expect(await found(list, text, blind)).toEqual({ [list]: { total: 0, rows: [] } });
    }
    for (const [list, order] of [['clients', 'VERIFY_KEY'], ['tunnels', 'VERIFY_KEY'], ['tunnels', 'PASSWORD'], ['hosts', 'VERIFY_KEY']] as const) {
      expect(await api.code(`{ ${list}(sort: { field: ${order} }) { total } }`, {}, blind)).toBe('FORBIDDEN');
      expect(await api.code(`{ ${list}(sort: { field: ${order} }) { total } }`)).toBeUndefined();
    }
  });
});

eitherDialect('tokens for a wall', (databases) => {
  test('can only use two fields, and see numbers, states and notes there', async () => {
    const api = await openTestSchema(databases);
    await world(api);
    for (const who of [{ kind: 'admin' }, { kind: 'user', userId: 1 }] as const) {
      const caller: Caller = { ...who, by: 'token', readOnly: true, withoutSecrets: true, wall: true };
      const open: string[] = [];
      // Subscriptions are asked in the matrix of theirs.
      for (const root of rootFields.filter(({ kind }) => kind !== 'subscription')) {
        const { query, variables } = operationOf(root);
        const { errors } = await api.run(query, variables, caller);
        if (!errors.some(({ code }) => code === 'FORBIDDEN')) open.push(root.field.name);
      }
      expect(open).toEqual(['wallProblems', 'wall']);
      expect((await api.run('{ wall { rows { id remark enabled connected tunnelCount hostCount connections rate } } }', {}, caller)).data).toEqual({
        wall: { rows: [{ id: 1, remark: 'note', enabled: true, connected: false, tunnelCount: 1, hostCount: 1, connections: 0, rate: 0 }] },
      });
    }
    const reachable = (name: string, seen = new Set<string>()): string[] => {
      const type = schema.getType(name);
      if (!isObjectType(type) || seen.has(name)) return [];
      seen.add(name);
      return Object.values(type.getFields()).flatMap((field) =>
        isLeafType(getNamedType(field.type)) ? [`${name}.${field.name}: ${String(getNamedType(field.type))}`] : reachable(getNamedType(field.type).name, seen)
      );
    };
    expect(reachable('WallPage').filter((field) => field.endsWith(': String'))).toEqual(['WallClient.remark: String']);
    expect(reachable('WallProblemPage').filter((field) => field.endsWith(': String'))).toEqual(['WallProblem.remark: String', 'WallClient.remark: String']);
  });
});
