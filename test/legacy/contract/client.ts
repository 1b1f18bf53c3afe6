import { clients, password, plainClient } from './records.ts';
import { wrote, type Contract, type Failure, type ParameterCase } from './row.ts';

const seenAt = { ip: '127.0.0.1', bridgeType: 'tcp', bridgePort: 8024 };
/** The rows of a list, of so many. */
const rows = (ids: readonly (keyof typeof clients)[], total = ids.length) => ({ rows: ids.map((id) => ({ ...clients[id], ...seenAt })), total, ...seenAt });
const see = {
  path: '/client/getclient',
  send: (id: number) => ({ id }),
  answer: (record: object | null) => record === null ? { code: 0 } : { code: 1, data: record },
};
const loginSuccess = wrote('login success');

/** What each parameter makes of a client; `on` is what every call sends. */
function settable(on: Record<string, string | number>, webPassword: string): Record<string, ParameterCase> {
  const set = (parameters: Record<string, string | number>, makes: Record<string, unknown>): ParameterCase => ({ send: { ...on, ...parameters }, makes });
  const login = (send: Record<string, string>): ParameterCase => ({
    send: { ...on, ...send },
    makes: { WebUserName: 'other' },
    after: [{ path: '/login/verify', send: { username: 'other', password: webPassword }, answer: loginSuccess }],
  });
  return {
    remark: set({ remark: 'a <b>&"\'</b> é' }, { Remark: 'a <b>&"\'</b> é' }),
    vkey: set({ vkey: 'key-new' }, { VerifyKey: 'key-new' }),
    u: set({ u: 'someone' }, { Cnf: { U: 'someone' } }),
    p: { send: { ...on, p: 'another' }, makes: {}, stored: { basicPassword: 'another' } },
    compress: set({ compress: '1' }, { Cnf: { Compress: true } }),
    crypt: set({ crypt: 'true' }, { Cnf: { Crypt: true } }),
    config_conn_allow: set({ config_conn_allow: 'T' }, { ConfigConnAllow: true }),
    rate_limit: set({ rate_limit: ' 100 ' }, { RateLimit: 100 }),
    flow_limit: set({ flow_limit: 200 }, { Flow: { FlowLimit: 200 } }),
    max_conn: set({ max_conn: 30 }, { MaxConn: 30 }),
    max_tunnel: set({ max_tunnel: 9 }, { MaxTunnelNum: 9 }),
    user_id: set({ user_id: 1 }, { UserId: 1, UserName: 'alice' }),
    web_username: login({ web_username: 'other', web_password: webPassword }),
    web_password: login({ web_username: 'other', web_password: webPassword }),
    blackiplist: set({ blackiplist: '192.0.2.1\r\n\r\n192.0.2.2\r\n192.0.2.1' }, { BlackIpList: ['192.0.2.2', '192.0.2.1'] }),
    ipwhite: set({ ipwhite: 'TRUE' }, { IpWhite: true }),
    ipwhitepass: { send: { ...on, ipwhitepass: 'open the door' }, makes: {}, stored: { ipWhitePassword: 'open the door' } },
    ipwhitelist: set({ ipwhitelist: '192.0.2.3' }, { IpWhiteList: ['192.0.2.3'] }),
    expire_time: set({ expire_time: '2030-01-01T12:30' }, { ExpireTime: '2030-01-01 12:30:00', EffectiveExpireTime: '2030-01-01 12:30:00' }),
  };
}

const most = { remark: 255, vkey: 255, u: 255, p: 255, web_username: 255, web_password: 255, ipwhitepass: 255, blackiplist: 1_048_576, ipwhitelist: 1_048_576 };
const failures = (on: Record<string, number>): readonly Failure[] => [
  ['Vkey duplicate, please reset', { ...on, vkey: 'key-2' }],
  ['owner does not exist', { ...on, user_id: 9 }],
  ["client count reached the owner's quota", { ...on, user_id: 2 }],
  ['client expiry later than owner expiry', { ...on, user_id: 2, expire_time: '2031-01-01 00:00:01' }],
  ['invalid user_id', { ...on, user_id: '-1' }],
  ['invalid user_id', { ...on, user_id: 'alice' }],
];

/** Contract 2.2. */
export const clientContract: Contract = {
  '/client/list': {
    send: {},
    answer: rows([1, 2, 3, 4]),
    parameters: {
      user_id: { send: { user_id: 1 }, answer: rows([2, 4]) },
      unassigned: { send: { unassigned: 'true' }, answer: rows([1]) },
      search: [{ send: { search: 'SHOP' }, answer: rows([2]) }, { send: { search: 'key-3' }, answer: rows([3]) }, { send: { search: '4' }, answer: rows([4]) }],
      sort: { send: { sort: 'Remark' }, answer: rows([3, 4, 1, 2]) },
      order: { send: { sort: 'Remark', order: 'desc' }, answer: rows([2, 1, 4, 3]) },
      offset: { send: { offset: 3 }, answer: rows([4], 4) },
      limit: [{ send: { limit: 1 }, answer: rows([1], 4) }, { send: { limit: 0 }, answer: rows([], 4) }, { send: { limit: '-1' }, answer: rows([], 4) }],
    },
    failures: [['invalid user_id', { user_id: 'x' }], ['invalid user_id', { user_id: '-1' }]],
  },
  '/client/getclient': {
    send: { id: 1 },
    answer: { code: 1, data: clients[1] },
    parameters: { id: { send: { id: 2 }, answer: { code: 1, data: clients[2] } } },
    failures: [],
  },
  '/client/add': {
    send: {},
    answer: wrote('add success', { id: 5 }),
    see,
    id: 5,
    record: { ...plainClient, Id: 5 },
    table: 'Client',
    parameters: settable({}, 'its own password'),
    most,
    ownForm: ['user_id'],
    failures: [
      ...failures({}),
      ['legacy web user and password must come together', { web_username: 'w' }],
      ['legacy web user and password must come together', { web_password: 'w' }],
      ['only a user account may add', {}, 200, 'web login'],
    ],
  },
  '/client/edit': {
    send: { id: 1, remark: 'changed' },
    answer: wrote('save success'),
    see,
    id: 1,
    record: { ...clients[1], Remark: 'changed' },
    from: clients[1],
    table: 'Client',
    parameters: {
      id: { send: { id: 2, remark: 'changed' }, id: 2, record: { ...clients[2], Remark: 'changed' } },
      ...settable({ id: 1 }, 'its own password'),
      web_password: {
        send: { id: 1, web_password: 'its own password' },
        record: clients[1],
        after: [{ path: '/login/verify', send: { username: 'web', password: 'its own password' }, answer: loginSuccess }, {
          path: '/login/verify',
          send: { username: 'web', password },
          answer: { status: 0, msg: 'username or password incorrect' },
        }],
      },
      clear_legacy_web_login: { send: { id: 1, clear_legacy_web_login: 1 }, makes: { WebUserName: '' } },
    },
    most,
    ownForm: ['user_id'],
    unknown: { id: 'client ID not found' },
    failures: [
      ...failures({ id: 1 }),
      ['client expiry later than owner expiry', { id: 3, expire_time: '2031-01-02' }],
      ['permission denied', { id: 1, remark: 'mine' }, 403, 'alice'],
      ...['blackiplist', 'ipwhitelist'].map((
        name,
      ): Failure => [`invalid ${name}: longer than 65536 characters`, { id: 2, [name]: '1'.repeat(65_537) }, 200, 'alice']),
    ],
  },
  '/client/changestatus': {
    send: { id: 1, status: 'false' },
    answer: wrote('modified success'),
    see,
    id: 1,
    record: { ...clients[1], Status: false },
    table: 'Client',
    parameters: {
      id: { send: { id: 2, status: 'false' }, id: 2, record: { ...clients[2], Status: false } },
      status: [{ send: { id: 1, status: 'true' }, record: clients[1] }, { send: { id: 1, status: '' }, record: { ...clients[1], Status: false } }],
    },
    unknown: { id: 'modified fail' },
    failures: [['invalid status', { id: 1 }], ['permission denied', { id: 1, status: 1 }, 403, 'alice']],
  },
  '/client/del': {
    send: { id: 1 },
    answer: wrote('delete success'),
    see,
    id: 1,
    record: null,
    table: 'Client',
    parameters: { id: { send: { id: 2 }, id: 2, record: null } },
    unknown: { id: 'client ID not found' },
    failures: [['permission denied', { id: 1 }, 403, 'alice']],
  },
};
