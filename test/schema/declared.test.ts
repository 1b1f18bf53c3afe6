import { expect, test } from '@jest/globals';
import type { AgentRecords } from '../../src/engine/face.ts';
import { AgentDeclarations } from '../../src/schema/writes/agent-records.ts';
import { deleteLeftRecords } from '../../src/schema/writes/left-records.ts';
import { eitherDialect } from '../support/database.ts';
import { sized } from '../support/endurance.ts';
import type { DeclaredHost, DeclaredTunnel } from '../../src/wire/declaration.ts';
import { MAX_DECLARED } from '../../src/wire/declared.ts';
import { declaredHostOf, declaredTunnelOf } from '../support/declared-entries.ts';
import { onlineState } from '../support/client-state.ts';
import { openTestSchema, type TestSchema } from '../support/schema.ts';
import { seedClients, seedHosts, seedTunnels } from '../support/seed.ts';

const tunnel = (records: AgentRecords, name: string, more: Partial<DeclaredTunnel> = {}) =>
  records.declare({ kind: 'tunnel', name, tunnel: declaredTunnelOf(more) });
const host = (records: AgentRecords, name: string, more: Partial<DeclaredHost> = {}) => records.declare({ kind: 'host', name, host: declaredHostOf(more) });
const newClient = (api: TestSchema, input: object = {}) => api.id('mutation ($input: CreateClientInput!) { createClient(input: $input) { id } }', { input });

const online = onlineState();

async function counts({ services: { store } }: TestSchema) {
  const [client] = await store.db.client.findMany({ orderBy: { id: 'asc' } });
  return { tunnels: await store.db.tunnel.count(), hosts: await store.db.host.count(), slots: client?.tunnelCount, ofHosts: client?.hostCount };
}

eitherDialect('what agents bring along', (databases) => {
  test('becomes records that the engine serves, changes in place, and is deleted when the session ends', async () => {
    const api = await openTestSchema(databases);
    const clientId = await newClient(api);
    const declarations = new AgentDeclarations(api.services);
    const records = declarations.open(clientId, '192.0.2.1');
    const made = await tunnel(records, 'a');
    expect(made).toEqual({ id: expect.any(Number), port: 20_000, error: '' });
    expect(await tunnel(records, 'a', { targets: ['127.0.0.1:2'] })).toEqual(made);
    expect(api.engine.wantedTunnels.get(made.id)).toMatchObject({ port: 20_000, targets: ['127.0.0.1:2'] });
    expect(await tunnel(records, 'a', { mode: 'secret', password: 'p' })).toEqual({ ...made, port: 0 });
    const generated = await tunnel(records, 'p2p', { mode: 'p2p' });
    const passwordOf = () => api.engine.wantedTunnels.get(generated.id)?.password;
    const password = passwordOf();
    expect(password).toMatch(/^.{20,}$/);
    // One that the agent declares is taken, and none keeps the one that there is.
    for (const [declared, kept] of [['', password], ['q', 'q'], ['', 'q']] as const) {
      expect(await tunnel(records, 'p2p', { mode: 'p2p', password: declared })).toEqual({ ...generated, port: 0 });
      expect(passwordOf()).toBe(kept);
    }
    await records.withdraw('tunnel', 'p2p');
    const named = await host(records, 'a');
    expect(await host(records, 'a', { location: '/x' })).toEqual({ id: named.id, port: 0, error: '' });
    expect(api.engine.wantedHosts.get(named.id)).toMatchObject({ host: 'a.example', location: '/x' });
    expect(await host(records, 'a', { location: '/ x' })).toEqual({ id: named.id, port: 0, error: expect.stringContaining('location') });
    await host(records, 'a');
    expect(await counts(api)).toEqual({ tunnels: 1, hosts: 1, slots: 2, ofHosts: 1 });
    const [entry] = (await api.services.store.auditPage({ offset: 0, limit: 1 })).rows;
    expect(entry).toMatchObject({ callerKind: 'client', callerId: clientId, method: 'vkey', address: '192.0.2.1', resource: 'host' });
    records.close();
    await declarations.open(clientId, '').withdraw('tunnel', 'nothing');
    expect(await counts(api)).toEqual({ tunnels: 0, hosts: 0, slots: 0, ofHosts: 0 });
    expect(api.engine.wantedTunnels.size + api.engine.wantedHosts.size).toBe(0);
    expect(api.engine.openLeases.size).toBe(0);
  });

  test('is limited to so many tunnels and hosts of an agent; existing ones may be changed, and a withdrawn one makes room', async () => {
    const api = await openTestSchema(databases);
    const most = sized(10, MAX_DECLARED);
    const records = new AgentDeclarations(api.services, most).open(await newClient(api), '');
    expect((await host(records, 'a')).error).toBe('');
    const made = await Promise.all(Array.from({ length: most - 1 }, (_, count) => tunnel(records, `t${count}`)));
    expect(made.filter(({ error }) => error !== '')).toEqual([]);
    const more = await Promise.all([tunnel(records, 'more'), host(records, 'more', { host: 'b.example' })]);
    for (const outcome of more) expect(outcome).toMatchObject({ id: 0, error: expect.stringContaining('tunnel') });
    expect(await tunnel(records, 't0', { targets: ['127.0.0.1:2'] })).toEqual(made[0]);
    expect(await counts(api)).toMatchObject({ tunnels: most - 1, hosts: 1 });
    await records.withdraw('tunnel', 't1');
    expect((await tunnel(records, 'more')).error).toBe('');
    expect((await tunnel(records, 'yet more')).error).not.toBe('');
    // One that somebody has deleted in the panel comes again.
    await api.ok(`mutation { deleteTunnel(id: ${made[0]?.id}) }`);
    expect((await tunnel(records, 't0')).error).toBe('');
    expect(await counts(api)).toMatchObject({ tunnels: most - 1, hosts: 1 });
  });

  test('can be stopped, started and copied in the API; the copy is stored like any other', async () => {
    const api = await openTestSchema(databases);
    const records = new AgentDeclarations(api.services).open(await newClient(api), '');
    const made = [['Tunnel', (await tunnel(records, 'a')).id], ['Host', (await host(records, 'a')).id]] as const;
    for (const [kind, id] of made) {
      for (const [action, enabled] of [['stop', false], ['start', true], ['stop', false]] as const) {
        expect(await api.ok(`mutation { done: ${action}${kind}(id: ${id}) { enabled noStore } }`)).toEqual({ done: { enabled, noStore: true } });
      }
    }
    expect(await api.ok(`mutation { copyTunnel(id: ${made[0][1]}) { noStore } }`)).toEqual({ copyTunnel: { noStore: false } });
    await records.withdraw('tunnel', 'a');
    expect(await counts(api)).toMatchObject({ tunnels: 1, hosts: 1 });
  });

  test('is held to every rule, and what is refused stays as it was', async () => {
    const api = await openTestSchema(databases);
    const clientId = await newClient(api, { maxTunnels: 3 });
    const other = await newClient(api);
    await api.id('mutation ($input: CreateTunnelInput!) { createTunnel(input: $input) { id } }', {
      input: { clientId: other, mode: 'SECRET', password: 'taken', targets: ['1'] },
    });
    await api.id('mutation ($input: CreateHostInput!) { createHost(input: $input) { id } }', {
      input: { clientId: other, host: 'taken.example', targets: ['1'] },
    });
    api.engine.taken.add(9001);
    const records = new AgentDeclarations(api.services).open(clientId, '');
    const errorOf = async (outcome: ReturnType<AgentRecords['declare']>) => (await outcome).error;
    expect(await errorOf(tunnel(records, 'port', { port: 9001 }))).toMatch(/^The port cannot be opened/);
    expect(await errorOf(tunnel(records, 'password', { mode: 'p2p', password: 'taken' }))).toBe('secret mode keys taken must be unique');
    expect(await errorOf(tunnel(records, 'no password', { mode: 'secret' }))).toMatch(/^invalid password/);
    expect(await errorOf(tunnel(records, 'target', { targets: ['nope'] }))).toBe('invalid targets: "nope" is not host:port');
    expect(await errorOf(host(records, 'overlap', { host: 'taken.example', location: '/x' }))).toBe('host route overlaps another tenant');
    expect(await errorOf(host(records, 'suffix', { host: '*.example' }))).toBe('wildcard of a public suffix');
    expect(await errorOf(host(records, 'own', { host: '127.0.0.1' }))).toBe("the name is one of the server's own");
    expect(await errorOf(host(records, 'file', { certificate: '/etc/passwd', privateKey: '/etc/passwd' }))).toMatch(/^invalid certificate: only PEM text/);
    expect(await errorOf(host(records, 'acme', { host: '*.acme.example', acme: true }))).toMatch(/^invalid acme: /);
    expect(await errorOf(host(records, 'platform', { host: '', platformDomainId: 'none', platformPrefix: 'a' }))).toBe('unknown domain');
    const made = await tunnel(records, 'a');
    expect(await tunnel(records, 'a', { port: 9001 })).toEqual({ ...made, error: expect.stringMatching(/^The port cannot be opened/) });
    expect(api.engine.wantedTunnels.get(made.id)?.port).toBe(made.port);
    expect(await errorOf(host(records, 'b'))).toBe('');
    expect(await errorOf(tunnel(records, 'c'))).toBe('');
    expect(await errorOf(tunnel(records, 'one too many'))).toBe('The number of tunnels exceeds the limit');
    await records.withdraw('tunnel', 'c');
    expect(await errorOf(tunnel(records, 'one too many'))).toBe('');
  });

  test('is created again if it was deleted meanwhile, and needs no deletion if its client was deleted', async () => {
    const api = await openTestSchema(databases);
    const clientId = await newClient(api);
    const declarations = new AgentDeclarations(api.services);
    const records = declarations.open(clientId, '');
    const made = await tunnel(records, 'a');
    await api.ok('mutation ($id: ID!) { deleteTunnel(id: $id) }', { id: made.id });
    // One that is gone has neither id nor port, also if it cannot be created again.
    expect(await tunnel(records, 'a', { targets: ['nope'] })).toEqual({ id: 0, port: 0, error: expect.stringContaining('nope') });
    const again = await tunnel(records, 'a');
    expect(again.id).toBeGreaterThan(made.id);
    expect((await tunnel(records, 'a')).id).toBe(again.id);
    const served = await host(records, 'a');
    await api.ok('mutation ($id: ID!) { deleteHost(id: $id) }', { id: served.id });
    expect((await host(records, 'a')).id).toBeGreaterThan(served.id);
    expect(await counts(api)).toMatchObject({ tunnels: 1, hosts: 1 });
    await api.ok('mutation ($id: ID!) { deleteClient(id: $id) }', { id: clientId });
    expect((await tunnel(records, 'b')).error).toBe('permission denied');
    records.close();
    await declarations.stop();
    expect(api.logged.filter(({ level }) => level === 'error')).toEqual([]);
  });

  test('is deleted before a reconnected agent declares it again; what a killed server left is deleted at the start', async () => {
    const api = await openTestSchema(databases);
    const clientId = await newClient(api, { maxTunnels: 1 });
    const declarations = new AgentDeclarations(api.services);
    const first = declarations.open(clientId, '');
    await tunnel(first, 'a', { port: 9000 });
    first.close();
    expect(await tunnel(declarations.open(clientId, ''), 'a', { port: 9000 })).toMatchObject({ port: 9000, error: '' });
    expect(await counts(api)).toMatchObject({ tunnels: 1, slots: 1 });
    await declarations.stop();
    // A server that ends leaves them to its next start.
    first.close();
    expect(await tunnel(declarations.open(clientId, ''), 'b')).toEqual({ id: 0, port: 0, error: '' });
    expect(await counts(api)).toMatchObject({ tunnels: 1, slots: 1 });
    await api.services.store.forgetDeclared();
    expect(await counts(api)).toEqual({ tunnels: 0, hosts: 0, slots: 0, ofHosts: 0 });
  });

  test('is deleted at the next session of its client if the former server was killed; what was configured, and what others have declared, stays', async () => {
    const api = await openTestSchema(databases);
    const { store } = api.services;
    const [own = 0, other = 0] = await seedClients(store, 2);
    const declared = { noStore: true, port: 0, mode: 'p2p' };
    const [configured] = await seedTunnels(store, own, 1);
    const [configuredHost] = await seedHosts(store, own, 1);
    await seedTunnels(store, own, 1, () => declared);
    await seedHosts(store, own, 1, () => ({ noStore: true, host: 'declared.example' }));
    const [ofOther] = await seedTunnels(store, other, 1, () => declared);
    const [hostOfOther] = await seedHosts(store, other, 1, () => ({ noStore: true, host: 'other.example' }));
    const declarations = new AgentDeclarations(api.services);
    declarations.open(own, '');
    await declarations.open(own, '').withdraw('tunnel', 'nothing');
    const ids = { select: { id: true }, orderBy: { id: 'asc' } } as const;
    expect((await store.db.tunnel.findMany(ids)).map(({ id }) => id)).toEqual([configured, ofOther]);
    expect((await store.db.host.findMany(ids)).map(({ id }) => id)).toEqual([configuredHost, hostOfOther]);
  });

  test('is waited for at a stop, also what waits for another declaration', async () => {
    const api = await openTestSchema(databases);
    const declarations = new AgentDeclarations(api.services);
    const records = declarations.open(await newClient(api), '');
    const [first, second] = [tunnel(records, 'a'), tunnel(records, 'b')];
    let ended = false;
    void second.then(() => {
      ended = true;
    });
    await first;
    await declarations.stop();
    expect(ended).toBe(true);
  });

  test('that cannot be withdrawn says why, and is withdrawn when that works again', async () => {
    const api = await openTestSchema(databases);
    const records = new AgentDeclarations(api.services).open(await newClient(api), '');
    const made = await tunnel(records, 'a');
    api.engine.beforeApply = () => {
      throw new Error('no');
    };
    expect((await records.withdraw('tunnel', 'a')).error).toMatch(/^internal error /);
    api.engine.beforeApply = () => undefined;
    api.services.unapplied.clear();
    expect(await records.withdraw('tunnel', 'a')).toEqual({ id: 0, port: 0, error: '' });
    // Its name is free again.
    expect((await tunnel(records, 'a')).id).not.toBe(made.id);
  });

  test('is deleted after its server has ended, but not if its agent is connected to another one, which its row may not say yet', async () => {
    const api = await openTestSchema(databases);
    const [gone, moved] = [await newClient(api), await newClient(api)];
    const declarations = new AgentDeclarations(api.services);
    for (const clientId of [gone, moved]) {
      const records = declarations.open(clientId, '');
      await tunnel(records, 'a');
      await host(records, 'a', { host: `${clientId}.example` });
    }
    await api.services.store.db.client.updateMany({ data: { node: 'ended' } });
    api.engine.clients.set(moved, online).set(gone, { ...online, connected: false });
    await deleteLeftRecords(api.services, ['ended', 'other']);
    expect(await api.services.store.db.tunnel.count()).toBe(2);
    await deleteLeftRecords(api.services, ['other']);
    const { db } = api.services.store;
    const left = { tunnels: await db.tunnel.findMany(), hosts: await db.host.findMany() };
    expect([...left.tunnels, ...left.hosts].map(({ clientId }) => clientId)).toEqual([moved, moved]);
    expect([...api.engine.wantedTunnels.values(), ...api.engine.wantedHosts.values()].map(({ clientId }) => clientId)).toEqual([moved, moved]);
    const { rows: [entry] } = await api.services.store.auditPage({ offset: 0, limit: 1 });
    expect(entry).toMatchObject({ callerKind: 'server', action: 'delete', resource: 'host' });
  });

  test('of a server that has ended are deleted however many there are, and no configured ones', async () => {
    const api = await openTestSchema(databases);
    const { store } = api.services;
    const [gone = 0, here = 0] = await seedClients(store, 2, (n) => ({ node: n === 1 ? 'ended' : 'other' }));
    const declared = { noStore: true, port: 0, mode: 'p2p' };
    const [configured] = await seedTunnels(store, gone, 1);
    await seedTunnels(store, gone, 130, () => declared);
    const [elsewhere] = await seedTunnels(store, here, 1, () => declared);
    const hosts = await seedHosts(store, gone, 2, () => ({ noStore: false }));
    await seedHosts(store, gone, 90, (n) => ({ noStore: true, host: `declared${n}.example` }));
    await deleteLeftRecords(api.services, ['other']);
    const ids = { select: { id: true }, orderBy: { id: 'asc' } } as const;
    expect((await store.db.tunnel.findMany(ids)).map(({ id }) => id)).toEqual([configured, elsewhere]);
    expect((await store.db.host.findMany(ids)).map(({ id }) => id)).toEqual(hosts);
    expect(await store.db.auditEntry.groupBy({ by: ['resource', 'action'], _count: true, orderBy: { resource: 'asc' } })).toEqual([
      { resource: 'host', action: 'delete', _count: 90 },
      { resource: 'tunnel', action: 'delete', _count: 130 },
    ]);
  });
});
