import { hosts, plainHost, webTarget } from './records.ts';
import { wrote, type Contract, type Failure, type ParameterCase } from './row.ts';

const rows = (ids: readonly (keyof typeof hosts)[], total = ids.length) => ({ rows: ids.map((id) => hosts[id]), total });
const see = {
  path: '/index/gethost',
  send: (id: number) => ({ id }),
  answer: (record: object | null) => record === null ? { code: 0 } : { code: 1, data: record },
};
const shop = { Id: 2, Remark: 'shop', IsConnect: false };
/** With the line ends that a multipart form makes of all others. */
const pem = (kind: string) => `-----BEGIN ${kind}-----\r\nnot for anybody's eyes\r\n-----END ${kind}-----\r\n`;

/** What each parameter makes of a host; `on` is what every call sends. */
function settable(on: Record<string, string | number>): Record<string, ParameterCase | readonly ParameterCase[]> {
  const set = (parameters: Record<string, string | number>, makes: Record<string, unknown>): ParameterCase => ({ send: { ...on, ...parameters }, makes });
  const below = { domain_mode: 'platform', platform_domain_id: 'd', platform_prefix: 'Shop', scheme: 'http' };
  // Host, certificate and key of a platform host are the server's to say.
  const platform = set({ ...below, host: 'ignored.example.com', cert_file_path: '/ignored', key_file_path: 'x'.repeat(5000) }, {
    Host: 'shop.h.example.com',
    PlatformDomainID: 'd',
    PlatformManaged: true,
    Scheme: 'http',
  });
  return {
    client_id: set({ client_id: 2 }, { Client: shop }),
    remark: set({ remark: 'a <b>&"\'</b>' }, { Remark: 'a <b>&"\'</b>' }),
    host: [set({ host: 'Shop.Example.com.' }, { Host: 'shop.example.com' }), set({ host: '*.shop.example.com' }, { Host: '*.shop.example.com' })],
    domain_mode: [platform, set({ domain_mode: 'whatever', host: 'shop.example.com' }, { Host: 'shop.example.com' })],
    platform_domain_id: platform,
    platform_prefix: platform,
    scheme: [set({ scheme: 'https' }, { Scheme: 'https' }), set({ scheme: 'http' }, { Scheme: 'http' })],
    location: set({ location: 'api/' }, { Location: '/api' }),
    target: set({ target: '10.0.0.1:80\n10.0.0.2:80' }, { Target: { TargetStr: '10.0.0.1:80\n10.0.0.2:80', TargetArr: ['10.0.0.1:80', '10.0.0.2:80'] } }),
    local_proxy: set({ local_proxy: 1 }, { Target: { LocalProxy: true } }),
    header: set({ header: 'X-A: 1\r\nX-B: 2' }, { HeaderChange: 'X-A: 1\nX-B: 2' }),
    hostchange: set({ hostchange: 'inside' }, { HostChange: 'inside' }),
    key_file_path: [set({ key_file_path: '/etc/a.key' }, { KeyFilePath: '/etc/a.key' }), {
      send: { ...on, key_file_path: pem('PRIVATE KEY') },
      makes: {},
      stored: { keyFilePath: pem('PRIVATE KEY') },
    }],
    cert_file_path: [set({ cert_file_path: '/etc/a.pem' }, { CertFilePath: '/etc/a.pem' }), {
      send: { ...on, cert_file_path: pem('CERTIFICATE') },
      makes: {},
      stored: { certFilePath: pem('CERTIFICATE') },
    }],
    AutoHttps: set({ AutoHttps: 'true' }, { AutoHttps: true }),
    auto_https: set({ auto_https: 'true' }, { AutoHttps: true }),
  };
}

const below = { domain_mode: 'platform', platform_domain_id: 'd', platform_prefix: 'shop', scheme: 'http' };
const failures = (on: Record<string, string | number>, custom: string, platform: string): readonly Failure[] => [
  [`${custom}invalid host`, { ...on, host: '' }],
  [`${custom}invalid host`, { ...on, host: 'a*.com' }],
  [`${custom}host has exist`, { ...on, host: '*.x.own.com' }],
  [`${custom}host route overlaps another tenant`, { ...on, client_id: 2, host: 'deep.x.own.com' }],
  [`${custom}custom host inside a platform namespace`, { ...on, host: 'a.b.h.example.com' }],
  ["the name is one of the server's own", { ...on, host: '192.0.2.1' }, 200, 'web login'],
  ['wildcard of a public suffix', { ...on, host: '*.com' }, 200, 'web login'],
  [`${platform}domain id empty`, { ...on, ...below, platform_domain_id: '' }],
  [`${platform}unknown domain`, { ...on, ...below, platform_domain_id: 'x' }],
  [`${platform}bad prefix`, { ...on, ...below, platform_prefix: 'a.b' }],
  [`${platform}bad prefix`, { ...on, ...below, platform_prefix: '' }],
  [`${platform}prefix used`, { ...on, ...below, platform_prefix: 'TAKEN' }],
  [`${platform}full host used`, { ...on, ...below, platform_prefix: 'old' }],
  [`${platform}platform domain *.h.example.com has no certificate: only http allowed`, { ...on, ...below, scheme: 'all' }],
  [`${platform}certificate of *.e.example.com: cannot load`, { ...on, ...below, platform_domain_id: 'e' }],
  ['The number of tunnels exceeds the limit', { ...on, client_id: 4 }],
  ['The number of user tunnels exceeds the limit', { ...on, client_id: 3 }],
  ['invalid location: holds a blank, a ? or a #', { ...on, location: '/a?b' }],
  ['invalid target: "x" is not host:port', { ...on, target: 'x' }],
  ['invalid header: line 2 is not Name: value', { ...on, header: 'X-A: 1\nno header' }],
  ['invalid hostchange: holds a blank or a control character', { ...on, hostchange: 'a b' }],
  ['invalid cert_file_path: longer than 65536 characters', { ...on, cert_file_path: `${pem('CERTIFICATE')}${'x'.repeat(65_536)}` }],
  ['permission denied', on, 403, 'alice'],
];
const form = {
  most: { remark: 255, location: 255, target: 16_384, header: 16_384, hostchange: 255, key_file_path: 4096, cert_file_path: 4096 },
  ownForm: ['host', 'domain_mode', 'platform_domain_id', 'platform_prefix'],
};

const added = { client_id: 1, host: 'new.example.com', target: '127.0.0.1:80' };
const diagnosis = (rest: object) => wrote('success', { data: { host: 'app.example.com', path: '/', scheme: 'http', matched: false, reason: '', ...rest } });
const rule = {
  id: 1,
  host: 'app.example.com',
  location: '/',
  scheme: 'all',
  remark: 'web',
  client: 'client 1 · office',
  clientId: 1,
  clientRemark: 'office',
  target: '127.0.0.1:80',
  platformManaged: false,
};
const request = { host: 'app.example.com', scheme: 'http' };

/** Contract 2.5. */
export const hostContract: Contract = {
  '/index/hostlist': {
    send: {},
    answer: rows([1, 2, 3, 4, 5]),
    parameters: {
      client_id: { send: { client_id: 3 }, answer: rows([2]) },
      user_id: { send: { user_id: 2 }, answer: rows([2]) },
      unassigned: { send: { unassigned: 'T' }, answer: rows([1, 3, 4, 5]) },
      search: [{ send: { search: 'TAKEN' }, answer: rows([2]) }, { send: { search: 'all below' }, answer: rows([3]) }, {
        send: { search: 'key-3' },
        answer: rows([2]),
      }, { send: { search: '4' }, answer: rows([4]) }],
      sort: { send: { sort: 'Remark' }, answer: rows([3, 2, 5, 1, 4]) },
      order: { send: { sort: 'Host', order: 'desc' }, answer: rows([2, 4, 5, 1, 3]) },
      offset: { send: { offset: 3 }, answer: rows([4, 5], 5) },
      limit: [{ send: { limit: 1 }, answer: rows([1], 5) }, { send: { limit: 0 }, answer: rows([], 5) }],
    },
    failures: [
      ['invalid user_id', { user_id: 'x' }],
      ['permission denied', { client_id: 1 }, 403, 'alice'],
      ['permission denied', { client_id: 2 }, 403, 'web login'],
    ],
  },
  '/index/gethost': {
    send: { id: 1 },
    answer: { code: 1, data: hosts[1] },
    parameters: { id: { send: { id: 2 }, answer: { code: 1, data: hosts[2] } } },
    failures: [],
  },
  '/index/addhost': {
    send: added,
    answer: wrote('add success', { id: 6 }),
    see,
    id: 6,
    record: { ...plainHost, Id: 6, Host: 'new.example.com', Target: webTarget },
    table: 'Host',
    parameters: settable(added),
    ...form,
    unknown: { client_id: 'add error the client can not be found' },
    failures: [
      ...failures(added, 'add fail', 'add fail, '),
      ['add failinvalid host', { client_id: 1 }],
      ['add error the client can not be found', { host: 'new.example.com' }],
      ['add error the client can not be found', { ...added, client_id: '' }],
    ],
  },
  '/index/edithost': {
    send: { id: 1, remark: 'changed' },
    answer: wrote('modified success'),
    see,
    id: 1,
    record: { ...hosts[1], Remark: 'changed' },
    from: hosts[1],
    table: 'Host',
    parameters: { id: { send: { id: 3, remark: 'changed' }, id: 3, record: { ...hosts[3], Remark: 'changed' } }, ...settable({ id: 1 }) },
    ...form,
    unknown: { id: 'host ID not found', client_id: 'modified error,the client is not exist' },
    failures: failures({ id: 1 }, 'modified error,', 'modified error,'),
  },
  '/index/hoststop': {
    send: { id: 1 },
    answer: wrote('stop success'),
    see,
    id: 1,
    record: { ...hosts[1], IsClose: true },
    table: 'Host',
    after: [{ path: '/index/hoststop', send: { id: 1 }, answer: wrote('stop success') }],
    parameters: { id: { send: { id: 2 }, id: 2, record: { ...hosts[2], IsClose: true } } },
    unknown: { id: 'host ID not found' },
    failures: [['permission denied', { id: 1 }, 403, 'alice']],
  },
  '/index/hoststart': {
    given: [1, 2].map((id) => ({ path: '/index/hoststop', send: { id }, answer: wrote('stop success') })),
    send: { id: 1 },
    answer: wrote('start success'),
    see,
    id: 1,
    record: hosts[1],
    table: 'Host',
    after: [{ path: '/index/hoststart', send: { id: 1 }, answer: wrote('start success') }],
    parameters: { id: { send: { id: 2 }, id: 2, record: hosts[2] } },
    unknown: { id: 'host ID not found' },
    failures: [['permission denied', { id: 1 }, 403, 'alice']],
  },
  '/index/delhost': {
    send: { id: 1 },
    answer: wrote('delete success'),
    see,
    id: 1,
    record: null,
    table: 'Host',
    parameters: { id: { send: { id: 2 }, id: 2, record: null } },
    unknown: { id: 'host ID not found' },
    failures: [['permission denied', { id: 1 }, 403, 'alice']],
  },
  '/index/platformhostavailable': {
    send: { platform_domain_id: 'd', platform_prefix: 'shop' },
    answer: wrote('success', { available: true, host: 'shop.h.example.com' }),
    parameters: {
      platform_domain_id: {
        send: { platform_domain_id: ' t ', platform_prefix: 'shop' },
        answer: wrote('success', { available: true, host: 'shop.p.example.com' }),
      },
      platform_prefix: {
        send: { platform_domain_id: 'd', platform_prefix: ' Taken ' },
        answer: wrote('success', { available: false, host: 'taken.h.example.com' }),
      },
      id: [
        { send: { platform_domain_id: 'd', platform_prefix: 'taken', id: 2 }, answer: wrote('success', { available: true, host: 'taken.h.example.com' }) },
        { send: { platform_domain_id: 'd', platform_prefix: 'taken', id: 1 }, answer: wrote('success', { available: false, host: 'taken.h.example.com' }) },
      ],
    },
    ownForm: ['platform_domain_id', 'platform_prefix', 'id'],
    failures: [
      ['domain id empty', { platform_prefix: 'a' }],
      ['unknown domain', { platform_domain_id: 'x', platform_prefix: 'a' }],
      ['bad prefix', { platform_domain_id: 'd', platform_prefix: 'a_b' }],
      ['bad prefix', { platform_domain_id: 'd' }],
    ],
  },
  '/index/hostdiagnose': {
    send: request,
    answer: diagnosis({ matched: true, rule }),
    parameters: {
      host: [
        { send: { ...request, host: 'APP.example.com:8000' }, answer: diagnosis({ matched: true, rule }) },
        { send: { ...request, host: 'nowhere.example.com' }, answer: diagnosis({ host: 'nowhere.example.com', reason: 'no host rule matches' }) },
      ],
      scheme: [' https ', 'HTTPS'].map((scheme) => ({
        send: { host: 'taken.h.example.com', scheme },
        answer: diagnosis({ host: 'taken.h.example.com', scheme: 'https', reason: 'the scheme differs from that of the matching rules' }),
      })),
      path: { send: { ...request, path: '/x?y' }, answer: diagnosis({ path: '/x?y', matched: true, rule }) },
    },
    ownForm: ['host', 'scheme', 'path'],
    failures: [
      ['host empty', { scheme: 'http' }],
      ['host empty', { ...request, host: ' ' }],
      ['scheme must be http or https', { host: 'a.com' }],
      ['scheme must be http or https', { host: 'a.com', scheme: 'ftp' }],
      ['path must start with /', { ...request, path: 'x' }],
      ['bad path', { ...request, path: '/%zz' }],
    ],
  },
};
