import { builder } from '../builder.ts';
import { ApiToken } from './type.ts';
import { createToken, type MadeToken, revokeLegacyToken, revokeToken, tokenOwner } from './write.ts';

const MadeTokenType = builder.objectRef<MadeToken>('MadeToken').implement({
  description: 'A token that was just made.',
  fields: (t) => ({
    token: t.exposeString('token', { description: 'The token: shown now and never again.' }),
    apiToken: t.field({ type: ApiToken, description: 'What is known of it.', resolve: ({ apiToken }) => apiToken }),
  }),
});

const ApiTokenInput = builder.inputType('ApiTokenInput', {
  description: 'What a token is to be.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'What it is for, at most 255 characters.' }),
    readOnly: t.boolean({ defaultValue: false, description: 'It may read and change nothing.' }),
    expiresAt: t.field({ type: 'DateTime', description: 'When it ends; absent = never.' }),
    userId: t.int({ description: 'Whom it stands for: administrators may name a user, absent = the caller.' }),
  }),
});

const userId = 'The user; absent = the caller. Only administrators may name another.';
/** The name of the token that the legacy API makes. */
const legacyName = 'API key';

builder.queryFields((t) => ({
  apiTokens: t.field({
    type: [ApiToken],
    authScopes: { user: true },
    description: "A user's tokens, or the administrators', by id.",
    args: { userId: t.arg.int({ description: userId }) },
    resolve: (_root, args, context) => context.store.db.apiToken.findMany({ where: { userId: tokenOwner(context, args.userId) }, orderBy: { id: 'asc' } }),
  }),
  legacyApiToken: t.field({
    type: ApiToken,
    nullable: true,
    authScopes: { user: true },
    description: 'The token that the legacy API made; null = none.',
    args: { userId: t.arg.int({ description: userId }) },
    resolve: (_root, args, context) => context.store.db.apiToken.findFirst({ where: { userId: tokenOwner(context, args.userId), legacy: true } }),
  }),
}));

builder.mutationFields((t) => ({
  createApiToken: t.field({
    type: MadeTokenType,
    authScopes: { user: true },
    description: 'Makes a token. A caller that came by a token may not.',
    args: { input: t.arg({ type: ApiTokenInput, required: true, description: 'What it is to be.' }) },
    resolve: (_root, { input }, context) => createToken(context, {
      name: input.name, readOnly: input.readOnly ?? false, expiresAt: input.expiresAt ?? null, userId: tokenOwner(context, input.userId), legacy: false,
    }),
  }),
  revokeApiToken: t.int({
    authScopes: { user: true },
    description: 'Ends a token at once. Answers the id.',
    args: { id: t.arg.int({ required: true, description: "The token's id." }) },
    resolve: (_root, args, context) => revokeToken(context, args.id),
  }),
  regenerateLegacyApiToken: t.field({
    type: MadeTokenType,
    authScopes: { user: true },
    description: 'Makes the token of the legacy API, in place of the former one.',
    args: { userId: t.arg.int({ description: userId }) },
    resolve: (_root, args, context) => createToken(context, {
      name: legacyName, readOnly: false, expiresAt: null, userId: tokenOwner(context, args.userId), legacy: true,
    }),
  }),
  revokeLegacyApiToken: t.int({
    authScopes: { user: true },
    description: 'Ends the token of the legacy API. Answers the id.',
    args: { userId: t.arg.int({ description: userId }) },
    resolve: (_root, args, context) => revokeLegacyToken(context, tokenOwner(context, args.userId)),
  }),
}));
