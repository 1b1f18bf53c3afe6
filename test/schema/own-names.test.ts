import { expect, test } from '@jest/globals';
import type { Caller } from '../../src/rules/caller.ts';
import { AgentDeclarations } from '../../src/schema/writes/agent-records.ts';
import { eitherDialect } from '../support/database.ts';
import { declaredHostOf } from '../support/declared-entries.ts';
import { openTestSchema, type TestSchema } from '../support/schema.ts';

const create = 'mutation ($input: CreateHostInput!) { createHost(input: $input) { id } }';
const update = 'mutation ($id: ID!, $input: UpdateHostInput!) { updateHost(id: $id, input: $input) { id } }';
const targets = ['127.0.0.1:80'];
type Input = Readonly<Record<string, unknown>>;

/** A server with a panel, a user with two clients, and a client that nobody owns. */
async function world(api: TestSchema) {
  const { id: userId } = await api.services.store.db.user.create({ data: { username: 'alice', passwordHash: '' } });
  const client = (input: Input) => api.id('mutation ($input: CreateClientInput!) { createClient(input: $input) { id } }', { input });
  const alice: Caller = { kind: 'user', userId };
  const ids = { hers: await client({ ownerId: userId }), alsoHers: await client({ ownerId: userId }), free: await client({}) };
  await serverUrl(api, 'https://panel.example.com:8080/');
  return { ...ids, alice, web: { kind: 'client', clientId: ids.hers } satisfies Caller };
}

const serverUrl = (api: TestSchema, url: string) =>
  api.ok('mutation ($url: String!) { updateGlobalSettings(input: { serverUrl: $url }) { serverUrl } }', { url });
const route = async (api: TestSchema, host: string, caller?: Caller) => {
  const { data } = await api.run('query ($host: String!) { diagnoseHost(host: $host, scheme: HTTP) { matched reason rule { id } } }', { host }, caller);
  return data;
};

eitherDialect("the server's own names", (databases) => {
  test('are for administrators only: no other caller can give one to a host, by any mutation', async () => {
    const api = await openTestSchema(databases, { publicUrl: 'https://api.example.com' });
    const { hers, alsoHers, alice, web } = await world(api);
    await api.services.store.db.platformDomain.create({ data: { id: 'd', wildcard: '*.example.com' } });
    const other = await api.id(create, { input: { clientId: hers, host: 'app.example.org', targets } });
    const platform = (platformPrefix: string) => ({ mode: 'PLATFORM', platformDomainId: 'd', platformPrefix, scheme: 'HTTP', targets });
    const records = new AgentDeclarations(api.services).open(hers, '');
    for (const name of ['panel.example.com', 'PANEL.example.com.', 'api.example.com', 'localhost', '127.0.0.1', '203.0.113.7', '[::1]']) {
      for (const caller of [alice, web]) {
        expect([name, await api.code(create, { input: { clientId: hers, host: name, targets } }, caller)]).toEqual([name, 'HOST_OWN_NAME']);
        expect([name, await api.code(update, { id: other, input: { host: name } }, caller)]).toEqual([name, 'HOST_OWN_NAME']);
      }
      const declared = await records.declare({ kind: 'host', name, host: declaredHostOf({ host: name, targets }) });
      expect(declared).toMatchObject({ id: 0, error: "the name is one of the server's own" });
    }
    expect(await api.code(create, { input: { clientId: hers, ...platform('panel') } }, alice)).toBe('HOST_OWN_NAME');
    expect(await api.code(update, { id: other, input: platform('api') }, alice)).toBe('HOST_OWN_NAME');
    const { data } = await api.run('{ platformHostAvailable(platformDomainId: "d", platformPrefix: "panel") { available } }', {}, alice);
    expect(data).toEqual({ platformHostAvailable: { available: false } });
    const given = await api.id(create, { input: { clientId: hers, ...platform('panel') } });
    expect(await route(api, 'panel.example.com', alice)).toMatchObject({ diagnoseHost: { matched: true, rule: { id: given } } });
    // What was given to one client is not taken to another, and gets no certificate, but is edited otherwise.
    expect(await api.code(update, { id: given, input: { clientId: alsoHers } }, alice)).toBe('HOST_OWN_NAME');
    const again = { platformDomainId: 'd', platformPrefix: 'panel' };
    expect(await api.code(update, { id: given, input: { ...again, remark: 'hers', location: '/a', targets: ['127.0.0.1:81'] } }, alice)).toBeUndefined();
    const custom = await api.id(create, { input: { clientId: hers, host: 'localhost', targets } });
    for (const input of [{ host: 'LOCALHOST', location: '/a' }, { scheme: 'HTTP' }, { hostChange: 'x', headers: ['A: b'] }]) {
      expect([input, await api.code(update, { id: custom, input }, alice)]).toEqual([input, undefined]);
    }
    expect(await api.code(update, { id: given, input: { clientId: alsoHers } })).toBeUndefined();
    const ordered = await api.id(create, { input: { clientId: hers, host: 'api.example.com', mode: 'CUSTOM', targets } }).catch(() => 0);
    expect(ordered).toBe(0); // it lies below the platform domain
  });

  test('get no certificate that a user orders', async () => {
    const api = await openTestSchema(databases);
    const { hers, alice } = await world(api);
    const id = await api.id(create, { input: { clientId: hers, host: 'panel.example.com', targets } });
    expect(await api.code(update, { id, input: { acme: true } }, alice)).toBe('HOST_OWN_NAME');
    expect(api.engine.wantedHosts.get(id)).toMatchObject({ acme: false, namedByAdmin: true });
    expect(await api.code(update, { id, input: { acme: true } })).toBeUndefined();
    expect(api.engine.wantedHosts.get(id)).toMatchObject({ acme: true });
    expect(await api.code(update, { id, input: { remark: 'x', acme: true } }, alice)).toBeUndefined();
    const later = await api.run(create, { input: { clientId: hers, host: 'later.example.net', targets, acme: true } }, alice);
    await serverUrl(api, 'later.example.net');
    const problem = await api.ok('query ($id: ID!) { host(id: $id) { certificate { status problem } } }', { id: id + 1 });
    expect([later.errors, problem]).toEqual([[], {
      host: { certificate: { status: 'NONE', problem: "no certificate is ordered: the name is one of the server's own" } },
    }]);
  });

  test('when a name becomes one, the hosts and wildcards of users stop serving it', async () => {
    const api = await openTestSchema(databases);
    const { hers, alice, free } = await world(api);
    const exact = (await api.run(create, { input: { clientId: hers, host: 'later.example.net', targets } }, alice)).data;
    expect(exact).toMatchObject({ createHost: { id: expect.any(Number) } });
    const { id: exactId } = await api.services.store.db.host.findFirstOrThrow({ where: { host: 'later.example.net' } });
    await api.run(create, { input: { clientId: hers, host: '*.example.org', targets } }, alice);
    expect(await route(api, 'later.example.net')).toMatchObject({ diagnoseHost: { matched: true } });
    await serverUrl(api, 'later.example.net');
    expect(await route(api, 'later.example.net')).toMatchObject({ diagnoseHost: { matched: false, reason: "the domain is one of the server's own names" } });
    expect(await route(api, 'other.example.org')).toMatchObject({ diagnoseHost: { matched: true } });
    // An administrator who edits it does not allow its name.
    expect(await api.code(update, { id: exactId, input: { host: 'later.example.net', remark: 'edited' } })).toBeUndefined();
    expect(await route(api, 'later.example.net')).toMatchObject({ diagnoseHost: { matched: false } });
    await serverUrl(api, 'https://panel.example.org');
    expect(await route(api, 'later.example.net')).toMatchObject({ diagnoseHost: { matched: true } });
    expect(await route(api, 'panel.example.org', alice)).toMatchObject({
      diagnoseHost: { matched: false, reason: "the domain is one of the server's own names" },
    });
    // The wildcard does not serve the name, so it does not keep the administrator from it.
    const panel = await api.id(create, { input: { clientId: free, host: 'panel.example.org', targets } });
    expect(await route(api, 'panel.example.org')).toMatchObject({ diagnoseHost: { matched: true, rule: { id: panel } } });
    expect(await api.code(create, { input: { clientId: free, host: 'other.example.org', targets } })).toBe('HOST_OVERLAP');
    // A user who takes another name and the former one again has no right to it left.
    const given = await api.id(create, { input: { clientId: hers, host: 'localhost', targets } });
    await api.run(update, { id: given, input: { host: 'mine.example.info' } }, alice);
    expect(await api.code(update, { id: given, input: { host: 'localhost' } }, alice)).toBe('HOST_OWN_NAME');
    await serverUrl(api, 'mine.example.info');
    expect(await route(api, 'mine.example.info')).toMatchObject({ diagnoseHost: { matched: false } });
  });
});

eitherDialect('wildcards of a public suffix', (databases) => {
  test('are for administrators only, and keep no administrator from a name below them', async () => {
    const api = await openTestSchema(databases);
    const { hers, free, alice, web } = await world(api);
    const other = await api.id(create, { input: { clientId: hers, host: 'app.example.org', targets } });
    for (const host of ['*.com', '*.co.uk', '*.github.io', '*.COM.']) {
      for (const caller of [alice, web]) {
        expect(await api.code(create, { input: { clientId: hers, host, targets } }, caller)).toBe('HOST_PUBLIC_SUFFIX');
        expect(await api.code(update, { id: other, input: { host } }, caller)).toBe('HOST_PUBLIC_SUFFIX');
      }
    }
    expect(await api.code(create, { input: { clientId: hers, host: '*.example.co.uk', targets } }, alice)).toBeUndefined();
    await api.id(create, { input: { clientId: free, host: '*.com', targets } });
    expect(await api.code(create, { input: { clientId: hers, host: 'a.example.com', targets } }, alice)).toBe('HOST_OVERLAP');
    const below = await api.id(create, { input: { clientId: hers, host: 'a.example.com', targets } });
    expect(await route(api, 'a.example.com')).toMatchObject({ diagnoseHost: { rule: { id: below } } });
    expect(await api.code(update, { id: below, input: { location: '/app' } }, alice)).toBeUndefined();
    // The other way round it would take what is there already.
    expect(await api.code(create, { input: { clientId: free, host: '*.org', targets } })).toBe('HOST_OVERLAP');
    const save = 'mutation ($platformDomains: [PlatformDomainInput!]) { updateGlobalSettings(input: { platformDomains: $platformDomains }) { serverUrl } }';
    expect(await api.code(save, { platformDomains: [{ wildcard: '*.p.example.com' }] })).toBeUndefined();
    expect(await api.code(save, { platformDomains: [{ wildcard: '*.co.jp' }] })).toBeUndefined();
    expect(await api.code(create, { input: { clientId: free, host: 'x.co.jp', targets } })).toBeUndefined();
    expect(await api.code(create, { input: { clientId: hers, host: 'y.co.jp', targets } }, alice)).toBe('PLATFORM_NAMESPACE');
  });
});
