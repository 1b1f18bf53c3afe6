import { expect, test } from '@jest/globals';
import type { Caller } from '../../src/rules/caller.ts';
import { eitherDialect } from '../support/database.ts';
import { domain, hostOperations, newClient, newHost, newUser, type Input } from '../support/host-operations.ts';
import { openTestSchema } from '../support/schema.ts';

const { create, update, start, stop, remove, one, available } = hostOperations;

eitherDialect('hosts of an ordinary user', (databases) => {
  /** Two users with a client each, the second of which has a host, and an unowned client. */
  async function tenants() {
    const api = await openTestSchema(databases);
    const [alice, bob] = [await newUser(api), await newUser(api)];
    const [alices, bobs, free] = [await newClient(api, { ownerId: alice }), await newClient(api, { ownerId: bob }), await newClient(api)];
    await api.services.store.db.platformDomain.create({ data: domain });
    const bobsHost = await newHost(api, bobs, {
      host: 'bobs.com',
      location: '/secret',
      remark: 'secret remark',
      targets: ['10.9.9.9:80'],
      certificate: '/etc/bobs.pem',
      privateKey: '/etc/bobs.key',
    });
    const user: Caller = { kind: 'user', userId: alice };
    return { api, user, alice, alices, bobs, free, bobsHost };
  }

  test('are all that the user sees, counts and changes', async () => {
    const { api, user, alices, bobs, free, bobsHost } = await tenants();
    const run = (operation: string, variables: Input = {}) => api.run(operation, variables, user);
    expect((await run(create, { input: { clientId: alices, host: 'alices.com', targets: ['80'] } })).data).toMatchObject({ createHost: { id: bobsHost + 1 } });
    for (const client of [alices, undefined]) {
      expect((await run('query ($c: ID) { hosts(filter: { clientId: $c }) { total rows { id } } }', { c: client })).data).toEqual({
        hosts: { total: 1, rows: [{ id: bobsHost + 1 }] },
      });
    }
    expect((await run('{ hosts(search: "secret") { total } }')).data).toEqual({ hosts: { total: 0 } });
    for (const clientId of [bobs, free]) {
      expect(await api.code('query ($c: ID) { hosts(filter: { clientId: $c }) { total } }', { c: clientId }, user)).toBe('FORBIDDEN');
      expect(await api.code(create, { input: { clientId, host: 'x.com' } }, user)).toBe('FORBIDDEN');
      expect(await api.code(update, { id: bobsHost + 1, input: { clientId } }, user)).toBe('FORBIDDEN');
    }
    for (const id of [bobsHost, 99]) {
      expect((await run(one, { id })).data).toEqual({ host: null });
      for (const operation of [start, stop, remove]) expect(await api.code(operation, { id }, user)).toBe('FORBIDDEN');
      expect(await api.code(update, { id, input: { remark: 'x' } }, user)).toBe('FORBIDDEN');
    }
    expect((await run(update, { id: bobsHost + 1, input: { remark: 'mine' } })).data).toMatchObject({ updateHost: { remark: 'mine' } });
    expect(await api.record(one, { id: bobsHost })).toMatchObject({ remark: 'secret remark', enabled: true });
  });

  test('carry certificates as text, never as the path of a file', async () => {
    const { api, user, alices } = await tenants();
    const pem = '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----';
    for (const field of ['certificate', 'privateKey']) {
      expect((await api.run(create, { input: { clientId: alices, host: 'alices.com', [field]: '/etc/passwd' } }, user)).errors[0]).toMatchObject({
        code: 'INVALID_INPUT',
        message: `invalid ${field}: only PEM text is accepted, no file path`,
      });
    }
    const { data } = await api.run(create, { input: { clientId: alices, host: 'alices.com', certificate: pem, privateKey: pem, localProxy: true } }, user);
    expect(data).toMatchObject({ createHost: { certificatePath: null, privateKeyPath: null, hasPrivateKey: true, localProxy: false } });
    await api.services.store.db.host.update({ where: { id: 2 }, data: { certFilePath: '/etc/a.pem', keyFilePath: '/etc/a.key' } });
    expect((await api.run(one, { id: 2 }, user)).data).toMatchObject({ host: { certificatePath: null, privateKeyPath: null, hasPrivateKey: true } });
    expect(await api.record(one, { id: 2 })).toMatchObject({ certificatePath: '/etc/a.pem', privateKeyPath: '/etc/a.key' });
  });

  test('can be below a platform domain, of which the user only sees what that requires', async () => {
    const { api, user, alices } = await tenants();
    expect((await api.run('{ platformDomains { id wildcard certificateConfigured } }', {}, user)).data).toEqual({
      platformDomains: [{ ...domain, certificateConfigured: false }],
    });
    for (const field of ['certificatePath', 'privateKeyPath', 'referenceCount', 'certificate', 'certificateInUse']) {
      const selection = field === 'certificate' || field === 'certificateInUse' ? `${field} { status }` : field;
      expect(await api.run(`{ platformDomains { ${selection} } }`, {}, user)).toEqual({ data: { platformDomains: [{ [field]: null }] }, errors: [] });
    }
    expect(await api.code('{ globalSettings { serverUrl } }', {}, user)).toBe('FORBIDDEN');
    expect(await api.code('mutation { updateGlobalSettings(input: {}) { serverUrl } }', {}, user)).toBe('FORBIDDEN');
    // The paths, which a user may not give, are ignored: the certificate is the domain's.
    const { data } = await api.run(create, {
      input: {
        clientId: alices,
        mode: 'PLATFORM',
        platformDomainId: 'd',
        platformPrefix: 'a',
        scheme: 'HTTP',
        certificate: '/etc/a.pem',
        privateKey: '/etc/a.key',
      },
    }, user);
    expect(data).toMatchObject({ createHost: { host: 'a.p.example.com' } });
    expect((await api.run(available, { d: 'd', p: 'a', id: 2 }, user)).data).toMatchObject({ platformHostAvailable: { available: true } });
    const other: Caller = { kind: 'user', userId: 2 };
    expect((await api.run(available, { d: 'd', p: 'a', id: 2 }, other)).data).toMatchObject({ platformHostAvailable: { available: false } });
  });

  test('appear in a diagnosis; a rule of another owner stays hidden', async () => {
    const { api, user, bobsHost } = await tenants();
    const ask =
      'query ($path: String) { diagnoseHost(host: "bobs.com", path: $path, scheme: HTTP, visitorAddress: "1.1.1.1") { matched reason target rule { id } gates { explanation remedy } } }';
    const answer = await api.run(ask, { path: '/secret' }, user);
    expect(answer.data).toMatchObject({ diagnoseHost: { matched: false, reason: 'no host rule matches', target: null, rule: null } });
    for (const secret of ['secret remark', '10.9.9.9', `host ${bobsHost}`]) expect(JSON.stringify(answer)).not.toContain(secret);
    expect(await api.record(ask, { path: '/secret' })).toMatchObject({ matched: true, rule: { id: bobsHost } });
    const tunnel = await api.id('mutation { createTunnel(input: { clientId: 2, mode: TCP }) { id } }');
    expect((await api.run('query ($id: ID!) { diagnoseTunnel(id: $id) { gates { name } } }', { id: tunnel }, user)).data).toEqual({ diagnoseTunnel: null });
  });

  test('the legacy client login sees those of its one client', async () => {
    const { api, bobs, alices, bobsHost } = await tenants();
    const login: Caller = { kind: 'client', clientId: bobs };
    expect((await api.run('{ hosts { total rows { id } } }', {}, login)).data).toEqual({ hosts: { total: 1, rows: [{ id: bobsHost }] } });
    expect((await api.run(update, { id: bobsHost, input: { remark: 'x' } }, login)).data).toMatchObject({ updateHost: { remark: 'x' } });
    expect(await api.code(update, { id: bobsHost, input: { clientId: alices } }, login)).toBe('FORBIDDEN');
  });
});
