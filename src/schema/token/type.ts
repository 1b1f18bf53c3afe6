import { builder } from '../builder.ts';
import { User } from '../user/type.ts';
import type { CreatedApiToken } from './write.ts';

/** The scope of a token. */
export const TokenScope = builder.enumType('TokenScope', {
  description: 'What a token gives access to.',
  values: {
    ALL: { description: 'Everything that its owner may access.' },
    WALL: {
      description: 'Only the queries `wall` and `wallProblems`: states and counters for a public display, without secrets or addresses. Changes nothing.',
    },
  },
});

/** A credential for programs. The token itself is returned once, when it is created. */
export const ApiToken = builder.prismaObject('ApiToken', {
  description: 'A credential for programs, which send it as `Authorization: Bearer ...`. It authenticates the user that it was created for.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the token.' }),
    name: t.exposeString('name', { description: 'The purpose of the token.' }),
    readOnly: t.exposeBoolean('readOnly', { description: 'The token may read, but not change anything.' }),
    scope: t.field({ type: TokenScope, description: 'What the token gives access to.', resolve: ({ wall }) => wall ? 'WALL' : 'ALL' }),
    secrets: t.boolean({
      description: 'Whether the token may read verification keys, passwords of tunnels and headers of hosts.',
      resolve: ({ secrets, wall }) => secrets !== false && !wall,
    }),
    user: t.field({
      type: User,
      nullable: true,
      description: 'The user that the token authenticates; null = an administrator.',
      resolve: ({ userId }, _args, { loaders }) => userId === null ? null : loaders.users.load(userId),
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true, description: 'When the token expires; null = never.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    lastUsedAt: t.expose('lastUsedAt', { type: 'DateTime', nullable: true, description: 'When the token was last used, to the minute; null = never.' }),
  }),
});

/** @see CreatedApiToken */
export const CreatedApiTokenType = builder.objectRef<CreatedApiToken>('CreatedApiToken').implement({
  description: 'A newly created token.',
  fields: (t) => ({
    token: t.exposeString('token', { description: 'The token itself. It is returned only once.' }),
    apiToken: t.field({ type: ApiToken, description: 'The record of the token.', resolve: ({ apiToken }) => apiToken }),
  }),
});
