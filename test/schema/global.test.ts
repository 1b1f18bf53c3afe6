import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { wantedState } from '../../src/schema/writes/engine-changes.ts';
import { certificateState, usableCertificate } from '../../src/schema/platform-domain/certificate-rules.ts';
import { covering, expired, makeCertificate, other } from '../support/certificates.ts';
import { eitherDialect } from '../support/database.ts';
import { openTestSchema, type TestSchema } from '../support/schema.ts';

const save =
  `mutation ($input: UpdateGlobalSettingsInput!) { updateGlobalSettings(input: $input) { blocklist serverUrl platformDomains { id wildcard certificatePath privateKeyPath } } }`;
const read =
  '{ globalSettings { blocklist serverUrl platformDomains { id wildcard certificatePath privateKeyPath certificateConfigured referenceCount certificate { status readable expiresAt daysRemaining } } } }';
const createHost = 'mutation ($input: CreateHostInput!) { createHost(input: $input) { id } }';
const wildcard = '*.p.example.com';

let directory: string;
const file = (name: string) => path.join(directory, name);
const columns = (name: string) => ({ certFilePath: file(`${name}.pem`), keyFilePath: file(`${name}.key`) });
const pair = (name: string) => ({ certificatePath: file(`${name}.pem`), privateKeyPath: file(`${name}.key`) });
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'adit-certificates-'));
  const short = await makeCertificate([wildcard], { from: new Date('2050-01-01'), to: new Date('2050-01-11') });
  for (const [name, { certificate, key }] of Object.entries({ covering, other, expired, short, wrongKey: { ...covering, key: other.key } })) {
    await writeFile(file(`${name}.pem`), certificate);
    await writeFile(file(`${name}.key`), key);
  }
  for (const name of ['empty.pem', 'empty.key', 'broken.key']) await writeFile(file(name), name.startsWith('empty') ? ' \n' : covering.key);
  await writeFile(file('broken.pem'), 'no certificate');
  await writeFile(file('large.pem'), 'x'.repeat(65 * 1024));
  await writeFile(file('large.key'), covering.key);
});
afterAll(() => rm(directory, { recursive: true }));

const saved = (api: TestSchema, platformDomains: unknown) => api.record(save, { input: { platformDomains } });
const refusal = async (api: TestSchema, platformDomains: unknown) => (await api.run(save, { input: { platformDomains } })).errors[0];
const client = (api: TestSchema) => api.id('mutation { createClient(input: {}) { id } }');
const platformHost = async (api: TestSchema, input = {}) =>
  api.id(createHost, {
    input: {
      clientId: await client(api),
      mode: 'PLATFORM',
      platformDomainId: 'platform-e7e1b1',
      platformPrefix: 'app',
      scheme: 'HTTP',
      ...input,
    },
  });
const entry = { id: 'platform-e7e1b1', wildcard };

eitherDialect('the global settings', (databases) => {
  test('are empty at first; what is absent keeps its value, null clears it', async () => {
    const api = await openTestSchema(databases);
    expect(await api.record(read)).toEqual({ blocklist: [], serverUrl: null, platformDomains: [] });
    const input = { blocklist: ['1.1.1.1\r\n2.2.2.2', '1.1.1.1', ' '], serverUrl: ' https://a.com ', platformDomains: [{ wildcard: '*.Example.com.' }] };
    const state = {
      blocklist: ['2.2.2.2', '1.1.1.1'],
      serverUrl: 'https://a.com',
      platformDomains: [{ id: 'platform-47287a8f16ec75e6', wildcard: '*.example.com', certificatePath: null, privateKeyPath: null }],
    };
    expect(await api.record(save, { input })).toEqual(state);
    expect(await api.record(save, { input: {} })).toEqual(state);
    expect(await api.record(save, { input: { serverUrl: null } })).toEqual({ ...state, serverUrl: null });
    expect(await api.record(save, { input: { blocklist: [], platformDomains: [] } })).toEqual({ blocklist: [], serverUrl: null, platformDomains: [] });
  });

  test.each(['nonsense', 'no sense.example', 'ftp://adit.example', 'https://', 'https://a b/', '/path', 'adit.example:80:90'])(
    'the server is not reached by %j',
    async (serverUrl) => {
      const api = await openTestSchema(databases);
      expect((await api.run(save, { input: { serverUrl } })).errors[0]?.extensions).toMatchObject({ code: 'SERVER_URL_INVALID', field: 'input.serverUrl' });
      await api.ok('mutation ($url: String) { updateGlobalSettings(anyServerUrl: true, input: { serverUrl: $url }) { version } }', { url: serverUrl });
      expect(await api.record(read)).toMatchObject({ serverUrl });
    },
  );

  test.each([
    'https://adit',
    'HTTP://adit.example:8080/base/',
    'adit.example',
    'adit.example:8024',
    'localhost',
    '192.0.2.1',
    '[2001:db8::1]:443',
    '2001:db8::1',
  ])(
    'the server may be reached by %j',
    async (serverUrl) => {
      const api = await openTestSchema(databases);
      expect(await api.record(save, { input: { serverUrl } })).toMatchObject({ serverUrl });
    },
  );

  test('pass the name of the server to the engine, at once and at the next start', async () => {
    const api = await openTestSchema(databases);
    await api.record(save, { input: { serverUrl: 'https://Nps.Example.com:8080/x' } });
    expect(api.engine.applied).toContainEqual({ kind: 'serverName', name: 'nps.example.com' });
    expect(wantedState(await api.services.store.loadEngineState()).serverName).toBe('nps.example.com');
  });

  test.each([
    [[{ wildcard: 'example.com' }], 'platform domain "example.com": the pattern must be *.example.com'],
    [[{ wildcard: '*.-a.com' }], 'platform domain *.-a.com: bad DNS name'],
    [[{ id: 'a', wildcard: '*.a.com' }, { id: ' a ', wildcard: '*.b.com' }], 'platform domains: duplicate id a'],
    [[{ wildcard: '*.a.com' }, { wildcard: '*.b.a.com' }], 'platform domains *.a.com and *.b.a.com overlap'],
    [[{ wildcard: '*.a.com', certificatePath: '/a.pem' }], 'platform domain *.a.com: certificate and key must be given both or none'],
    [[{ wildcard: '*.a.com', privateKeyPath: '/a.key', certificatePath: ' ' }], 'platform domain *.a.com: certificate and key must be given both or none'],
    [
      [{ wildcard: '*.a.com', certificatePath: '-----BEGIN', privateKeyPath: '-----BEGIN' }],
      'platform domain *.a.com: certificate and key are paths of files, not text',
    ],
    [Array.from({ length: 1001 }, (_, n) => ({ wildcard: `*.a${n}.com` })), 'invalid platformDomains: more than 1000 entries'],
  ])('%j: nothing is saved', async (platformDomains, message) => {
    const api = await openTestSchema(databases);
    const { errors } = await api.run(save, { input: { serverUrl: 'lost.example', blocklist: ['1.1.1.1'], platformDomains } });
    expect(errors[0]?.message).toBe(message);
    expect(await api.record(read)).toEqual({ blocklist: [], serverUrl: null, platformDomains: [] });
  });

  test.each([
    ['missing', 'cannot load'],
    ['large', 'cannot load'],
    ['empty', 'empty'],
    ['broken', 'cannot parse'],
    ['wrongKey', 'unusable pair'],
    ['expired', 'not yet valid or expired'],
    ['other', 'does not cover the wildcard'],
  ])('a certificate that is %s is refused: %s', async (name, reason) => {
    const api = await openTestSchema(databases);
    const error = await refusal(api, [{ ...entry, ...pair(name) }]);
    const field = 'input.platformDomains.0.certificatePath';
    expect(error).toMatchObject({ code: 'PLATFORM_CERTIFICATE', message: `certificate of ${wildcard}: ${reason}`, extensions: { field } });
    expect(await api.services.store.db.platformDomain.count()).toBe(0);
  });

  test('the status of a certificate is shown, and follows changes of its files', async () => {
    const api = await openTestSchema(databases);
    await saved(api, [{ ...entry, ...pair('covering') }, { wildcard: '*.example.org' }]);
    const { platformDomains } = await api.record(read);
    expect(platformDomains).toEqual([
      {
        ...{ id: expect.any(String), wildcard: '*.example.org', certificatePath: null, privateKeyPath: null, certificateConfigured: false, referenceCount: 0 },
        certificate: { status: 'NONE', readable: false, expiresAt: null, daysRemaining: null },
      },
      {
        ...entry,
        ...pair('covering'),
        certificateConfigured: true,
        referenceCount: 0,
        certificate: { status: 'VALID', readable: true, expiresAt: '2120-01-01T00:00:00.000Z', daysRemaining: expect.any(Number) },
      },
    ]);
    const status = async (name: string, now: string) => (await certificateState({ wildcard, ...columns(name) }, new Date(now))).status;
    // It ends with the year 2119: fewer than 15 days are left after the 17th has begun.
    expect(await status('covering', '2119-12-17T00:00:00Z')).toBe('valid');
    expect(await status('covering', '2119-12-17T00:00:00.001Z')).toBe('expiring');
    expect(await status('covering', '2120-01-01T00:00:00Z')).toBe('expired');
    expect(await status('covering', '2019-01-01T00:00:00Z')).toBe('notYetValid');
    expect([await status('short', '2049-12-31T00:00:00Z'), await status('short', '2050-01-02T00:00:00Z')]).toEqual(['notYetValid', 'expiring']);
    for (const now of ['2019-01-01T00:00:00Z', '2050-01-01T00:00:00Z', '2120-01-01T00:00:00Z']) expect(await status('other', now)).toBe('notCovered');
    for (const [name, text] of [['missing', 'cannotLoad'], ['wrongKey', 'cannotLoad'], ['empty', 'empty'], ['broken', 'cannotParse']] as const) {
      expect(await status(name, '2050-01-01T00:00:00Z')).toBe(text);
    }
  });

  test('an entry with hosts is neither deleted nor renamed; one without is', async () => {
    const api = await openTestSchema(databases);
    await saved(api, [entry]);
    const id = await platformHost(api);
    expect(await refusal(api, [])).toMatchObject({ code: 'PLATFORM_DOMAIN_IN_USE', message: `platform domain ${wildcard} in use: cannot delete` });
    expect(await refusal(api, [{ ...entry, wildcard: '*.q.example.com' }])).toMatchObject({
      code: 'PLATFORM_DOMAIN_IN_USE',
      message: `platform domain ${wildcard} in use: cannot rename`,
    });
    expect(await refusal(api, [{ id: 'another', wildcard }])).toMatchObject({ code: 'PLATFORM_DOMAIN_IN_USE' });
    expect(await saved(api, [{ wildcard }, { id: 'b', wildcard: '*.b.com' }, { id: 'c', wildcard: '*.c.com' }])).toMatchObject({
      platformDomains: [{ id: 'b' }, { id: 'c' }, entry],
    });
    expect(await saved(api, [entry, { id: 'b', wildcard: '*.c.com' }, { id: 'c', wildcard: '*.b.com' }])).toMatchObject({
      platformDomains: [{ id: 'c', wildcard: '*.b.com' }, { id: 'b', wildcard: '*.c.com' }, entry],
    });
    await api.ok('mutation ($id: ID!) { deleteHost(id: $id) }', { id });
    expect(await saved(api, [{ ...entry, wildcard: '*.q.example.com' }])).toMatchObject({ platformDomains: [{ ...entry, wildcard: '*.q.example.com' }] });
    expect(await saved(api, [])).toMatchObject({ platformDomains: [] });
  });

  test('a certificate reaches the hosts, and stays while they need it', async () => {
    const api = await openTestSchema(databases);
    await saved(api, [entry]);
    const id = await platformHost(api);
    const reported: unknown[] = [];
    api.services.changes.subscribe((change) => {
      reported.push(change.resource);
    });
    await saved(api, [{ ...entry, ...pair('covering') }]);
    expect(reported.splice(0)).toEqual(['globalSettings', 'host']);
    await saved(api, [{ ...entry, ...pair('covering') }]);
    expect(reported).toEqual(['globalSettings']);
    expect(await api.services.store.db.host.findUniqueOrThrow({ where: { id } })).toMatchObject(columns('covering'));
    await api.ok('mutation ($id: ID!) { updateHost(id: $id, input: { scheme: ALL, certificate: "mine", privateKey: "mine" }) { id } }', { id });
    expect(await api.services.store.db.host.findUniqueOrThrow({ where: { id } })).toMatchObject({ scheme: 'all', ...columns('covering') });
    expect(await refusal(api, [entry])).toMatchObject({
      code: 'PLATFORM_DOMAIN_IN_USE',
      message: `platform domain ${wildcard} is used by https host ${id}: change it to http before the certificate is removed`,
    });
    await writeFile(file('passing.pem'), covering.certificate);
    await writeFile(file('passing.key'), covering.key);
    // A stopped host gets it, too.
    await api.ok('mutation ($id: ID!) { stopHost(id: $id) { id } }', { id });
    await saved(api, [{ ...entry, ...pair('passing') }]);
    expect(await api.services.store.db.host.findUniqueOrThrow({ where: { id } })).toMatchObject(columns('passing'));
    await writeFile(file('passing.pem'), expired.certificate);
    expect(await refusal(api, [{ ...entry, ...pair('passing') }])).toMatchObject({ code: 'PLATFORM_CERTIFICATE' });
    expect(await api.run(createHost, { input: { clientId: 1, mode: 'PLATFORM', platformDomainId: entry.id, platformPrefix: 'b' } })).toMatchObject({
      errors: [{ code: 'PLATFORM_CERTIFICATE' }],
    });
    expect(await api.record('mutation ($id: ID!) { updateHost(id: $id, input: { remark: "x" }) { remark } }', { id })).toEqual({ remark: 'x' });
    expect(await api.record('mutation ($id: ID!) { updateHost(id: $id, input: { host: "own.com" }) { hasPrivateKey } }', { id })).toEqual({
      hasPrivateKey: false,
    });
  });

  test('are listed by their names, or only those whose certificate has too few days left, each with the certificate that its hosts use', async () => {
    const api = await openTestSchema(databases);
    const { db } = api.services.store;
    await db.platformDomain.createMany({
      data: [
        { id: 'd1', wildcard, ...columns('covering') },
        { id: 'd2', wildcard: '*.a.example', certFilePath: '', keyFilePath: '' },
        { id: 'd3', wildcard: '*.z.example', ...columns('expired') },
      ],
    });
    const listed = async (filter: string) => {
      const { platformDomains } = z.object({
        platformDomains: z.array(z.object({ id: z.string(), certificate: z.object({ daysRemaining: z.number().nullable() }) })),
      })
        .parse(await api.ok(`{ platformDomains${filter} { id certificate { daysRemaining } } }`));
      return platformDomains;
    };
    const all = await listed('');
    expect(all.map(({ id }) => id)).toEqual(['d2', 'd1', 'd3']);
    const days = all[1]?.certificate.daysRemaining ?? 0;
    const below = async (count: number) => (await listed(`(filter: { certificateDaysRemainingBelow: ${count} })`)).map(({ id }) => id);
    expect([await below(1), await below(days), await below(days + 1)]).toEqual([['d3'], ['d3'], ['d1', 'd3']]);
    const ids = [];
    for (const [platformDomainId, prefix, scheme] of [['d1', 'a', 'http'], ['d1', 'b', 'all'], ['d1', 'c', 'https'], ['d2', 'a', 'http']] as const) {
      const { id: clientId } = await db.client.create({ data: { vkey: `${platformDomainId} ${prefix}` } });
      const host = await db.host.create({
        data: { clientId, host: `${prefix}.${platformDomainId}.example`, platformDomainId, platformPrefix: prefix, scheme },
      });
      ids.push(host.id);
    }
    for (const [index, status] of (['missing', 'expiring', 'valid', 'missing'] as const).entries()) {
      api.engine.certificates.set(ids[index] ?? 0, { status, problem: '', inUse: null, acme: null });
    }
    expect(await api.ok('{ platformDomains { id referenceCount certificateInUse { status origin } } }')).toEqual({
      platformDomains: [
        { id: 'd2', referenceCount: 1, certificateInUse: null },
        { id: 'd1', referenceCount: 3, certificateInUse: { status: 'EXPIRING', origin: 'PLATFORM' } },
        { id: 'd3', referenceCount: 0, certificateInUse: null },
      ],
    });
  });

  test('keep the id of a pattern that another entry does not take; a file has 64 KB at most', async () => {
    const api = await openTestSchema(databases);
    await saved(api, [entry]);
    // The id of the stored entry with the pattern is given to another one.
    expect(await saved(api, [{ ...entry, wildcard: '*.q.example.com' }, { wildcard }])).toMatchObject({
      platformDomains: [{ id: expect.stringMatching(/^platform-[0-9a-f]{16}$/), wildcard }, { id: entry.id, wildcard: '*.q.example.com' }],
    });
    const most = 64 * 1024;
    for (const [length, status] of [[most, 'valid'], [most + 1, 'cannotLoad']] as const) {
      await writeFile(file('padded.pem'), covering.certificate.padEnd(length, '\n'));
      await writeFile(file('padded.key'), covering.key);
      expect((await certificateState({ wildcard, ...columns('padded') }, new Date('2050-01-01T00:00:00Z'))).status).toBe(status);
    }
    const usableAt = (now: string) => usableCertificate({ wildcard, ...columns('covering') }, 'f', new Date(now));
    for (const now of ['2020-01-01T00:00:00.000Z', '2119-12-31T23:59:59.999Z']) await usableAt(now);
    for (const now of ['2019-12-31T23:59:59.999Z', '2120-01-01T00:00:00.000Z']) await expect(usableAt(now)).rejects.toThrow('not yet valid or expired');
  });

  test('a new pattern meets no wildcard host that is there', async () => {
    const api = await openTestSchema(databases);
    const id = await api.id(createHost, { input: { clientId: await client(api), host: '*.x.p.example.com' } });
    expect(await refusal(api, [entry])).toMatchObject({
      code: 'PLATFORM_DOMAIN_INVALID',
      message: `platform domain ${wildcard} conflicts with existing wildcard host *.x.p.example.com`,
    });
    expect(await saved(api, [{ id: 'q', wildcard: '*.q.example.com' }])).toMatchObject({ platformDomains: [{ wildcard: '*.q.example.com' }] });
    await api.ok('mutation ($id: ID!) { stopHost(id: $id) { id } }', { id });
    expect(await refusal(api, [{ id: 'q', wildcard }])).toMatchObject({ code: 'PLATFORM_DOMAIN_INVALID' });
  });
});
