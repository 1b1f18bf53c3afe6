import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import { invalidInput } from '../errors.ts';
import { textOf } from '../values/input.ts';
import { Problems } from '../values/problems.ts';
import { idOf } from '../values/ids.ts';
import { TokenScope, CreatedApiTokenType } from './type.ts';
import { createToken, type CreatedApiToken, revokeLegacyToken, revokeToken, tokenOwner, type TokenPlan } from './write.ts';

const CreateApiTokenInput = builder.inputType('CreateApiTokenInput', {
  description: 'The values of a new token. Fields that are absent or null get their default.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'The purpose of the token: at most 255 characters.' }),
    readOnly: t.boolean({ defaultValue: false, description: 'The token may read, but not change anything.' }),
    scope: t.field({ type: TokenScope, defaultValue: 'ALL', description: 'What the token gives access to.' }),
    secrets: t.boolean({
      description:
        'The token may read verification keys, passwords of tunnels and headers of hosts; otherwise these are null. Default: true, unless the token is read-only.',
    }),
    expiresAt: t.field({ type: 'DateTime', description: 'When the token expires; null = never.' }),
    userId: t.id({ description: 'The user that the token authenticates; null = the caller. Only administrators may set another user.' }),
  }),
});

/** The requested permissions of a token. @throws {AditError} INVALID_INPUT */
function rightsOf({ readOnly, scope, secrets }: typeof CreateApiTokenInput.$inferInput): Pick<TokenPlan, 'readOnly' | 'secrets' | 'wall'> {
  const wall = scope === 'WALL';
  if (wall && secrets === true) throw invalidInput('secrets', 'a token with the scope WALL cannot read secrets');
  return { readOnly: wall || readOnly === true, secrets: !wall && (secrets ?? readOnly !== true), wall };
}

function createApiToken(context: Context, input: typeof CreateApiTokenInput.$inferInput): Promise<CreatedApiToken> {
  const problems = new Problems();
  return problems.during(async () => {
    const rights = problems.check(() => rightsOf(input));
    const userId = problems.check(() => tokenOwner(context, idOf('userId', input.userId)), 'userId');
    problems.check(() => {
      if (textOf('name', input.name)?.trim() === '') throw invalidInput('name', 'blank');
    });
    if (rights === undefined || userId === undefined) throw problems.error();
    return createToken(context, problems, { ...rights, name: input.name, expiresAt: input.expiresAt ?? null, userId, legacy: false });
  });
}

const userId = 'The user; null = the caller. Only administrators may set another user.';
/** The name of tokens that the legacy API creates. */
const legacyName = 'API key';

builder.mutationFields((t) => ({
  createApiToken: t.field({
    type: CreatedApiTokenType,
    authScopes: { user: true },
    description: 'Creates a token. Callers that authenticate with a token may not create tokens.',
    args: { input: t.arg({ type: CreateApiTokenInput, required: true, description: 'The values of the new record.' }) },
    resolve: (_root, { input }, context) => createApiToken(context, input),
  }),
  revokeApiToken: t.id({
    authScopes: { user: true },
    description: 'Revokes a token at once. Returns the id.',
    args: { id: t.arg.id({ required: true, description: "The token's id." }) },
    resolve: (_root, args, context) => revokeToken(context, idOf('id', args.id)),
  }),
  regenerateLegacyApiToken: t.field({
    type: CreatedApiTokenType,
    authScopes: { user: true },
    description: 'Creates the token of the legacy API, and revokes the previous one.',
    args: { userId: t.arg.id({ description: userId }) },
    resolve: (_root, args, context) =>
      createToken(context, new Problems(''), {
        name: legacyName,
        readOnly: false,
        secrets: true,
        wall: false,
        expiresAt: null,
        userId: tokenOwner(context, idOf('userId', args.userId)),
        legacy: true,
      }),
  }),
  revokeLegacyApiToken: t.id({
    authScopes: { user: true },
    description: 'Revokes the token of the legacy API. Returns the id.',
    args: { userId: t.arg.id({ description: userId }) },
    resolve: (_root, args, context) => revokeLegacyToken(context, tokenOwner(context, idOf('userId', args.userId))),
  }),
}));
