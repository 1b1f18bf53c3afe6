import { checkedPassword } from '../access/password.ts';
import { builder } from '../builder.ts';
import type { SchemaSettings } from '../services.ts';
import { AditError } from '../errors.ts';
import { limitOf, textOf } from '../input.ts';
import type { Problems } from '../problems.ts';

/** What can be set of a user. One type for both mutations: what is absent keeps its value or takes the default. */
export const UserInput = builder.inputType('UserInput', {
  description: 'What can be set of a user. A field that is absent or null keeps its value, on a new user it takes the default: blank, unlimited, never.',
  fields: (t) => ({
    username: t.string({ description: 'The login name, unique; a new user needs one.' }),
    password: t.string({ description: 'At least 6 characters; blank = keep. A new user needs one.' }),
    remark: t.string({ description: 'A note for administrators, at most 255 characters.' }),
    maxTunnels: t.int({ description: 'The most tunnels and hosts over all clients; 0 = unlimited, negative counts as 0.' }),
    maxClients: t.int({ description: 'The most clients; 0 = unlimited, negative counts as 0, not less than the user has.' }),
    expiresAt: t.field({ type: 'DateTime', description: 'When account and clients stop working, not earlier than the expiry of a client; null = never, absent = keep.' }),
  }),
});

/** A user's input as it was given. */
export type UserValues = typeof UserInput.$inferInput;

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
  return password === null || password === undefined || password.trim() === '' ? undefined : checkedPassword('password', password);
}
