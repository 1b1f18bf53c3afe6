import { checkedPassword } from '../access/password.ts';
import { builder, type InputFields } from '../builder.ts';
import type { SchemaSettings } from '../services.ts';
import { AditError } from '../errors.ts';
import { limitOf, textOf } from '../values/input.ts';
import type { Problems } from '../values/problems.ts';
import { givenOr, limitOrNone, neverNull } from '../values/empty.ts';
import type { InputColumns, InputFieldsOf } from '../values/columns.ts';
import type { columnsOfUser } from './columns.ts';

/** The fields that both inputs of a user share. */
const userFields = (t: InputFields) => ({
  remark: t.string({ description: 'A note for administrators: at most 255 characters.' }),
  maxTunnels: t.int({ description: 'The maximum number of tunnels and hosts of all clients together: at least 1; null = unlimited.' }),
});

/** The input for a new user. */
export const CreateUserInput = builder.inputType('CreateUserInput', {
  description: 'The values of a new user. Fields that are absent or null get their default.',
  fields: (t) => ({
    username: t.string({ required: true, description: 'The login name. Must be unique.' }),
    password: t.string({ required: true, description: 'The password: at least 6 characters.' }),
    ...userFields(t),
    maxClients: t.int({ description: 'The maximum number of clients: at least 1; null = unlimited.' }),
    expiresAt: t.field({ type: 'DateTime', description: 'When the account and its clients expire; null = never.' }),
  }),
});

/** The input for a change of a user. */
export const UpdateUserInput = builder.inputType('UpdateUserInput', {
  description: 'The fields of a user to change. Absent fields keep their value. Null clears a field; fields that cannot be cleared refuse null.',
  fields: (t) => ({
    username: t.string({ description: 'The login name. Must be unique.' }),
    password: t.string({ description: 'A new password: at least 6 characters.' }),
    ...userFields(t),
    maxClients: t.int({ description: 'The maximum number of clients: at least 1, and not less than the user already has; null = unlimited.' }),
    expiresAt: t.field({ type: 'DateTime', description: 'When the account and its clients expire: not before one of the clients; null = never.' }),
  }),
});

/** The input of a user with the values of a row; undefined = not given. */
export type UserValues = Partial<ReturnType<typeof userValues>>;

/** @param problems collects errors: null for a field that can't be cleared, an invalid id, and an empty text or a limit below 1 where null means "none" */
export function userValues(problems: Problems, input: typeof UpdateUserInput.$inferInput) {
  return problems.columns(
    {
      username: () => neverNull('username', input.username),
      password: () => neverNull('password', input.password),
      remark: () => givenOr(input.remark, ''),
      maxTunnels: () => limitOrNone('maxTunnels', input.maxTunnels),
      maxClients: () => limitOrNone('maxClients', input.maxClients),
      expiresAt: () => input.expiresAt,
    } satisfies Record<InputFieldsOf<typeof columnsOfUser> | keyof typeof UpdateUserInput.$inferInput, unknown>,
  );
}

/**
 * The columns of an input, without the password; undefined = not given.
 * @param problems collects errors
 */
export function userColumns(problems: Problems, input: UserValues, { adminUsername }: SchemaSettings) {
  return problems.columns(
    {
      username: () => usernameOf(input.username, adminUsername),
      remark: () => textOf('remark', input.remark),
      maxTunnels: () => limitOf(input.maxTunnels),
      maxClients: () => limitOf(input.maxClients),
      expiresAt: () => input.expiresAt,
    } satisfies Record<Exclude<InputColumns<typeof columnsOfUser>, 'passwordHash'>, unknown>,
  );
}

function usernameOf(value: string | null | undefined, adminUsername: string): string | undefined {
  const username = textOf('username', value);
  if (username !== undefined && username.trim() === '') throw new AditError('USERNAME_EMPTY', { field: 'username' });
  // Logins with this name would be treated as the administrator's.
  if (username === adminUsername) throw new AditError('USERNAME_DUPLICATE', { field: 'username' });
  return username;
}

/** The new password; undefined = absent or blank. @throws {AditError} if it is too short or too long */
export function newPassword(input: UserValues): string | undefined {
  const { password } = input;
  return password === undefined || password.trim() === '' ? undefined : checkedPassword('password', password);
}
