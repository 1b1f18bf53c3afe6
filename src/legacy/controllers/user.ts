import {
  AddUserDocument,
  ChangePasswordDocument,
  DeleteUserDocument,
  EditUserDocument,
  ListUsersDocument,
  SetUserEnabledDocument,
  type UpdateUserInput,
} from '../generated/graphql.ts';
import { listing, sort, sorting } from '../list-parameters.ts';
import { about, id, integer, keptText, type Parameter, reference, requiredBoolean, text, time, type Values } from '../parameters.ts';
import { answered } from '../answered.ts';
import { userRecord } from '../records/user.ts';
import { list, write, type Route } from '../route.ts';
import { type Complete, fieldNames, inputOf, noneAt0, sets } from '../settable.ts';

/** The parameters that /user/add/ and /user/edit/ may set (contract 1.2). */
const settable = {
  username: sets('username', about('The login name. Must be unique. Required for a new user.', text())),
  password: sets('password', about('The password: at least 6 characters. Required for a new user; for an existing one, blank = unchanged.', keptText())),
  remark: sets('remark', about('A note for administrators.', text())),
  max_tunnel: sets('maxTunnels', noneAt0(about('The maximum number of tunnels and hosts of all clients together; blank or 0 = unlimited.', integer()))),
  max_client: sets('maxClients', noneAt0(about('The maximum number of clients, not less than the user already has; blank or 0 = unlimited.', integer()))),
  expire_time: sets('expiresAt', about('When the account and its clients expire.', time())),
};

function userInput(values: Values<typeof settable>): Complete<UpdateUserInput> {
  return inputOf(settable, values);
}

/** Defers reading a parameter until its value is used, so that missing parameters are reported before invalid ones. */
function later<T>(parameter: Parameter<T>): Parameter<() => T> {
  return { ...parameter, read: (value, name) => () => parameter.read(value, name) };
}

const userId = { id: id('user') };

/** The endpoints under /user (contract 2.3). */
export const userRoutes: readonly Route[] = [
  list({
    path: '/user/list',
    answer: 'User',
    summary: 'Lists users. For administrators.',
    parameters: {
      search: listing.search,
      sort: sort({
        Id: 'ID',
        UserName: 'USERNAME',
        Remark: 'REMARK',
        Status: 'ENABLED',
        MaxTunnelNum: 'MAX_TUNNELS',
        MaxClientNum: 'MAX_CLIENTS',
        ClientCount: 'CLIENT_COUNT',
        TunnelCount: 'TUNNEL_COUNT',
        ExpireTime: 'EXPIRES_AT',
        CreateTime: 'CREATED_AT',
      }),
      order: listing.order,
      offset: listing.offset,
      limit: listing.limit,
    },
    operation: ListUsersDocument,
    variables: ({ search, sort: field, order, offset, limit }) => ({ search, sort: sorting(field, order), offset, limit }),
    page: (result) => {
      const { rows, total } = answered(result.users);
      return { rows: rows.map(userRecord), total };
    },
  }),
  write({
    path: '/user/add',
    summary: 'Creates a user. For administrators.',
    parameters: { ...settable, expire_time: later(settable.expire_time) },
    operation: AddUserDocument,
    variables: ({ username = '', password = '', expire_time: expiry, ...values }) => {
      // Without a name or a password the call is refused anyway.
      const expiresAt = username.trim() === '' || password === '' ? undefined : expiry();
      return { input: { ...userInput({ ...values, username, password, expire_time: expiresAt }), username, password } };
    },
    success: 'add success',
    createdId: ({ createUser }) => createUser.id,
    fields: fieldNames(settable),
  }),
  write({
    path: '/user/edit',
    summary: 'Changes a user. Absent parameters keep their values. For administrators.',
    parameters: { ...userId, ...settable },
    operation: EditUserDocument,
    variables: (values) => ({ id: values.id, input: userInput(values) }),
    success: 'save success',
    fields: fieldNames(settable),
  }),
  write({
    path: '/user/changepassword',
    summary: "Sets a user's password. Ordinary users may set their own, administrators anyone's.",
    parameters: {
      id: reference('user'),
      new_password: about('The new password: at least 6 characters.', text()),
      password: about('Another name of new_password.', text()),
      confirm_password: about('The new password again, for comparison; absent = not compared.', text()),
      password_confirm: about('Another name of confirm_password.', text()),
      current_password: about('The current password. Optional for administrators.', text()),
      old_password: about('Another name of current_password.', text()),
    },
    operation: ChangePasswordDocument,
    // The second name of each parameter is used by other NPS servers.
    variables: (values) => ({
      id: values.id,
      newPassword: values.new_password ?? values.password ?? '',
      confirmation: (values.confirm_password ?? values.password_confirm) || null,
      currentPassword: values.current_password ?? values.old_password,
    }),
    success: 'password changed',
    fields: { ...fieldNames(settable), newPassword: 'new_password' },
  }),
  write({
    path: '/user/changestatus',
    summary: 'Enables or disables a user. For administrators.',
    parameters: { ...userId, status: about('true = enable, false = disable.', requiredBoolean()) },
    operation: SetUserEnabledDocument,
    variables: ({ id: user, status }) => ({ id: user, enabled: status }),
    success: 'modified success',
  }),
  write({
    path: '/user/del',
    summary: 'Deletes a user. Their clients are disabled and have no owner. For administrators.',
    parameters: userId,
    operation: DeleteUserDocument,
    variables: (values) => values,
    success: 'delete success',
  }),
];
