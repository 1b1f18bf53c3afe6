import { expect } from '@jest/globals';
import { clients, plainTunnel, sshTarget, takenPort, tunnels } from './records.ts';
import { wrote, type Contract, type Failure, type ParameterCase } from './row.ts';

const rows = (ids: readonly (keyof typeof tunnels)[], total = ids.length) => ({ rows: ids.map((id) => tunnels[id]), total });
const see = {
  path: '/index/getonetunnel',
  send: (id: number) => ({ id }),
  answer: (record: object | null) => record === null ? { code: 0 } : { code: 1, data: record },
};
const port = 'The port cannot be opened because it may has been occupied or is no longer allowed.';
const noClient = 'modified error,the client is not exist';

/** What each parameter makes of a tunnel; `on` is what every call sends. */
function settable(on: Record<string, string | number>): Record<string, ParameterCase | readonly ParameterCase[]> {
  const set = (parameters: Record<string, string | number>, makes: Record<string, unknown>): ParameterCase => ({ send: { ...on, ...parameters }, makes });
  return {
    client_id: set({ client_id: 2 }, { Client: clients[2] }),
    remark: set({ remark: 'a <b>&"\'</b>' }, { Remark: 'a <b>&"\'</b>' }),
    port: set({ port: 9200 }, { Port: 9200 }),
    server_ip: set({ server_ip: '127.0.0.1' }, { ServerIp: '127.0.0.1' }),
    target: set({ target: '10.0.0.1:80\r\n\r\n10.0.0.2:80' }, { Target: { TargetStr: '10.0.0.1:80\n10.0.0.2:80', TargetArr: ['10.0.0.1:80', '10.0.0.2:80'] } }),
    local_proxy: set({ local_proxy: 'true' }, { Target: { LocalProxy: true } }),
    password: [
      set({ type: 'secret', password: 'key' }, { Mode: 'secret', Port: 0, Password: 'key' }),
      // Without one a p2p tunnel gets one.
      set({ type: 'p2p' }, { Mode: 'p2p', Port: 0, Password: expect.stringMatching(/^[a-z2-7]{24}$/) }),
    ],
    local_path: set({ local_path: '/srv/files' }, { LocalPath: '/srv/files' }),
    strip_pre: set({ strip_pre: '/files' }, { StripPre: '/files' }),
    proto_version: [
      set({ proto_version: 'v2' }, { ProtoVersion: 'V2' }),
      set({ proto_version: 1 }, { ProtoVersion: 'V1' }),
      set({ proto_version: '2' }, { ProtoVersion: 'V2' }),
    ],
  };
}

const form = { most: { remark: 255, password: 255, local_path: 4096, strip_pre: 255, target: 16_384 }, ownForm: ['type', 'server_ip'] };
const failures = (on: Record<string, string | number>): readonly Failure[] => [
  ['unsupported tunnel mode', { ...on, type: 'gopher' }],
  ['unsupported tunnel mode', { ...on, type: 'TCP' }],
  [port, { ...on, port: takenPort }],
  [port, { ...on, port: 9004 }],
  ['The number of tunnels exceeds the limit', { ...on, client_id: 4, port: 0 }],
  ['The number of user tunnels exceeds the limit', { ...on, client_id: 3, port: 0 }],
  ['secret mode keys visitors must be unique', { ...on, type: 'p2p', password: 'visitors' }],
  ['invalid password: a secret tunnel needs one, so that visitors can connect', { ...on, type: 'secret' }],
  ['invalid server_ip: not an IP address', { ...on, server_ip: 'here' }],
  ['invalid target: "no target" is not host:port', { ...on, target: 'no target' }],
  ['permission denied', { ...on }, 403, 'alice'],
];

const added = { client_id: 1, type: 'tcp', port: 9100, target: '127.0.0.1:22' };
const copied = { ...tunnels[1], Id: 5, Port: expect.any(Number) };

/** Contract 2.4. */
export const tunnelContract: Contract = {
  '/index/gettunnel': {
    send: {},
    answer: rows([1, 2, 3, 4]),
    parameters: {
      client_id: [{ send: { client_id: 1 }, answer: rows([1, 2]) }, { send: { client_id: 99 }, answer: rows([]) }],
      filter_client_id: { send: { filter_client_id: 3 }, answer: rows([3]) },
      user_id: { send: { user_id: 2 }, answer: rows([3]) },
      unassigned: { send: { unassigned: 1 }, answer: rows([1, 2]) },
      type: [{ send: { type: 'udp' }, answer: rows([3]) }, { send: { type: 'gopher' }, answer: rows([]) }],
      search: [{ send: { search: '9004' }, answer: rows([4]) }, { send: { search: 'visitors' }, answer: rows([2]) }, {
        send: { search: 'DNS' },
        answer: rows([3]),
      }, { send: { search: ':22' }, answer: rows([1, 2]) }],
      sort: { send: { sort: 'Remark' }, answer: rows([3, 2, 4, 1]) },
      order: { send: { sort: 'Port', order: 'desc' }, answer: rows([4, 3, 1, 2]) },
      offset: { send: { offset: 2 }, answer: rows([3, 4], 4) },
      limit: [{ send: { limit: 2 }, answer: rows([1, 2], 4) }, { send: { limit: 0 }, answer: rows([], 4) }],
    },
    failures: [
      ['invalid user_id', { user_id: 'x' }],
      ['invalid filter_client_id', { filter_client_id: 'x' }],
      ['permission denied', { client_id: 1 }, 403, 'alice'],
      ['permission denied', { filter_client_id: 2 }, 403, 'web login'],
    ],
  },
  '/index/getonetunnel': {
    send: { id: 1 },
    answer: { code: 1, data: tunnels[1] },
    parameters: { id: { send: { id: 2 }, answer: { code: 1, data: tunnels[2] } } },
    failures: [],
  },
  '/index/add': {
    send: added,
    answer: wrote('add success', { id: 5 }),
    see,
    id: 5,
    record: { ...plainTunnel, Id: 5, Port: 9100, Target: sshTarget },
    table: 'Tunnel',
    parameters: {
      ...settable(added),
      port: [
        { send: { ...added, port: 9200 }, makes: { Port: 9200 } },
        ...['', '0', '-1'].map((wanted): ParameterCase => ({ send: { ...added, port: wanted }, makes: { Port: expect.any(Number) } })),
      ],
      type: ['udp', 'httpProxy', 'socks5', 'file', ' udp '].map((type): ParameterCase => ({ send: { ...added, type }, makes: { Mode: type.trim() } })),
    },
    ...form,
    unknown: { client_id: 'client not found' },
    failures: [
      ...failures(added),
      ['unsupported tunnel mode', {}],
      ['unsupported tunnel mode', { ...added, type: '' }],
      ['client not found', { type: 'tcp', target: '22' }],
      // Of several reasons the first in the order of the checks.
      ['unsupported tunnel mode', { type: 'gopher', port: takenPort, client_id: 99 }],
      [port, { type: 'tcp', port: takenPort, client_id: 99 }],
      [port, { type: 'tcp', port: takenPort, client_id: 4 }],
      ['client not found', { type: 'secret', client_id: 99, password: 'visitors' }],
      ['The number of tunnels exceeds the limit', { type: 'secret', client_id: 4, password: 'visitors' }],
    ],
  },
  '/index/copy': {
    send: { id: 1 },
    answer: wrote('add success', { id: 5 }),
    see,
    id: 5,
    record: copied,
    table: 'Tunnel',
    parameters: { id: { send: { id: 2 }, answer: { status: 0, msg: 'secret mode keys visitors must be unique' } } },
    unknown: { id: 'tunnel ID not found' },
    failures: [
      ['secret mode keys visitors must be unique', { id: 2 }],
      ['The number of user tunnels exceeds the limit', { id: 3 }],
      ['The number of tunnels exceeds the limit', { id: 4 }],
      ['permission denied', { id: 1 }, 403, 'alice'],
    ],
  },
  '/index/edit': {
    send: { id: 1, remark: 'changed' },
    answer: wrote('modified success'),
    see,
    id: 1,
    record: { ...tunnels[1], Remark: 'changed' },
    from: tunnels[1],
    table: 'Tunnel',
    parameters: {
      ...settable({ id: 1 }),
      id: { send: { id: 2, remark: 'changed' }, id: 2, record: { ...tunnels[2], Remark: 'changed' } },
      port: [
        { send: { id: 1, port: 9200 }, makes: { Port: 9200 } },
        ...['', '0'].map((wanted): ParameterCase => ({ send: { id: 1, port: wanted }, makes: { Port: expect.any(Number) } })),
      ],
      type: ['udp', 'httpProxy', 'socks5', 'file'].map((type): ParameterCase => ({ send: { id: 1, type }, makes: { Mode: type } })),
    },
    ...form,
    unknown: { id: 'tunnel ID not found', client_id: noClient },
    failures: failures({ id: 1 }),
  },
  '/index/stop': {
    send: { id: 1 },
    answer: wrote('stop success'),
    see,
    id: 1,
    record: { ...tunnels[1], Status: false, RunStatus: false },
    table: 'Tunnel',
    after: [{ path: '/index/stop', send: { id: 1 }, answer: wrote('stop success') }],
    parameters: { id: { send: { id: 3 }, id: 3, record: { ...tunnels[3], Status: false, RunStatus: false } } },
    unknown: { id: 'tunnel ID not found' },
    failures: [['permission denied', { id: 1 }, 403, 'alice']],
  },
  '/index/start': {
    given: [
      ...[1, 3, 4].map((id) => ({ path: '/index/stop', send: { id }, answer: wrote('stop success') })),
      { path: '/index/add', send: { client_id: 1, type: 'udp', port: 9003 }, answer: wrote('add success', { id: 5 }) },
    ],
    send: { id: 1 },
    answer: wrote('start success'),
    see,
    id: 1,
    record: tunnels[1],
    table: 'Tunnel',
    after: [{ path: '/index/start', send: { id: 1 }, answer: wrote('start success') }],
    parameters: { id: { send: { id: 4 }, id: 4, record: tunnels[4] } },
    unknown: { id: 'tunnel ID not found' },
    failures: [['port 9003 is in use by tunnel 5', { id: 3 }], ['permission denied', { id: 1 }, 403, 'alice']],
  },
  '/index/del': {
    send: { id: 1 },
    answer: wrote('delete success'),
    see,
    id: 1,
    record: null,
    table: 'Tunnel',
    parameters: { id: { send: { id: 2 }, id: 2, record: null } },
    unknown: { id: 'tunnel ID not found' },
    failures: [['permission denied', { id: 1 }, 403, 'alice']],
  },
};
