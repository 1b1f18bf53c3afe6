import { builder } from '../builder.ts';
import { changePassword } from './write.ts';
import { CreateUserInput, UpdateUserInput, userValues } from './input.ts';
import { User } from './type.ts';
import { createUser, deleteUser, setUserEnabled, updateUser } from './write.ts';
import { withoutNulls } from '../values/empty.ts';
import { idOf } from '../values/ids.ts';
import { Problems } from '../values/problems.ts';
import { expectedVersion } from '../values/version.ts';
import { creating, dryRun, updating } from '../writes/dry-run.ts';

const id = { required: true, description: "The user's id." } as const;

builder.mutationFields((t) => ({
  createUser: t.field({
    type: User,
    authScopes: { administrator: true },
    description: 'Creates a user and enables it. For administrators.',
    args: {
      input: t.arg({ type: CreateUserInput, required: true, description: 'The values of the new record.' }),
      dryRun: t.arg.boolean(dryRun),
    },
    resolve: (_root, { input, dryRun: isDry }, context) => {
      const problems = new Problems();
      const values = userValues(problems, withoutNulls(input));
      return creating(context, isDry, (within) => createUser(within, problems, values));
    },
  }),
  updateUser: t.field({
    type: User,
    authScopes: { administrator: true },
    description: "Changes a user. A new password ends the user's sessions and revokes their API tokens. For administrators.",
    args: {
      id: t.arg.id(id),
      expectedVersion: t.arg.string(expectedVersion),
      input: t.arg({ type: UpdateUserInput, required: true, description: 'The fields to change.' }),
      dryRun: t.arg.boolean(dryRun),
    },
    resolve: (_root, args, context) => {
      const problems = new Problems();
      return updateUser(updating(context, args.dryRun), problems, idOf('id', args.id), userValues(problems, args.input), { expected: args.expectedVersion });
    },
  }),
  changePassword: t.field({
    type: User,
    authScopes: { clientLogin: true },
    description:
      "Sets a user's password and ends their other sessions. Ordinary users may change their own. If an administrator sets it, the user's API tokens are revoked, too.",
    args: {
      id: t.arg.id({ description: 'The user; null = the caller, who must be an ordinary user.' }),
      currentPassword: t.arg.string({ description: 'The current password. Optional for administrators.' }),
      newPassword: t.arg.string({ required: true, description: 'At least 6 characters.' }),
      confirmation: t.arg.string({ description: 'The new password again, for comparison; null = not compared.' }),
      revokeTokens: t.arg.boolean({
        defaultValue: false,
        description:
          "Revoke the user's API tokens, too. Offer this to users who change their own password: an attacker who knew the old one may have created tokens.",
      }),
    },
    resolve: (_root, args, context) => changePassword(context, { ...args, id: idOf('id', args.id) }),
  }),
  setUserEnabled: t.field({
    type: User,
    authScopes: { administrator: true },
    description:
      "Enables or disables a user. Disabled users cannot log in, and their clients' agents are disconnected. Nothing is deleted. For administrators.",
    args: { id: t.arg.id(id), enabled: t.arg.boolean({ required: true, description: 'True = enable, false = disable.' }) },
    resolve: (_root, args, context) => setUserEnabled(context, idOf('id', args.id), args.enabled),
  }),
  deleteUser: t.id({
    authScopes: { administrator: true },
    description: 'Deletes a user. Their clients are disabled and have no owner. Returns the id. For administrators.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, context) => deleteUser(context, idOf('id', args.id)),
  }),
}));
