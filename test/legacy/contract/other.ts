import { hash } from 'node:crypto';
import { expect } from '@jest/globals';
import { domains, files, password, someTime } from './records.ts';
import { wrote, type Contract, type Failure } from './row.ts';

/** The settings as they are answered (contract 1.6). */
function settings(list: readonly string[], serverUrl: string, platformDomains: readonly object[]) {
  return {
    status: 1,
    msg: 'success',
    globalBlackIpList: list.join('\r\n'),
    serverUrl,
    platform_domains: platformDomains,
    data: { BlackIpList: list, ServerUrl: serverUrl, PlatformDomains: platformDomains },
  };
}

const before = settings(['192.0.2.1'], 'https://adit.example.com', domains);
const see = { path: '/global/index', send: () => ({}), answer: (record: object | null) => record };
/** The entries in use, as they are saved. */
const d = { ID: 'd', Wildcard: '*.h.example.com' };
const t = { ID: 't', Wildcard: '*.p.example.com', ...files };
const entries = (...all: object[]) => ({ serverUrl: 'lost', platform_domains: JSON.stringify(all) });
const refusedEntries: readonly Failure[] = [
  ['platform_domains must not be blank; send []', { platform_domains: ' ' }],
  [/^invalid platform_domains: not valid JSON$/, { platform_domains: '[' }],
  [/^invalid platform_domains: .*expected array/, { platform_domains: '{}' }],
  [/^invalid platform_domains: .*expected object/, { platform_domains: '[1]' }],
  [/^invalid platform_domains: .*expected string.*wildcard/, { platform_domains: '[{"Wildcard":1}]' }],
  ['platform domain "example.com": the pattern must be *.example.com', entries({ Wildcard: 'example.com' })],
  ['platform domain *.a_b.com: bad DNS name', entries({ Wildcard: '*.a_b.com' })],
  ['platform domains: duplicate id a', entries({ ID: 'a', Wildcard: '*.a.com' }, { id: 'a', Wildcard: '*.b.com' })],
  ['platform domain *.a.com: certificate and key must be given both or none', entries({ Wildcard: '*.a.com', CertFilePath: '/c' })],
  ['platform domains *.a.com and *.x.a.com overlap', entries({ Wildcard: '*.a.com' }, { Wildcard: '*.x.a.com' })],
  ['certificate of *.p.example.com: cannot load', entries(d, { ...t, CertFilePath: '/nowhere' })],
  ['platform domain *.h.example.com in use: cannot delete', entries(t)],
  ['platform domain *.h.example.com in use: cannot rename', entries({ ...d, Wildcard: '*.q.example.com' }, t)],
  [
    'platform domain *.p.example.com is used by https host 4: change it to http before the certificate is removed',
    entries(d, { ID: 't', Wildcard: '*.p.example.com' }),
  ],
  ['platform domain *.own.com conflicts with existing wildcard host *.x.own.com', entries(d, t, { Wildcard: '*.own.com' })],
];
/** A visitor of client 1: the key as its digest. */
const visitor = { vkey: hash('md5', 'key-1', 'hex'), pass: 'open the door' };
const credentials = { username: 'alice', password };

/** Contract 2.6, 2.7, 3.2 and 3.3. */
export const otherContract: Contract = {
  '/auth/gettime': { send: {}, answer: { time: expect.any(Number) }, parameters: {}, failures: [] },
  '/auth/getauthkey': {
    send: {},
    answer: { status: 1, crypt_auth_key: expect.stringMatching(/^[0-9a-f]{64}$/), crypt_type: 'aes cbc' },
    parameters: {},
    failures: [],
  },
  '/auth/ipwhiteauth': {
    given: [{ path: '/client/edit', send: { id: 1, ipwhite: 1, ipwhitepass: 'open the door' }, answer: wrote('save success') }],
    send: visitor,
    answer: { success: true, message: 'ok' },
    parameters: {
      vkey: { send: { ...visitor, vkey: 'key-1' }, answer: { success: false, message: 'unknown key' } },
      pass: { send: { ...visitor, pass: 'let me out' }, answer: { success: false, message: 'bad password' } },
      ip: [{ send: { ...visitor, ip: '203.0.113.9' } }, { send: { ...visitor, ip: 'here' }, answer: { success: false, message: 'bad params' } }],
    },
    failures: [],
  },
  '/login/verify': {
    send: credentials,
    answer: wrote('login success'),
    parameters: {
      username: { send: { ...credentials, username: 'nobody' }, answer: { status: 0, msg: 'username or password incorrect' } },
      password: { send: { ...credentials, password: 'another' }, answer: { status: 0, msg: 'username or password incorrect' } },
    },
    failures: [['username or password incorrect', {}]],
  },
  '/login/out': { send: {}, answer: '', status: 302, parameters: {}, failures: [] },
  '/user/regenerateapikey': {
    send: { id: 2 },
    answer: wrote('regenerate success', { api_token: expect.stringMatching(/^adit_[\w-]{43}$/) }),
    after: [{ path: '/user/apikeystatus', send: { id: 2 }, answer: wrote('success', { exists: true, CreateTime: someTime, LastUsedTime: '' }) }],
    parameters: {
      // Without it the key is the administrators'.
      id: {
        send: {},
        after: [
          { path: '/user/apikeystatus', send: {}, answer: wrote('success', { exists: true, CreateTime: someTime, LastUsedTime: '' }) },
          { path: '/user/apikeystatus', send: { id: 2 }, answer: wrote('success', { exists: false, CreateTime: '', LastUsedTime: '' }) },
        ],
      },
    },
    unknown: { id: 'user ID not found' },
    failures: [['permission denied', {}, 403, 'alice'], ['permission denied', { id: 2 }, 403, 'alice']],
  },
  '/user/revokeapikey': {
    send: { id: 1 },
    answer: wrote('revoke success'),
    after: [{ path: '/user/apikeystatus', send: { id: 1 }, answer: wrote('success', { exists: false, CreateTime: '', LastUsedTime: '' }) }],
    parameters: { id: { send: { id: 2 }, answer: { status: 0, msg: 'no API key' } } },
    unknown: { id: 'user ID not found' },
    failures: [['no API key', {}], ['no API key', { id: 2 }], ['permission denied', { id: 2 }, 403, 'alice']],
  },
  '/user/apikeystatus': {
    send: { id: 1 },
    answer: wrote('success', { exists: true, CreateTime: '2026-11-21 09:30:00', LastUsedTime: '' }),
    parameters: { id: { send: { id: 2 }, answer: wrote('success', { exists: false, CreateTime: '', LastUsedTime: '' }) } },
    failures: [['permission denied', { id: 2 }, 403, 'alice']],
  },
  '/global/index': { send: {}, answer: before, parameters: {}, failures: [['permission denied', {}, 403, 'alice']] },
  '/global/save': {
    send: { serverUrl: 'https://other.example.com' },
    answer: wrote('save success'),
    see,
    id: 0,
    record: settings(['192.0.2.1'], 'https://other.example.com', domains),
    from: before,
    parameters: {
      globalBlackIpList: {
        send: { globalBlackIpList: '192.0.2.3\r\n\r\n192.0.2.4\r\n192.0.2.3' },
        record: settings(['192.0.2.4', '192.0.2.3'], 'https://adit.example.com', domains),
      },
      serverUrl: { send: { serverUrl: '' }, record: settings(['192.0.2.1'], '', domains) },
      platform_domains: {
        send: { platform_domains: JSON.stringify([d, { wildcard: '*.New.example.com', CertFilePath: null }, t]) },
        record: settings(['192.0.2.1'], 'https://adit.example.com', [domains[1], {
          ID: expect.stringMatching(/^platform-[0-9a-f]{16}$/),
          Wildcard: '*.new.example.com',
          CertFilePath: '',
          KeyFilePath: '',
          Status: 'no certificate, HTTP only',
          ExpiresAt: '',
          DaysRemaining: 0,
          ReferenceCount: 0,
          Readable: false,
        }, domains[2]]),
      },
    },
    most: { globalBlackIpList: 1_048_576, serverUrl: 255 },
    ownForm: ['platform_domains'],
    failures: [...refusedEntries, ['permission denied', { serverUrl: 'mine' }, 403, 'alice']],
  },
};
