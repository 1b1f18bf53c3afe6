import { expect, test } from '@jest/globals';
import { eitherDialect } from '../support/database.ts';
import { domain, hostFields, hostOperations, newClient, newHost, newUser, type Input } from '../support/host-operations.ts';
import { openTestSchema, type TestSchema } from '../support/schema.ts';

const { create, update, start, stop, remove, one, available } = hostOperations;
const totals = async ({ services }: TestSchema) =>
  Object.fromEntries((await services.store.db.total.findMany({ where: { name: { notIn: ['audit', 'users'] } } })).map(({ name, value }) => [name, value]));
const counts = async ({ services }: TestSchema, id: number) =>
  services.store.db.client.findUniqueOrThrow({ where: { id }, select: { tunnelCount: true, hostCount: true } });

eitherDialect('hosts', (databases) => {
  test('a new host has what was given, in its one spelling, and is started', async () => {
    const api = await openTestSchema(databases);
    const clientId = await newClient(api);
    const input = {
      clientId,
      host: ' App.Example.COM. ',
      location: 'api/',
      scheme: 'HTTPS',
      remark: 'web',
      targets: ['10.0.0.1:80\r\n[::1]:81'],
      headers: ['X-A: 1', ' X-B:2 '],
      hostChange: 'inside:8080',
      localProxy: true,
      autoHttps: true,
      certificate: ' /etc/a.pem ',
      privateKey: '/etc/a.key',
    };
    const host = {
      id: 1,
      host: 'app.example.com',
      location: '/api',
      scheme: 'HTTPS',
      mode: 'CUSTOM',
      platformDomainId: null,
      platformPrefix: null,
      remark: 'web',
      targets: ['10.0.0.1:80', '[::1]:81'],
      localProxy: false,
      headers: ['X-A: 1', 'X-B:2'],
      hostChange: 'inside:8080',
      certificatePath: '/etc/a.pem',
      privateKeyPath: '/etc/a.key',
      hasPrivateKey: true,
      autoHttps: true,
      enabled: true,
      client: { id: clientId },
    };
    expect(await api.record(create, { input })).toEqual(host);
    expect(await api.record(one, { id: 1 })).toEqual(host);
    expect(await api.record(create, { input: { clientId, host: 'b.com', autoHttps: true, scheme: 'HTTP' } })).toMatchObject({
      location: '/',
      scheme: 'HTTP',
      autoHttps: false,
      targets: [],
      headers: [],
      certificatePath: null,
      hasPrivateKey: false,
    });
    // No generated key of a client, which is searched too, has a period.
    expect(await api.ok('{ hosts(search: "APP.EX") { total rows { id } } }')).toEqual({ hosts: { total: 1, rows: [{ id: 1 }] } });
    await api.services.store.db.host.updateMany({ where: { id: 1 }, data: { enabled: false } });
    const byState = async (direction: string) =>
      (await api.record(`{ hosts(sort: { field: ENABLED, direction: ${direction} }) { rows { enabled } } }`))['rows'];
    const states = [{ enabled: false }, { enabled: true }];
    expect([await byState('ASC'), await byState('DESC')]).toEqual([states, states.toReversed()]);
    expect(
      await api.ok(
        '{ hosts(limit: 1, sort: { field: ID, direction: DESC }) { total rows { id } } client(id: 1) { hosts { total rows { id } } tunnels { total } } }',
      ),
    ).toEqual({
      hosts: { total: 2, rows: [{ id: 2 }] },
      client: { hosts: { total: 2, rows: [{ id: 1 }, { id: 2 }] }, tunnels: { total: 0 } },
    });
    expect(await totals(api)).toMatchObject({ clients: 1, hosts: 2 });
    expect(await counts(api, clientId)).toEqual({ tunnelCount: 2, hostCount: 2 });
  });

  test.each([
    [{ host: '' }, 'HOST_INVALID'],
    [{ host: 'a.*.com' }, 'HOST_INVALID'],
    [{ host: 'a.com:80' }, 'HOST_INVALID'],
    [{ location: '/a b' }, 'location'],
    [{ targets: ['nowhere'] }, 'targets'],
    [{ location: '/../a' }, 'location'],
    [{ headers: ['no header'] }, 'headers'],
    [{ headers: ['X-A: 1\0'] }, 'headers'],
    [{ hostChange: 'a\r\nX: 1' }, 'hostChange'],
    [{ remark: 'x'.repeat(256) }, 'remark'],
    [{ certificate: `-----BEGIN${'x'.repeat(65536)}` }, 'certificate'],
    [{ mode: 'PLATFORM' }, 'PLATFORM_DOMAIN_REQUIRED'],
    [{ mode: 'PLATFORM', platformDomainId: 'x\0' }, 'PLATFORM_DOMAIN_UNKNOWN'],
    [{ mode: 'PLATFORM', platformDomainId: 'd', platformPrefix: 'a.b', scheme: 'HTTP' }, 'PLATFORM_PREFIX_INVALID'],
    [{ mode: 'PLATFORM', platformDomainId: 'd', platformPrefix: 'a' }, 'PLATFORM_HTTP_ONLY'],
    [{ host: 'x.y.p.example.com' }, 'PLATFORM_NAMESPACE'],
    [{ host: '*.example.com' }, 'PLATFORM_NAMESPACE'],
    [{ host: '*.p.example.com' }, 'PLATFORM_NAMESPACE'],
  ])('%j is refused, on a new host and on an old one, and changes nothing', async (wrong, code) => {
    const api = await openTestSchema(databases);
    const clientId = await newClient(api);
    await api.services.store.db.platformDomain.create({ data: domain });
    const id = await newHost(api, clientId);
    const before = await api.record(one, { id });
    for (const answer of [await api.run(create, { input: { clientId, host: 'b.com', ...wrong } }), await api.run(update, { id, input: wrong })]) {
      const [error] = answer.errors;
      expect(error?.code === 'INVALID_INPUT' ? String(error.extensions['field']).replace(/^input\.|\.\d+$/g, '') : error?.code).toBe(code);
    }
    expect(await api.record(one, { id })).toEqual(before);
    expect(await totals(api)).toMatchObject({ hosts: 1 });
  });

  test('a certificate needs its private key, and a key its certificate, unless the caller wants to store half of a pair', async () => {
    const api = await openTestSchema(databases);
    const clientId = await newClient(api);
    const missing = async (operation: string, variables: Input) => {
      const [error] = (await api.run(operation, variables)).errors;
      return [error?.code, error?.extensions['field']];
    };
    for (const [given, field] of [[{ certificate: '/c' }, 'privateKey'], [{ privateKey: '/k', certificate: null }, 'certificate']] as const) {
      expect(await missing(create, { input: { clientId, host: 'b.com', ...given } })).toEqual(['CERTIFICATE_UNPAIRED', `input.${field}`]);
    }
    const half = 'mutation ($input: CreateHostInput!) { createHost(unpaired: true, input: $input) { certificatePath hasPrivateKey } }';
    expect(await api.record(half, { input: { clientId, host: 'half.com', certificate: '/c' } })).toEqual({ certificatePath: '/c', hasPrivateKey: false });
    const id = await newHost(api, clientId);
    expect(await missing(update, { id, input: { certificate: '/c' } })).toEqual(['CERTIFICATE_UNPAIRED', 'input.privateKey']);
    await api.record(update, { id, input: { certificate: '/c', privateKey: '/k' } });
    expect(await api.record(update, { id, input: { certificate: '/d' } })).toMatchObject({ certificatePath: '/d', privateKeyPath: '/k' });
    expect(await missing(update, { id, input: { privateKey: null } })).toEqual(['CERTIFICATE_UNPAIRED', 'input.privateKey']);
    await api.ok('mutation ($id: ID!) { updateHost(id: $id, unpaired: true, input: { privateKey: null }) { id } }', { id });
    expect(await api.record(update, { id, input: { remark: 'still editable' } })).toMatchObject({ certificatePath: '/d', hasPrivateKey: false });
  });

  test('an edit keeps what it does not name; null clears', async () => {
    const api = await openTestSchema(databases);
    const id = await newHost(api, await newClient(api), {
      location: '/a',
      headers: ['X: 1'],
      hostChange: 'h',
      certificate: 'c',
      privateKey: 'k',
      autoHttps: true,
    });
    await api.ok(stop, { id });
    await api.services.store.db.host.update({ where: { id }, data: { inletBytes: 5n } });
    const before = await api.record(one, { id });
    expect(await api.record(update, { id, input: { remark: 'new' } })).toEqual({ ...before, remark: 'new', enabled: false });
    expect(await api.record(update, { id, input: { location: null, headers: [], hostChange: null, certificate: null, privateKey: null, targets: [] } }))
      .toEqual({
        ...before,
        remark: 'new',
        location: '/',
        headers: [],
        hostChange: null,
        certificatePath: null,
        privateKeyPath: null,
        hasPrivateKey: false,
        targets: [],
      });
    expect(await api.record(update, { id, input: { scheme: 'HTTP' } })).toMatchObject({ scheme: 'HTTP', autoHttps: false });
    // The server's settings have allowed it before.
    await api.services.store.db.host.update({ where: { id }, data: { localProxy: true } });
    expect(await api.record(update, { id, input: { remark: 'x' } })).toMatchObject({ localProxy: false });
    expect((await api.services.store.db.host.findUniqueOrThrow({ where: { id } })).inletBytes).toBe(5n);
    for (const [mutation, enabled] of [[start, true], [start, true], [stop, false], [stop, false]] as const) {
      expect(await api.record(mutation, { id })).toEqual({ enabled });
    }
  });

  test('what a host took from the quotas of client and owner, it gives back', async () => {
    const api = await openTestSchema(databases);
    const userId = await newUser(api, 2);
    const [limited, owned] = [await newClient(api, { maxTunnels: 2 }), await newClient(api, { ownerId: userId })];
    await api.ok('mutation ($id: ID!) { createTunnel(input: { clientId: $id, mode: TCP }) { id } }', { id: limited });
    const id = await newHost(api, limited);
    expect((await api.run(create, { input: { clientId: limited, host: 'b.com' } })).errors[0]).toMatchObject({
      code: 'CLIENT_TUNNEL_QUOTA',
      message: 'The number of tunnels exceeds the limit',
    });
    expect(await api.code('mutation ($id: ID!) { createTunnel(input: { clientId: $id, mode: TCP }) { id } }', { id: limited })).toBe('CLIENT_TUNNEL_QUOTA');
    for (const host of ['c.com', 'd.com']) await newHost(api, owned, { host });
    expect(await api.code(create, { input: { clientId: owned, host: 'e.com' } })).toBe('USER_TUNNEL_QUOTA');
    expect(await api.code(update, { id, input: { clientId: owned } })).toBe('USER_TUNNEL_QUOTA');
    // Within the quota of an owner, nothing changes by a move.
    const alsoOwned = await newClient(api, { ownerId: userId });
    for (const clientId of [alsoOwned, owned]) expect(await api.record(update, { id: 2, input: { clientId } })).toMatchObject({ client: { id: clientId } });
    await api.ok('mutation ($id: ID!) { deleteClient(id: $id) }', { id: alsoOwned });
    const free = await newClient(api);
    expect(await api.record(update, { id, input: { clientId: free } })).toMatchObject({ client: { id: free } });
    expect(await counts(api, limited)).toEqual({ tunnelCount: 1, hostCount: 0 });
    expect(await counts(api, free)).toEqual({ tunnelCount: 1, hostCount: 1 });
    expect(await api.ok(remove, { id })).toEqual({ deleteHost: id });
    expect(await totals(api)).toMatchObject({ hosts: 2, tunnels: 1 });
    await api.ok('mutation ($id: ID!) { deleteClient(id: $id) }', { id: owned });
    expect(await totals(api)).toMatchObject({ hosts: 0, tunnels: 1 });
    expect(await api.services.store.db.user.findUniqueOrThrow({ where: { id: userId } })).toMatchObject({ tunnelCount: 0, clientCount: 0 });
    expect(await newHost(api, free, { host: 'f.com' })).toBe(4);
  });

  test('the same route belongs to one rule; http and https of a domain are two', async () => {
    const api = await openTestSchema(databases);
    const clientId = await newClient(api);
    const id = await newHost(api, clientId, { scheme: 'HTTP' });
    const refused = async (input: Input) => api.run(create, { input: { clientId, host: 'APP.example.com', ...input } });
    expect((await refused({})).errors[0]).toMatchObject({ code: 'HOST_EXISTS', message: 'host has exist', extensions: { hostId: id } });
    const another = await newClient(api);
    const { errors } = await api.run(create, { input: { clientId: another, host: 'app.example.com' } }, { kind: 'client', clientId: another });
    expect(errors).toMatchObject([{ code: 'HOST_EXISTS' }]);
    expect(errors[0]?.extensions).not.toHaveProperty('hostId');
    expect((await refused({ scheme: 'HTTP', location: '///' })).errors[0]?.code).toBe('HOST_EXISTS');
    await newHost(api, clientId, { scheme: 'HTTPS' });
    const other = await newHost(api, clientId, { location: '/api' });
    expect(await api.code(update, { id: other, input: { location: '/' } })).toBe('HOST_EXISTS');
    expect(await api.code(update, { id, input: { scheme: 'ALL' } })).toBe('HOST_EXISTS');
    expect(await api.record(update, { id, input: { scheme: 'HTTP', host: 'app.example.com', location: '/', remark: 'x' } })).toMatchObject({ remark: 'x' });
  });

  test('rules of different owners do not overlap, in either direction; those of one owner may', async () => {
    const api = await openTestSchema(databases);
    const userId = await newUser(api);
    const [mine, mineToo, free] = [await newClient(api, { ownerId: userId }), await newClient(api, { ownerId: userId }), await newClient(api)];
    await newHost(api, mine, { host: '*.example.com', location: '/x' });
    for (
      const input of [{ host: 'a.b.example.com' }, { host: 'a.example.com', location: '/x/y' }, { host: '*.com' }, {
        host: '*.b.example.com',
        location: '/x',
        scheme: 'HTTPS',
      }]
    ) {
      expect((await api.run(create, { input: { clientId: free, ...input } })).errors[0]).toMatchObject({
        code: 'HOST_OVERLAP',
        message: 'host route overlaps another tenant',
      });
    }
    const id = await newHost(api, free, { host: 'a.example.com', location: '/xy' });
    await newHost(api, free, { host: 'example.com' });
    expect(await newHost(api, mineToo, { host: 'b.example.com', location: '/x' })).toBe(id + 2);
    expect(await api.code(update, { id, input: { location: '/' } })).toBe('HOST_OVERLAP');
    expect(await api.code(update, { id: 1, input: { location: '/' } })).toBe('HOST_OVERLAP');
    const moved = await newHost(api, mine, { host: 'y.example.com', location: '/x' });
    expect(await api.code(update, { id: moved, input: { clientId: free } })).toBe('HOST_OVERLAP');
    expect(await api.record(update, { id: moved, input: { clientId: mineToo } })).toMatchObject({ client: { id: mineToo } });
  });

  test('a client does not leave its owner with a rule that overlaps one of those that stay', async () => {
    const api = await openTestSchema(databases);
    const [alice, bob] = [await newUser(api), await newUser(api)];
    const [one, two] = [await newClient(api, { ownerId: alice }), await newClient(api, { ownerId: alice })];
    await newHost(api, one, { host: '*.example.com' });
    const id = await newHost(api, two, { host: 'a.example.com' });
    const move = 'mutation ($id: ID!, $to: ID) { updateClient(id: $id, input: { ownerId: $to }) { id } }';
    for (const to of [bob, null]) {
      expect((await api.run(move, { id: two, to })).errors).toMatchObject([{ code: 'HOST_OVERLAP', extensions: { field: 'input.ownerId' } }]);
    }
    await api.ok('mutation ($id: ID!) { deleteHost(id: $id) }', { id });
    await api.ok(move, { id: two, to: bob });
    // Parted by something that can't be refused, such as the deletion of their owner, they can be brought together again.
    await api.services.store.db.host.create({ data: { clientId: two, host: 'a.example.com' } });
    await api.ok(move, { id: two, to: alice });
  });

  test('a platform host is made of domain and prefix, and stays one until it is made another', async () => {
    const api = await openTestSchema(databases);
    const clientId = await newClient(api);
    await api.services.store.db.host.create({ data: { clientId, host: 'old.p.example.com' } });
    await api.services.store.db.platformDomain.create({ data: domain });
    const input = {
      clientId,
      mode: 'PLATFORM',
      platformDomainId: ' d ',
      platformPrefix: ' App ',
      scheme: 'HTTP',
      host: 'ignored.com',
      certificate: 'mine.pem',
      privateKey: 'mine.key',
    };
    expect(await api.ok(available, { d: 'd', p: 'APP' })).toEqual({ platformHostAvailable: { available: true, host: 'app.p.example.com' } });
    const made = await api.record(create, { input });
    expect(made).toMatchObject({
      id: 2,
      host: 'app.p.example.com',
      mode: 'PLATFORM',
      platformDomainId: 'd',
      platformPrefix: 'app',
      certificatePath: null,
      hasPrivateKey: false,
    });
    expect(await api.ok(available, { d: 'd', p: 'app' })).toEqual({ platformHostAvailable: { available: false, host: 'app.p.example.com' } });
    expect(await api.ok(available, { d: 'd', p: 'app', id: 2 })).toMatchObject({ platformHostAvailable: { available: true } });
    const suggest = async (p: string) => api.record(`{ platformHostAvailable(platformDomainId: "d", platformPrefix: "${p}") { suggestions } }`);
    expect([await suggest('app'), await suggest('free')]).toEqual([{ suggestions: ['app-2', 'app-3', 'app-4'] }, { suggestions: [] }]);
    // Neither a label nor a name may be longer than DNS allows.
    const { db } = api.services.store;
    const wildcard = `*${`.${'d'.repeat(61)}`.repeat(4)}`;
    await db.platformDomain.create({ data: { ...domain, id: 'long', wildcard } });
    const [longest, long] = ['a'.repeat(62), 'a'.repeat(61)];
    for (const name of [longest, long]) await db.host.create({ data: { clientId, host: `${name}.p.example.com` } });
    await db.host.create({ data: { clientId, host: `${'b'.repeat(4)}${wildcard.slice(1)}` } });
    expect([await suggest(longest), await suggest(long)]).toEqual([{ suggestions: [] }, { suggestions: [2, 3, 4].map((n) => `${long}-${n}`) }]);
    expect(await api.record('{ platformHostAvailable(platformDomainId: "long", platformPrefix: "bbbb") { available suggestions } }')).toEqual({
      available: false,
      suggestions: [],
    });
    expect((await api.run(create, { input: { ...input, location: '/other' } })).errors).toMatchObject([{
      code: 'PLATFORM_PREFIX_USED',
      extensions: { field: 'input.platformPrefix' },
    }]);
    expect((await api.run(update, { id: 2, input: { scheme: 'ALL' } })).errors).toMatchObject([{
      code: 'PLATFORM_HTTP_ONLY',
      extensions: { field: 'input.scheme' },
    }]);
    expect(await api.code(create, { input: { ...input, platformPrefix: 'old' } })).toBe('PLATFORM_HOST_USED');
    const certify = (certFilePath: string, keyFilePath: string) =>
      api.services.store.db.platformDomain.update({ where: { id: 'd' }, data: { certFilePath, keyFilePath } });
    await certify('/domain.pem', '/domain.key');
    expect(await api.record(update, { id: 2, input: { certificate: '/mine.pem', privateKey: null } })).toMatchObject({
      certificatePath: '/domain.pem',
      privateKeyPath: '/domain.key',
    });
    await certify('', '');
    for (const kept of [{ remark: 'a' }, { host: 'APP.p.example.com' }, { mode: 'PLATFORM' }, { mode: 'PLATFORM', platformPrefix: 'app' }]) {
      expect(await api.record(update, { id: 2, input: kept })).toMatchObject({ mode: 'PLATFORM', host: 'app.p.example.com' });
    }
    expect(await api.record(update, { id: 2, input: { platformPrefix: 'new' } })).toMatchObject({ mode: 'PLATFORM', host: 'new.p.example.com' });
    expect(await api.code(update, { id: 2, input: { platformDomainId: 'none' } })).toBe('PLATFORM_DOMAIN_UNKNOWN');
    expect(await api.record(update, { id: 2, input: { platformDomainId: 'long' } })).toMatchObject({
      host: `new${wildcard.slice(1)}`,
      platformDomainId: 'long',
    });
    expect(await api.code(update, { id: 2, input: { mode: 'CUSTOM' } })).toBe('PLATFORM_NAMESPACE');
    expect(await api.record(update, { id: 2, input: { host: 'own.com' } })).toMatchObject({
      mode: 'CUSTOM',
      host: 'own.com',
      platformDomainId: null,
      platformPrefix: null,
    });
    expect(await api.record(update, { id: 1, input: { remark: 'still editable', host: 'old.p.example.com', mode: 'CUSTOM' } })).toMatchObject({
      remark: 'still editable',
    });
  });

  test('a certificate by ACME is for custom hosts that are names, and goes off with what it needs', async () => {
    const api = await openTestSchema(databases);
    const clientId = await newClient(api);
    await api.services.store.db.platformDomain.create({ data: domain });
    const on = async (operation: string, variables: Input) => (await api.record(operation.replace(hostFields, 'acme'), variables))['acme'];
    expect(await on(create, { input: { clientId, host: 'a.com' } })).toBe(false);
    expect(await on(update, { id: 1, input: { acme: true } })).toBe(true);
    expect(api.engine.wantedHosts.get(1)).toMatchObject({ acme: true });
    expect(await on(update, { id: 1, input: { remark: 'x' } })).toBe(true);
    expect(await on(create, { input: { clientId, host: 'b.com', scheme: 'HTTP', acme: true } })).toBe(false);
    for (
      const input of [{ host: '*.c.com' }, { host: '192.0.2.1' }, { host: '::1' }, { host: 'localhost' }, { host: 'a_b.com' }, {
        mode: 'PLATFORM',
        platformDomainId: 'd',
        platformPrefix: 'a',
        scheme: 'HTTP',
      }]
    ) {
      expect((await api.run(create, { input: { clientId, ...input, acme: true } })).errors[0]).toMatchObject({
        code: 'INVALID_INPUT',
        message: expect.stringMatching(/^invalid acme: /),
      });
      expect(await on(update, { id: 1, input: { mode: 'CUSTOM', host: 'a.com', scheme: 'ALL', acme: true } })).toBe(true);
      expect(await on(update, { id: 1, input: { location: `/${input.host ?? 'p'}`, ...input } })).toBe(false);
    }
    expect(await on(update, { id: 1, input: { mode: 'CUSTOM', host: 'a.com' } })).toBe(false);
  });

  test('the status of the current certificate is shown, and nothing of the key', async () => {
    const api = await openTestSchema(databases);
    const id = await newHost(api, await newClient(api));
    const all = 'origin status problem names issuer validFrom expiresAt daysRemaining fingerprint acme { status failures problem lastAttemptAt nextAttemptAt }';
    const reported = async () => (await api.record(`query ($id: ID!) { host(id: $id) { certificate { ${all} } } }`, { id }))['certificate'];
    const nothing = { names: [], issuer: null, validFrom: null, expiresAt: null, daysRemaining: null, fingerprint: null, acme: null };
    expect(await reported()).toEqual({ origin: 'NONE', status: 'NONE', problem: null, ...nothing });
    await api.ok(update, { id, input: { acme: true } });
    expect(await reported()).toEqual({
      origin: 'NONE',
      status: 'NONE',
      problem: expect.stringMatching(/^this server gets no certificates by ACME/),
      ...nothing,
    });
    const [validFrom, validTo] = [new Date('2026-01-01T00:00:00.000Z'), new Date('2100-01-01T00:00:00.000Z')];
    const inUse = { names: ['a.com', '*.b.com'], issuer: 'R3', validFrom, validTo, fingerprint: 'ab'.repeat(32) };
    api.engine.certificates.set(id, { status: 'refused', problem: 'bad pair', inUse, acme: null });
    expect(await reported()).toEqual({
      origin: 'OWN',
      status: 'REFUSED',
      problem: 'bad pair',
      names: inUse.names,
      issuer: 'R3',
      fingerprint: inUse.fingerprint,
      validFrom: validFrom.toISOString(),
      expiresAt: validTo.toISOString(),
      daysRemaining: expect.any(Number),
      acme: null,
    });
    api.engine.certificates.set(id, {
      status: 'missing',
      problem: '',
      inUse: null,
      acme: { status: 'failed', failures: 2, problem: 'nobody answered', lastAt: 1000, nextAt: validTo.getTime() },
    });
    expect(await reported()).toEqual({
      origin: 'ACME',
      status: 'MISSING',
      problem: null,
      ...nothing,
      acme: { status: 'FAILED', failures: 2, problem: 'nobody answered', lastAttemptAt: '1970-01-01T00:00:01.000Z', nextAttemptAt: validTo.toISOString() },
    });
  });

  test('a host that leaves its platform domain leaves the certificate there, which was shown as that of the domain', async () => {
    const api = await openTestSchema(databases);
    const { db } = api.services.store;
    await db.platformDomain.create({ data: domain });
    const id = await newHost(api, await newClient(api), { mode: 'PLATFORM', platformDomainId: 'd', platformPrefix: 'a', scheme: 'HTTP' });
    await db.host.update({ where: { id }, data: { certFilePath: '/domain.pem', keyFilePath: '/domain.key' } });
    api.engine.certificates.set(id, { status: 'valid', problem: '', inUse: null, acme: null });
    expect(await api.record('query ($id: ID!) { host(id: $id) { certificate { origin } } }', { id })).toEqual({ certificate: { origin: 'PLATFORM' } });
    expect(await api.record(update, { id, input: { host: 'own.com' } })).toMatchObject({ mode: 'CUSTOM', certificatePath: null, privateKeyPath: null });
  });

  test('why no certificate is ordered is only said of a started host with `acme` that has neither certificate nor key', async () => {
    const api = await openTestSchema(databases);
    const id = await newHost(api, await newClient(api), { acme: true });
    const problem = async (data: Parameters<typeof api.services.store.db.host.update>[0]['data']) => {
      await api.services.store.db.host.update({ where: { id }, data: { enabled: true, certFilePath: '', keyFilePath: '', acme: true, ...data } });
      return (await api.record('query ($id: ID!) { host(id: $id) { certificate { problem } } }', { id }))['certificate'];
    };
    expect(await problem({})).toEqual({ problem: 'this server gets no certificates by ACME: its settings have it off' });
    for (const data of [{ enabled: false }, { certFilePath: '/c' }, { keyFilePath: '/k' }, { acme: false }]) {
      expect([data, await problem(data)]).toEqual([data, { problem: null }]);
    }
  });

  test('prefixes are suggested that nobody has and, to users, none that is one of the names of the server; nine are tried', async () => {
    const api = await openTestSchema(databases, { publicUrl: 'https://app-3.p.example.com' });
    const { db } = api.services.store;
    await db.platformDomain.create({ data: domain });
    const clientId = await newClient(api);
    const take = async (...prefixes: readonly string[]) => {
      for (const prefix of prefixes) await db.host.create({ data: { clientId, host: `${prefix}.p.example.com` } });
    };
    const suggest = async (prefix: string, caller?: Parameters<typeof api.run>[2]) =>
      (await api.run(`{ platformHostAvailable(platformDomainId: "d", platformPrefix: "${prefix}") { suggestions } }`, {}, caller)).data;
    const suggested = (...suggestions: readonly string[]) => ({ platformHostAvailable: { suggestions } });
    await take('app', 'app-2', 'app-5', 'shop-7');
    expect(await suggest('app')).toEqual(suggested('app-3', 'app-4', 'app-6'));
    expect(await suggest('app', { kind: 'client', clientId })).toEqual(suggested('app-4', 'app-6', 'app-7'));
    expect(await suggest('shop-7')).toEqual(suggested('shop-8', 'shop-9', 'shop-10'));
    await take('app-3', 'app-4', 'app-6', 'app-7', 'app-8', 'app-9');
    expect(await suggest('app')).toEqual(suggested('app-10'));
    await take('app-10');
    expect(await suggest('app')).toEqual(suggested());
  });

  test('an unknown id is not found; null in a query', async () => {
    const api = await openTestSchema(databases);
    for (const [operation, variables] of [[update, { input: {} }], [start, {}], [stop, {}], [remove, {}]] as const) {
      expect((await api.run(operation, { id: 99, ...variables })).errors[0]).toMatchObject({ code: 'NOT_FOUND', message: 'host ID not found' });
    }
    expect(await api.ok(one, { id: 99 })).toEqual({ host: null });
    expect((await api.run(create, { input: { clientId: 99, host: 'a.com' } })).errors[0]).toMatchObject({ code: 'NOT_FOUND', message: 'client ID not found' });
  });

  test("runtime is the engine's state, or the stored state of a host that the engine does not know", async () => {
    const api = await openTestSchema(databases);
    const id = await newHost(api, await newClient(api));
    const operation = `query ($id: ID!) { host(id: $id) { runtime {
      running error connections refusals { cause count } rate inletRate exportRate inletBytes exportBytes health { type }
    } } }`;
    const idle = {
      running: false,
      error: null,
      connections: 0,
      refusals: [],
      rate: 0,
      inletRate: 0,
      exportRate: 0,
      inletBytes: 3,
      exportBytes: Number.MAX_SAFE_INTEGER,
      health: null,
    };
    await api.services.store.db.host.update({ where: { id }, data: { inletBytes: 3n, exportBytes: 2n ** 53n - 1n } });
    api.engine.wantedHosts.delete(id);
    expect(await api.record(operation, { id })).toEqual({ runtime: idle });
    api.engine.hosts.set(id, {
      running: true,
      error: '',
      connections: 2,
      refusals: { login: 3, offline: 1 },
      rate: 9,
      inletRate: 7,
      exportRate: 2,
      inletBytes: 4,
      exportBytes: 5,
      health: null,
    });
    expect(await api.record(operation, { id })).toEqual({
      runtime: {
        ...idle,
        running: true,
        connections: 2,
        refusals: [{ cause: 'OFFLINE', count: 1 }, { cause: 'LOGIN', count: 3 }],
        rate: 9,
        inletRate: 7,
        exportRate: 2,
        inletBytes: 4,
        exportBytes: 5,
      },
    });
    api.engine.hosts.set(id, {
      running: false,
      error: 'the agent is not connected',
      connections: 0,
      refusals: {},
      rate: 0,
      inletRate: 0,
      exportRate: 0,
      inletBytes: 4,
      exportBytes: 5,
      health: null,
    });
    expect(await api.record(operation, { id })).toEqual({ runtime: { ...idle, error: 'the agent is not connected', inletBytes: 4, exportBytes: 5 } });
  });

  test('every change is published, also to the engine', async () => {
    const api = await openTestSchema(databases);
    const reported: unknown[] = [];
    api.services.changes.subscribe((change) => {
      if (change.resource === 'host') reported.push([change.was?.id, change.row?.remark]);
    });
    const clientId = await newClient(api);
    const id = await newHost(api, clientId);
    await api.ok(update, { id, input: { remark: 'x' } });
    await api.ok(stop, { id });
    await api.ok(remove, { id });
    expect(reported).toEqual([[undefined, ''], [clientId, 'x'], [clientId, 'x'], [clientId, undefined]]);
    expect(api.engine.applied.map(({ kind }) => kind)).toEqual(['client', 'host', 'host', 'host', 'hostRemoved']);
  });
});
