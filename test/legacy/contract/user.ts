import { clients, password, plainUser, users } from './records.ts';
import { merged, wrote, type CallerName, type Contract, type Exchange, type ParameterCase } from './row.ts';

/** The whole list with one user as that user is to be; a new one comes last. */
const see = {
  path: '/user/list',
  send: () => ({}),
  answer: (record: object | null, id: number) => {
    const others = Object.values(users).filter(({ Id }) => Id !== id);
    const rows = record === null ? others : [...others, record].toSorted((a, b) => idOf(a) - idOf(b));
    return { rows, total: rows.length };
  },
};

function idOf(record: object): number {
  return 'Id' in record ? Number(record.Id) : 0;
}

const rows = (ids: readonly (keyof typeof users)[], total = ids.length) => ({ rows: ids.map((id) => users[id]), total });
const logsIn = (username: string, secret: string): Exchange => ({
  path: '/login/verify',
  send: { username, password: secret },
  answer: wrote('login success'),
});

/** What each parameter makes of a user; `on` is what every call sends. */
function settable(on: Record<string, string | number>): Record<string, ParameterCase | readonly ParameterCase[]> {
  const set = (parameters: Record<string, string | number>, makes: Record<string, unknown>): ParameterCase => ({ send: { ...on, ...parameters }, makes });
  return {
    // Names are compared exactly: neither is the administrator's, or bob's.
    username: ['Admin', 'Bob', 'carol <c>'].map((username) => set({ username }, { UserName: username })),
    remark: set({ remark: 'team "A"' }, { Remark: 'team "A"' }),
    max_tunnel: set({ max_tunnel: 10 }, { MaxTunnelNum: 10 }),
    max_client: set({ max_client: 3 }, { MaxClientNum: 3 }),
    expire_time: set({ expire_time: '2032-02-29 10:00' }, { ExpireTime: '2032-02-29 10:00:00' }),
  };
}

const most = { username: 255, password: 255, remark: 255 };
const change = { id: 1, new_password: 'another password' };
const changed = logsIn('alice', 'another password');
const mine = { current_password: password, new_password: 'another password' };
const by = (as: CallerName, send: ParameterCase['send']): ParameterCase => ({ send, as, after: [changed] });

/** Contract 2.3. */
export const userContract: Contract = {
  '/user/list': {
    send: {},
    answer: rows([1, 2]),
    parameters: {
      search: [{ send: { search: 'BO' }, answer: rows([2]) }, { send: { search: 'first' }, answer: rows([1]) }],
      sort: [
        ...['Remark', 'MaxTunnelNum', 'MaxClientNum', 'TunnelCount', 'ExpireTime', 'UserName', 'Id'].map((sort): ParameterCase => ({
          send: { sort, order: 'desc' },
          answer: rows(sort === 'Remark' ? [1, 2] : [2, 1]),
        })),
        { send: { sort: 'Remark' }, answer: rows([2, 1]) },
      ],
      order: { send: { sort: 'UserName', order: 'DESC' }, answer: rows([2, 1]) },
      offset: { send: { offset: 1 }, answer: rows([2], 2) },
      limit: [{ send: { limit: 1 }, answer: rows([1], 2) }, { send: { limit: 0 }, answer: rows([], 2) }],
    },
    failures: [['permission denied', {}, 403, 'alice']],
  },
  '/user/add': {
    send: { username: 'carol', password: 'secret' },
    answer: wrote('add success', { id: 3 }),
    see,
    id: 3,
    record: { ...plainUser, Id: 3, UserName: 'carol' },
    table: 'User',
    parameters: {
      ...settable({ username: 'carol', password: 'secret' }),
      password: { send: { username: 'carol', password: 'her <own> password' }, after: [logsIn('carol', 'her <own> password')] },
    },
    most,
    failures: [
      ['username can not be empty', { password: 'secret' }],
      ['username can not be empty', { username: ' ', password: 'secret' }],
      ['password can not be empty', { username: 'carol' }],
      ['password can not be empty', { username: 'carol', password: '   ' }],
      ['username can not be empty', { expire_time: 'never' }],
      ['password can not be empty', { username: 'alice', expire_time: 'never' }],
      ['invalid expiration time', { username: 'carol', password: 'secret', expire_time: 'never' }],
      ['password must be at least 6 characters', { username: 'carol', password: '12345' }],
      ['username duplicate, please reset', { username: 'alice', password: 'secret' }],
      ['username duplicate, please reset', { username: 'admin', password: 'secret' }],
      ['permission denied', { username: 'carol', password: 'secret' }, 403, 'alice'],
    ],
  },
  '/user/edit': {
    send: { id: 1, remark: 'changed' },
    answer: wrote('save success'),
    see,
    id: 1,
    record: { ...users[1], Remark: 'changed' },
    from: users[1],
    table: 'User',
    parameters: {
      ...settable({ id: 1 }),
      id: { send: { id: 2, remark: 'changed' }, id: 2, record: { ...users[2], Remark: 'changed' } },
      password: [
        { send: { id: 1, password: 'another password' }, record: users[1], after: [changed] },
        { send: { id: 1, password: '' }, record: users[1], after: [logsIn('alice', password)] },
      ],
    },
    most,
    unknown: { id: 'user ID not found' },
    failures: [
      ['max clients below assigned count', { id: 1, max_client: 1 }],
      ['username duplicate, please reset', { id: 1, username: 'bob' }],
      ['username can not be empty', { id: 1, username: '' }],
      ['password must be at least 6 characters', { id: 1, password: '12345' }],
      ["user expiry earlier than client 2's", { id: 1, expire_time: '2030-05-31' }],
      ['permission denied', { id: 1, remark: 'mine' }, 403, 'alice'],
    ],
  },
  '/user/changepassword': {
    send: change,
    answer: wrote('password changed'),
    after: [changed],
    parameters: {
      id: { send: { ...change, id: 2 }, after: [logsIn('bob', 'another password')] },
      new_password: { send: { ...change, new_password: 'one more password' }, after: [logsIn('alice', 'one more password')] },
      password: { send: { id: 1, password: 'one more password' }, after: [logsIn('alice', 'one more password')] },
      confirm_password: [
        { send: { ...change, confirm_password: 'another password' }, after: [changed] },
        { send: { ...change, confirm_password: 'yet another' }, answer: { status: 0, msg: 'password mismatch' } },
      ],
      password_confirm: { send: { ...change, password_confirm: 'yet another' }, answer: { status: 0, msg: 'password mismatch' } },
      current_password: by('alice', mine),
      old_password: by('alice', { old_password: password, new_password: 'another password' }),
    },
    unknown: { id: 'user ID not found' },
    most: { new_password: 255 },
    ownForm: ['password', 'confirm_password', 'password_confirm', 'current_password', 'old_password'],
    failures: [
      ['user ID not found', { new_password: 'another password' }],
      ['password mismatch', { ...change, confirm_password: 'yet another' }],
      ['new password empty', { id: 1 }],
      ['new password empty', { id: 1, new_password: '      ' }],
      ['password must be at least 6 characters', { id: 1, new_password: '12345' }],
      ['current password wrong', { new_password: 'another password' }, 200, 'alice'],
      ['current password wrong', { ...mine, current_password: 'x' }, 200, 'alice'],
      ['not your user', { ...mine, id: 2 }, 200, 'alice'],
      ['session is a legacy client login', mine, 200, 'web login'],
    ],
  },
  '/user/changestatus': {
    send: { id: 1, status: '0' },
    answer: wrote('modified success'),
    see,
    id: 1,
    record: { ...users[1], Status: false },
    table: 'User',
    parameters: {
      id: { send: { id: 2, status: '0' }, id: 2, record: { ...users[2], Status: false } },
      status: { send: { id: 1, status: 'True' }, record: users[1] },
    },
    unknown: { id: 'user ID not found' },
    failures: [['invalid status', { id: 1 }], ['permission denied', { id: 1, status: 1 }, 403, 'alice']],
  },
  '/user/del': {
    send: { id: 1 },
    answer: wrote('delete success'),
    see,
    id: 1,
    record: null,
    table: 'User',
    after: [{ path: '/client/getclient', send: { id: 2 }, answer: { code: 1, data: merged(clients[2], { UserId: 0, UserName: '', Status: false }) } }],
    parameters: { id: { send: { id: 2 }, id: 2, record: null } },
    unknown: { id: 'user ID not found' },
    failures: [['permission denied', { id: 1 }, 403, 'alice']],
  },
};
