import { isPast } from '../../rules/expiry.ts';
import type { User as UserRow } from '../../store/generated/sqlite/client.ts';
import type { Page } from '../../store/hot/page.ts';
import { forAdministrators, nullUnlessAdministrator } from '../access/administrator-field.ts';
import { builder } from '../builder.ts';
import type { ShownFields } from '../values/columns.ts';
import { columnsOfUser } from './columns.ts';
import { versionField, versionOf } from '../values/version.ts';
import { numberOrNull } from '../values/empty.ts';

/** An ordinary account (contract 1.2), which owns clients. Its password is not shown. */
export const User = builder.prismaObject('User', {
  description: 'An ordinary account that owns clients.',
  fields: (t) =>
    ({
      id: t.exposeID('id', { description: 'The id of the user.' }),
      version: t.string({ description: versionField, resolve: (row, _args, context) => versionOf(context, columnsOfUser, row) }),
      username: t.exposeString('username', { description: 'The login name.' }),
      enabled: t.boolean({
        description: 'False = the user is disabled or has expired: they cannot log in, and their clients do not serve.',
        resolve: (row, _args, context) => row.enabled && !isPast(row.expiresAt, context.now()),
      }),
      remark: t.string({ nullable: true, description: `A note. ${nullUnlessAdministrator}`, resolve: forAdministrators((row) => row.remark) }),
      maxClients: t.int({ nullable: true, description: 'The maximum number of clients; null = unlimited.', resolve: (row) => numberOrNull(row.maxClients) }),
      maxTunnels: t.int({
        nullable: true,
        description: 'The maximum number of tunnels and hosts of all clients together; null = unlimited.',
        resolve: (row) => numberOrNull(row.maxTunnels),
      }),
      clientCount: t.exposeInt('clientCount', { description: 'The number of clients that the user owns.' }),
      tunnelCount: t.exposeInt('tunnelCount', { description: 'The number of tunnels and hosts of these clients.' }),
      expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true, description: 'When the account and its clients expire; null = never.' }),
      lastLoginAt: t.field({
        type: 'DateTime',
        nullable: true,
        description: `When the user last logged in with their password; null = never since this is recorded. ${nullUnlessAdministrator}`,
        resolve: forAdministrators((row) => row.lastLoginAt),
      }),
      createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the account was created.' }),
    }) satisfies ShownFields<typeof columnsOfUser>,
});

/** A page of a list of users. */
export const UserPage = builder.objectRef<Page<UserRow>>('UserPage').implement({
  description: 'A page of a list of users.',
  fields: (t) => ({
    rows: t.field({ type: [User], description: 'The users on the page.', resolve: (page) => page.rows }),
    total: t.exposeInt('total', { description: 'The number of users in the whole list.' }),
  }),
});
