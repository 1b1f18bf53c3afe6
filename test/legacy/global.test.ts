import { beforeAll, beforeEach, expect, test } from '@jest/globals';
import { globalRecord } from '../../src/legacy/records/global.ts';
import { expireTimeText } from '../../src/rules/expire-time.ts';
import { testApis, type Api } from '../support/api.ts';
import { eitherDialect } from '../support/database.ts';

const domain = { ID: 'platform-47287a8f16ec75e6', Wildcard: '*.example.com', CertFilePath: '', KeyFilePath: '' };
const state = { ...domain, Status: 'no certificate, HTTP only', ExpiresAt: '', DaysRemaining: 0, ReferenceCount: 0, Readable: false };

test.each(
  [
    ['NONE', 'no certificate, HTTP only'],
    ['CANNOT_LOAD', 'cannot load'],
    ['EMPTY', 'empty'],
    ['CANNOT_PARSE', 'cannot parse'],
    ['NOT_COVERED', 'does not cover wildcard'],
    ['EXPIRED', 'expired'],
    ['NOT_YET_VALID', 'not yet valid'],
    ['EXPIRING', 'fewer than 15 days left'],
    ['VALID', 'valid'],
  ] as const,
)('a platform domain whose certificate is %s has the status "%s"', (status, text) => {
  const certificate = { status, expiresAt: '2026-02-01T12:00:00.000Z', daysRemaining: 5, readable: true };
  const paths = { certificatePath: '/c', privateKeyPath: '/k' };
  const platformDomains = [{ id: 'd', wildcard: '*.a.example', ...paths, referenceCount: 3, certificate }];
  const record = {
    ID: 'd',
    Wildcard: '*.a.example',
    CertFilePath: '/c',
    KeyFilePath: '/k',
    Status: text,
    ExpiresAt: expireTimeText(new Date('2026-02-01T12:00:00.000Z')),
    DaysRemaining: 5,
    ReferenceCount: 3,
    Readable: true,
  };
  expect(globalRecord({ globalSettings: { blocklist: ['1.1.1.1', '2.2.2.2'], serverUrl: null, platformDomains } })).toEqual({
    status: 1,
    msg: 'success',
    globalBlackIpList: '1.1.1.1\r\n2.2.2.2',
    serverUrl: '',
    platform_domains: [record],
    data: { BlackIpList: ['1.1.1.1', '2.2.2.2'], ServerUrl: '', PlatformDomains: [record] },
  });
});

eitherDialect('the endpoints under /global', (databases) => {
  const apis = testApis(databases);
  let api: Api;
  beforeAll(async () => {
    api = await apis.start();
  });
  beforeEach(() => api.reset());

  const body = async (path: string, parameters: Record<string, string | number | boolean> = {}) => (await api.signed(path, parameters)).body;
  const refused = (msg: string) => ({ status: 0, msg });
  const saved = { status: 1, msg: 'save success' };
  const settings = (list: readonly string[], serverUrl: string, domains: readonly object[]) => ({
    status: 1,
    msg: 'success',
    globalBlackIpList: list.join('\r\n'),
    serverUrl,
    platform_domains: domains,
    data: { BlackIpList: list, ServerUrl: serverUrl, PlatformDomains: domains },
  });

  test('what is saved can be read, changed and saved again', async () => {
    expect(await body('/global/index/')).toEqual(settings([], '', []));
    expect(
      await body('/global/save/', {
        globalBlackIpList: '1.1.1.1\r\n\r\n2.2.2.2\r\n1.1.1.1',
        serverUrl: 'https://a.com',
        platform_domains: '[{"wildcard":"*.Example.com","CertFilePath":null}]',
      }),
    ).toEqual(saved);
    const full = settings(['2.2.2.2', '1.1.1.1'], 'https://a.com', [state]);
    expect((await api.signed('/global/index', {}, { method: 'GET', encoding: 'query' })).body).toEqual(full);
    expect(await body('/global/save/', { platform_domains: JSON.stringify(full.platform_domains) })).toEqual(saved);
    expect(await body('/global/save/')).toEqual(saved);
    expect(await body('/global/index/')).toEqual(full);
    expect(await body('/global/save/', { globalBlackIpList: '', serverUrl: '', platform_domains: '[]' })).toEqual(saved);
    expect(await body('/global/index/')).toEqual(settings([], '', []));
  });

  test('errors name the keys of an entry', async () => {
    const entry = (more: object) =>
      body('/global/save/', { platform_domains: JSON.stringify([{ Wildcard: '*.example.com', CertFilePath: '/c', KeyFilePath: '/k', ...more }]) });
    expect(await entry({ CertFilePath: `/${'x'.repeat(4096)}` })).toEqual(refused('invalid certFilePath: longer than 4096 characters'));
    expect(await entry({ KeyFilePath: `/${'x'.repeat(4096)}` })).toEqual(refused('invalid keyFilePath: longer than 4096 characters'));
  });

  test('a blacklist of almost 1 MB is saved in every encoding and read back, and the audit log keeps its beginning', async () => {
    const list = Array.from({ length: 74_000 }, (_, n) => `10.${n >> 8 & 255}.${n & 255}.${n >> 16}`);
    expect(list.join('\n').length).toBeGreaterThan(800_000);
    for (const encoding of ['urlencoded', 'multipart', 'json'] as const) {
      expect((await api.signed('/global/save/', { globalBlackIpList: '' })).body).toEqual(saved);
      expect((await api.signed('/global/save/', { globalBlackIpList: list.join('\r\n') }, { encoding })).body).toEqual(saved);
      expect(await body('/global/index/')).toMatchObject({ data: { BlackIpList: list } });
    }
    const [entry] = await api.store.db.auditEntry.findMany({ orderBy: { id: 'desc' }, take: 1 });
    expect(entry?.after?.length).toBeLessThan(20_000);
    expect(entry?.after).toMatch(/"blocklist":"10\.0\.0\.0[^]*\.\.\. \(\d+ characters\)"/);
  });

  test('others may send no more than 256 KB, and lists of 64 KB', async () => {
    await body('/user/add/', { username: 'alice', password: 'secret-1' });
    const clientId = 1;
    await body('/client/add/', { user_id: 1 });
    const login = await api.call('/login/verify', { username: 'alice', password: 'secret-1' });
    const cookie = login.headers.get('set-cookie')?.split(';')[0] ?? '';
    const asAlice = async (lines: number) => {
      const { status, body: answer } = await api.call('/client/edit/', {
        id: clientId,
        blackiplist: Array.from({ length: lines }, (_, n) => `10.0.${n >> 8}.${n & 255}`).join('\n'),
      }, { encoding: 'json', headers: { cookie } });
      return [status, answer];
    };
    expect(await asAlice(5000)).toEqual([200, { status: 1, msg: 'save success' }]);
    expect(await asAlice(6000)).toEqual([200, refused('invalid blackiplist: longer than 65536 characters')]);
    expect(await asAlice(30_000)).toEqual([413, refused('the request body is larger than 256 KB')]);
    const outsider = await api.call('/login/verify', { username: 'a'.repeat(300_000) });
    expect([outsider.status, outsider.body]).toEqual([413, refused('the request body is larger than 256 KB')]);
  });

  test('a JSON body may carry the entries as they are', async () => {
    const { auth_key: key, timestamp } = (await import('../support/api.ts')).signature('the key of the tests', Date.now());
    const answer = await fetch(`${api.url}/global/save/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ auth_key: key, timestamp, platform_domains: [domain] }),
    });
    expect(await answer.json()).toEqual(saved);
    expect(await body('/global/index/')).toMatchObject({ platform_domains: [state] });
  });

  test('platform_domains sent twice is refused, however it comes', async () => {
    const msg = 'invalid platform_domains: sent more than once';
    expect(await body('/global/save/?platform_domains=[]', { platform_domains: '[]' })).toEqual(refused(msg));
    expect((await api.signed('/global/save/?platform_domains=[]&platform_domains=[]')).body).toEqual(refused(msg));
    expect((await api.signed('/global/save/?serverUrl=a&serverUrl=b')).body).toEqual(saved);
    expect(await body('/global/index/')).toMatchObject({ serverUrl: 'a' });
  });
});
