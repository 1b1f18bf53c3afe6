import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import { invalidInput } from '../errors.ts';
import { textOf } from '../values/input.ts';
import { Problems } from '../values/problems.ts';
import { idOf } from '../values/ids.ts';
import { TokenScope, MadeTokenType } from './type.ts';
import { createToken, type MadeToken, revokeLegacyToken, revokeToken, tokenOwner, type TokenPlan } from './write.ts';

const CreateApiTokenInput = builder.inputType('CreateApiTokenInput', {
  description: 'What a new token is to be.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'What it is for, at most 255 characters.' }),
    readOnly: t.boolean({ defaultValue: false, description: 'It may read and change nothing.' }),
    scope: t.field({ type: TokenScope, defaultValue: 'ALL', description: 'What it may use.' }),
    secrets: t.boolean({ description: 'It sees verification keys, passwords of tunnels and headers of hosts, which are null for it otherwise. Absent = only if it may also change things.' }),
    expiresAt: t.field({ type: 'DateTime', description: 'When it ends; null = never.' }),
    userId: t.id({ description: 'The user that it authenticates; null = the caller. Only administrators may name another user.' }),
  }),
});

/** The requested permissions of a token. @throws {AditError} INVALID_INPUT */
function rightsOf({ readOnly, scope, secrets }: typeof CreateApiTokenInput.$inferInput): Pick<TokenPlan, 'readOnly' | 'secrets' | 'wall'> {
  const wall = scope === 'WALL';
  if (wall && secrets === true) throw invalidInput('secrets', 'a token with the scope WALL sees none');
  return { readOnly: wall || readOnly === true, secrets: !wall && (secrets ?? readOnly !== true), wall };
}

function createApiToken(context: Context, input: typeof CreateApiTokenInput.$inferInput): Promise<MadeToken> {
  const problems = new Problems();
  return problems.during(async () => {
    const rights = problems.check(() => rightsOf(input));
    const userId = problems.check(() => tokenOwner(context, idOf('userId', input.userId)), 'userId');
    problems.check(() => { if (textOf('name', input.name)?.trim() === '') throw invalidInput('name', 'blank'); });
    if (rights === undefined || userId === undefined) throw problems.error();
    return createToken(context, problems, { ...rights, name: input.name, expiresAt: input.expiresAt ?? null, userId, legacy: false });
  });
}

const userId = 'The user; null = the caller. Only administrators may name another.';
/** The name of tokens that the legacy API creates. */
const legacyName = 'API key';

builder.mutationFields((t) => ({
  createApiToken: t.field({
    type: MadeTokenType,
    authScopes: { user: true },
    description: 'Makes a token. A caller that came by a token may not.',
    args: { input: t.arg({ type: CreateApiTokenInput, required: true, description: 'What it is to be.' }) },
    resolve: (_root, { input }, context) => createApiToken(context, input),
  }),
  revokeApiToken: t.id({
    authScopes: { user: true },
    description: 'Ends a token at once. Answers the id.',
    args: { id: t.arg.id({ required: true, description: "The token's id." }) },
    resolve: (_root, args, context) => revokeToken(context, idOf('id', args.id)),
  }),
  regenerateLegacyApiToken: t.field({
    type: MadeTokenType,
    authScopes: { user: true },
    description: 'Makes the token of the legacy API, in place of the former one.',
    args: { userId: t.arg.id({ description: userId }) },
    resolve: (_root, args, context) => createToken(context, new Problems(''), {
      name: legacyName, readOnly: false, secrets: true, wall: false, expiresAt: null, userId: tokenOwner(context, idOf('userId', args.userId)), legacy: true,
    }),
  }),
  revokeLegacyApiToken: t.id({
    authScopes: { user: true },
    description: 'Ends the token of the legacy API. Answers the id.',
    args: { userId: t.arg.id({ description: userId }) },
    resolve: (_root, args, context) => revokeLegacyToken(context, tokenOwner(context, idOf('userId', args.userId))),
  }),
}));
