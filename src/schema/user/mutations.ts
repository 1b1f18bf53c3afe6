import { builder } from '../builder.ts';
import { changePassword } from './write.ts';
import { CreateUserInput, UpdateUserInput, userValues } from './input.ts';
import { User } from './type.ts';
import { createUser, deleteUser, setUserEnabled, updateUser } from './write.ts';
import { idOf } from '../values/ids.ts';
import { Problems } from '../values/problems.ts';

const id = { required: true, description: "The user's id." } as const;

builder.mutationFields((t) => ({
  createUser: t.field({
    type: User,
    authScopes: { administrator: true },
    description: 'Makes a user. It is enabled. For administrators.',
    args: { input: t.arg({ type: CreateUserInput, required: true, description: 'What it is to be.' }) },
    resolve: (_root, { input }, context) => {
      const problems = new Problems();
      return createUser(context, problems, userValues(problems, input));
    },
  }),
  updateUser: t.field({
    type: User,
    authScopes: { administrator: true },
    description: 'Changes a user; a new password ends the sessions and the API tokens of the user. For administrators.',
    args: { id: t.arg.id(id), input: t.arg({ type: UpdateUserInput, required: true, description: 'What is to change.' }) },
    resolve: (_root, args, context) => {
      const problems = new Problems();
      return updateUser(context, problems, idOf('id', args.id), userValues(problems, args.input));
    },
  }),
  changePassword: t.field({
    type: User,
    authScopes: { clientLogin: true },
    description: "Sets a user's password, and ends the user's other sessions. An ordinary user may change their own. When an administrator sets it, the user's API tokens end, too.",
    args: {
      id: t.arg.id({ description: 'The user; null = the caller, who is an ordinary user then.' }),
      currentPassword: t.arg.string({ description: 'The present password; administrators may leave it out.' }),
      newPassword: t.arg.string({ required: true, description: 'At least 6 characters.' }),
      confirmation: t.arg.string({ description: 'The new password again, to be compared; null = not compared.' }),
      revokeTokens: t.arg.boolean({ defaultValue: false, description: "End the user's API tokens, too. Ask users who change their own: an attacker who knew the former password may have made some." }),
    },
    resolve: (_root, args, context) => changePassword(context, { ...args, id: idOf('id', args.id) }),
  }),
  setUserEnabled: t.field({
    type: User,
    authScopes: { administrator: true },
    description: 'Lets a user log in and the clients serve, or cuts the agents off. Nothing is deleted. For administrators.',
    args: { id: t.arg.id(id), enabled: t.arg.boolean({ required: true, description: 'Whether the user may log in.' }) },
    resolve: (_root, args, context) => setUserEnabled(context, idOf('id', args.id), args.enabled),
  }),
  deleteUser: t.id({
    authScopes: { administrator: true },
    description: 'Deletes a user. The clients are disabled and belong to nobody. Answers the id. For administrators.',
    args: { id: t.arg.id(id) },
    resolve: (_root, args, context) => deleteUser(context, idOf('id', args.id)),
  }),
}));
