import type { Session as SessionRow } from '../../store/generated/sqlite/client.ts';
import { builder } from '../builder.ts';
import { Client } from '../client/type.ts';
import { AditError } from '../errors.ts';
import { User } from '../user/type.ts';
import { aliveAt } from './active.ts';
import { Role } from './queries.ts';

/** Maximum number of sessions in a response. */
const mostSessions = 200;
/** The part of a session's stored id (the SHA-256 of its cookie) that identifies it here. */
const idLength = 16;

const Session = builder.objectRef<SessionRow>('Session').implement({
  description: 'A login session of a browser.',
  fields: (t) => ({
    id: t.id({ description: 'The id. It is not the cookie.', resolve: ({ id }) => id.slice(0, idLength) }),
    role: t.field({
      type: Role,
      description: 'The role of the account.',
      resolve: ({ kind }) => kind === 'admin' ? 'ADMINISTRATOR' : kind === 'user' ? 'USER' : 'CLIENT',
    }),
    user: t.field({
      type: User,
      nullable: true,
      description: 'The account; null = not the account of a user.',
      resolve: async ({ userId }, _args, { loaders }) => userId === null ? null : await loaders.users.load(userId) ?? null,
    }),
    client: t.field({
      type: Client,
      nullable: true,
      description: 'The client whose web login was used; null = no web login.',
      resolve: async ({ clientId }, _args, { loaders }) => clientId === null ? null : await loaders.clients.load(clientId) ?? null,
    }),
    isOwn: t.boolean({ description: 'Whether it is the session of this request.', resolve: ({ id }, _args, { caller }) => caller.sessionId === id }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it began.' }),
    lastUsedAt: t.expose('lastSeenAt', { type: 'DateTime', description: 'When it was last used. Updated at most once a minute.' }),
  }),
});

builder.queryField('sessions', (t) =>
  t.field({
    type: [Session],
    nullable: true,
    extensions: { items: mostSessions },
    authScopes: { administrator: true },
    description: `The login sessions that were used in the last hour, those used last first, at most ${mostSessions}. For administrators.`,
    resolve: (_root, _args, context) =>
      context.store.db.session.findMany({
        where: aliveAt(context.now()),
        orderBy: [{ lastSeenAt: 'desc' }, { id: 'asc' }],
        take: mostSessions,
      }),
  }));

builder.mutationField('endSession', (t) =>
  t.field({
    type: 'ID',
    authScopes: { administrator: true },
    description: 'Ends a login session. Returns its id. For administrators.',
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: (_root, { id }, context) =>
      context.write(async (tx, changed) => {
        const isId = id.length === idLength && /^[0-9a-f]+$/.test(id);
        const before = isId ? await tx.session.findFirst({ where: { id: { startsWith: id } } }) : null;
        if (before === null) throw new AditError('NOT_FOUND', { resource: 'session' });
        await tx.session.delete({ where: { id: before.id } });
        changed({ resource: 'session', action: 'delete', before });
        return id;
      }),
  }));
