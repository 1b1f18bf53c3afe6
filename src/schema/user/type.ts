import { isPast } from '../../rules/expiry.ts';
import type { User as UserRow } from '../../store/generated/sqlite/client.ts';
import type { Page } from '../../store/hot/page.ts';
import { builder } from '../builder.ts';
import type { ShownFields } from '../values/columns.ts';
import type { columnsOfUser } from './columns.ts';
import { numberOrNull } from '../values/empty.ts';

/** An ordinary account (contract 1.2), which owns clients. Its password is not shown. */
export const User = builder.prismaObject('User', {
  description: 'An ordinary account that owns clients.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Names the user in every call.' }),
    username: t.exposeString('username', { description: 'The login name.' }),
    enabled: t.boolean({
      description: 'False = no login, and no client of the user serves: switched off, or expired.',
      resolve: (row, _args, context) => row.enabled && !isPast(row.expiresAt, context.now()),
    }),
    remark: t.exposeString('remark', { authScopes: { administrator: true }, description: "The administrator's note. For administrators." }),
    maxClients: t.int({ nullable: true, description: 'The most clients the user may own; null = unlimited.', resolve: (row) => numberOrNull(row.maxClients) }),
    maxTunnels: t.int({ nullable: true, description: 'The most tunnels and hosts over all of the clients; null = unlimited.', resolve: (row) => numberOrNull(row.maxTunnels) }),
    clientCount: t.exposeInt('clientCount', { description: 'How many clients the user owns.' }),
    tunnelCount: t.exposeInt('tunnelCount', { description: 'How many tunnels and hosts they have together.' }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true, description: 'When the account and its clients stop working; null = never.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the account was made.' }),
  }) satisfies ShownFields<typeof columnsOfUser>,
});

/** A page of a list of users. */
export const UserPage = builder.objectRef<Page<UserRow>>('UserPage').implement({
  description: 'A page of a list of users.',
  fields: (t) => ({
    rows: t.field({ type: [User], description: 'The users on the page.', resolve: (page) => page.rows }),
    total: t.exposeInt('total', { description: 'How many users the whole list has.' }),
  }),
});
