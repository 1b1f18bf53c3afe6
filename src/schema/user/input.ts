import { checkedPassword } from '../access/password.ts';
import { builder, type InputFields } from '../builder.ts';
import type { SchemaSettings } from '../services.ts';
import { AditError } from '../errors.ts';
import { limitOf, textOf } from '../input.ts';
import type { Problems } from '../problems.ts';
import { givenOr, limitOrNone, neverNull } from '../empty.ts';

/** What both inputs of a user have. */
const userFields = (t: InputFields) => ({
  remark: t.string({ description: 'A note for administrators, at most 255 characters.' }),
  maxTunnels: t.int({ description: 'The most tunnels and hosts over all clients, at least 1; null = unlimited.' }),
  maxClients: t.int({ description: 'The most clients, at least 1 and not less than the user has; null = unlimited.' }),
  expiresAt: t.field({ type: 'DateTime', description: 'When account and clients stop working, not earlier than the expiry of a client; null = never.' }),
});

/** What a new user is to be. */
export const CreateUserInput = builder.inputType('CreateUserInput', {
  description: 'What a new user is to be. A field that is absent or null takes its default.',
  fields: (t) => ({
    username: t.string({ required: true, description: 'The login name, unique.' }),
    password: t.string({ required: true, description: 'The password, at least 6 characters.' }),
    ...userFields(t),
  }),
});

/** What is to change of a user. */
export const UpdateUserInput = builder.inputType('UpdateUserInput', {
  description: 'What is to change of a user. A field that is absent keeps its value; null clears it, and is refused where there is nothing to clear.',
  fields: (t) => ({
    username: t.string({ description: 'The login name, unique.' }),
    password: t.string({ description: 'A new password, at least 6 characters.' }),
    ...userFields(t),
  }),
});

/** What an input sets of a user, as a row has it; undefined = not given. */
export type UserValues = Partial<ReturnType<typeof userValues>>;

/** @throws {AditError} INVALID_INPUT for null where there is nothing to clear, and a limit below 1 */
export function userValues(input: typeof UpdateUserInput.$inferInput) {
  return {
    username: neverNull('input.username', input.username),
    password: neverNull('input.password', input.password),
    remark: givenOr(input.remark, ''),
    maxTunnels: limitOrNone('input.maxTunnels', input.maxTunnels),
    maxClients: limitOrNone('input.maxClients', input.maxClients),
    expiresAt: input.expiresAt,
  };
}

/**
 * The columns that an input sets, without the password; undefined = not given.
 * @param problems where what is wrong with them is noted
 */
export function userColumns(problems: Problems, input: UserValues, { adminUsername }: SchemaSettings) {
  return problems.columns({
    username: () => usernameOf(input.username, adminUsername),
    remark: () => textOf('remark', input.remark),
    maxTunnels: () => limitOf(input.maxTunnels),
    maxClients: () => limitOf(input.maxClients),
    expiresAt: () => input.expiresAt,
  });
}

function usernameOf(value: string | null | undefined, adminUsername: string): string | undefined {
  const username = textOf('username', value);
  if (username !== undefined && username.trim() === '') throw new AditError('USERNAME_EMPTY', { field: 'username' });
  // The login would take it for the administrator's.
  if (username === adminUsername) throw new AditError('USERNAME_DUPLICATE', { field: 'username' });
  return username;
}

/** The new password; undefined = none was given, or a blank one. @throws {AditError} when it is too short or too long */
export function newPassword(input: UserValues): string | undefined {
  const { password } = input;
  return password === undefined || password.trim() === '' ? undefined : checkedPassword('password', password);
}
