import { builder } from '../builder.ts';
import { User } from '../user/type.ts';

/** What a token may use. */
export const TokenScope = builder.enumType('TokenScope', {
  description: 'What a token may use.',
  values: {
    ALL: { description: 'All that its owner may use.' },
    WALL: { description: 'Only `wall`: states and numbers for a display that everybody may read, without secrets and addresses. It changes nothing.' },
  },
});

/** A credential for programs. The token itself is answered once, when it is made. */
export const ApiToken = builder.prismaObject('ApiToken', {
  description: 'A credential for programs: sent as `Authorization: Bearer ...`, it stands for whom it was made for.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Names the token in every call.' }),
    name: t.exposeString('name', { description: 'What it is for.' }),
    readOnly: t.exposeBoolean('readOnly', { description: 'It may read and change nothing.' }),
    scope: t.field({ type: TokenScope, description: 'What it may use.', resolve: ({ wall }) => wall ? 'WALL' : 'ALL' }),
    secrets: t.boolean({ description: 'It sees verification keys, passwords of tunnels and headers of hosts.', resolve: ({ secrets, wall }) => secrets !== false && !wall }),
    user: t.field({
      type: User,
      nullable: true,
      description: 'Whom it stands for; null = an administrator.',
      resolve: ({ userId }, _args, { loaders }) => userId === null ? null : loaders.users.load(userId),
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true, description: 'When it ends; null = never.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    lastUsedAt: t.expose('lastUsedAt', { type: 'DateTime', nullable: true, description: 'When it was last used, to a minute; null = never.' }),
  }),
});
