import { builder } from '../builder.ts';
import { idOf } from '../values/ids.ts';
import { ApiToken } from './type.ts';
import { tokenOwner } from './write.ts';

const userId = 'The user; null = the caller. Only administrators may set another user.';

builder.queryFields((t) => ({
  apiTokens: t.field({
    type: [ApiToken],
    nullable: true,
    authScopes: { user: true },
    description: 'The tokens of a user, or of the administrators, sorted by id.',
    args: { userId: t.arg.id({ description: userId }) },
    resolve: (_root, args, context) =>
      context.store.db.apiToken.findMany({ where: { userId: tokenOwner(context, idOf('userId', args.userId)) }, orderBy: { id: 'asc' } }),
  }),
  legacyApiToken: t.field({
    type: ApiToken,
    nullable: true,
    authScopes: { user: true },
    description: 'The token that was created by the legacy API; null = none.',
    args: { userId: t.arg.id({ description: userId }) },
    resolve: (_root, args, context) =>
      context.store.db.apiToken.findFirst({ where: { userId: tokenOwner(context, idOf('userId', args.userId)), legacy: true } }),
  }),
}));
