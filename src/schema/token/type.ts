import { builder } from '../builder.ts';
import { User } from '../user/type.ts';
import type { MadeToken } from './write.ts';

/** The scope of a token. */
export const TokenScope = builder.enumType('TokenScope', {
  description: 'What a token may use.',
  values: {
    ALL: { description: 'All that its owner may use.' },
    WALL: { description: 'Only `wall`: states and numbers for a public display, without secrets and addresses. It changes nothing.' },
  },
});

/** A credential for programs. The token itself is returned once, when it is created. */
export const ApiToken = builder.prismaObject('ApiToken', {
  description: 'A credential for programs: sent as `Authorization: Bearer ...`, it authenticates the user or client that it was made for.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Names the token in every call.' }),
    name: t.exposeString('name', { description: 'What it is for.' }),
    readOnly: t.exposeBoolean('readOnly', { description: 'It may read and change nothing.' }),
    scope: t.field({ type: TokenScope, description: 'What it may use.', resolve: ({ wall }) => wall ? 'WALL' : 'ALL' }),
    secrets: t.boolean({ description: 'It sees verification keys, passwords of tunnels and headers of hosts.', resolve: ({ secrets, wall }) => secrets !== false && !wall }),
    user: t.field({
      type: User,
      nullable: true,
      description: 'The user that it authenticates; null = an administrator.',
      resolve: ({ userId }, _args, { loaders }) => userId === null ? null : loaders.users.load(userId),
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true, description: 'When it ends; null = never.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    lastUsedAt: t.expose('lastUsedAt', { type: 'DateTime', nullable: true, description: 'When it was last used, to a minute; null = never.' }),
  }),
});

/** @see MadeToken */
export const MadeTokenType = builder.objectRef<MadeToken>('MadeToken').implement({
  description: 'A token that was just made.',
  fields: (t) => ({
    token: t.exposeString('token', { description: 'The token: shown now and never again.' }),
    apiToken: t.field({ type: ApiToken, description: 'What is known of it.', resolve: ({ apiToken }) => apiToken }),
  }),
});
