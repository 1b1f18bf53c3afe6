import type { Caller } from '../../rules/caller.ts';
import type { Credential, Lockout } from '../../rules/attempts.ts';
import { builder } from '../builder.ts';
import { Client } from '../client/type.ts';
import { User } from '../user/type.ts';
import { seesSecrets } from './secret-field.ts';
import { enumOf } from '../values/enum.ts';

/** What a caller may do. */
export const Role = builder.enumType('Role', {
  description: 'The role of a caller.',
  values: {
    ADMINISTRATOR: { description: 'May read and change everything.' },
    USER: { description: 'An ordinary user: may read and change what belongs to their clients.' },
    CLIENT: { description: 'The web login of a client: may read that client, its tunnels and its hosts.' },
  },
});

const Viewer = builder.objectRef<Caller>('Viewer').implement({
  description: 'The caller of this operation.',
  fields: (t) => ({
    role: t.field({
      type: Role,
      description: "The caller's role.",
      resolve: ({ kind }) => kind === 'admin' ? 'ADMINISTRATOR' : kind === 'user' ? 'USER' : 'CLIENT',
    }),
    name: t.string({
      description: "The login name of the administrator, of the user, or of the client's web login.",
      resolve: async (caller, _args, { loaders, settings }) => {
        if (caller.kind === 'user') return (await loaders.users.load(caller.userId))?.username ?? '';
        if (caller.kind === 'client') return (await loaders.clients.load(caller.clientId))?.webUsername ?? '';
        return settings.adminUsername;
      },
    }),
    readOnly: t.boolean({ description: 'Whether the caller may only read.', resolve: ({ readOnly }) => readOnly === true }),
    secrets: t.boolean({ description: 'Whether the caller may read verification keys, passwords of tunnels and headers of hosts.', resolve: seesSecrets }),
    user: t.field({
      type: User,
      nullable: true,
      description: "The caller's account; null = the caller is not a user.",
      resolve: async (caller, _args, { loaders }) => caller.kind === 'user' ? await loaders.users.load(caller.userId) ?? null : null,
    }),
    client: t.field({
      type: Client,
      nullable: true,
      description: 'The client whose web login the caller used; null = the caller is not a web login.',
      resolve: async (caller, _args, { loaders }) => caller.kind === 'client' ? await loaders.clients.load(caller.clientId) ?? null : null,
    }),
  }),
});

/** What can be locked out after failed attempts. */
export const LockoutKind = enumOf('LockoutKind', 'What is locked out.', {
  address: 'An address with too many failed attempts.',
  name:
    'A name with too many failed attempts. Addresses that have never given its correct password get only a few more attempts to log in or to use an allowlist password; everything else is refused until the lockout ends.',
});

const CredentialType = enumOf<Credential>('Credential', 'The kind of credential that was wrong.', {
  login: 'The user name and password of a login.',
  password: 'The current password, when a user changes it.',
  basic: "The user name and password that a client's proxies and hosts require.",
  ipWhitePassword: 'The password that admits visitors who are not on the `allowlist` of a client.',
  tunnelPassword: 'The password of a secret or p2p tunnel. A user or an agent asked for one that another tunnel already uses.',
  enrolment: 'A code that installs an agent.',
  vkey: 'The key of an agent or of a visitor program. Attempts are not refused; responses are delayed more and more.',
}, { ipWhitePassword: 'ALLOWLIST_PASSWORD' });

/** An address or a name that is locked out. */
export const LockoutType = builder.objectRef<Lockout>('Lockout').implement({
  description: 'An address or a name that is locked out after too many failed attempts.',
  fields: (t) => ({
    kind: t.expose('kind', { type: LockoutKind, description: 'Whether it is an address or a name.' }),
    credential: t.expose('credential', { type: CredentialType, description: 'The kind of credential. Failed attempts are counted separately for each kind.' }),
    source: t.exposeString('source', {
      description: 'The address (for IPv6, its network) or the name. For tunnel passwords: the address, `#` and the caller.',
    }),
    until: t.expose('until', { type: 'DateTime', description: 'When the lockout ends.' }),
  }),
});

builder.queryFields((t) => ({
  viewer: t.field({
    type: Viewer,
    authScopes: { clientLogin: true },
    description: 'The caller of this operation.',
    resolve: (_root, _args, { caller }) => caller,
  }),
  lockouts: t.field({
    type: [LockoutType],
    nullable: true,
    authScopes: { administrator: true },
    description: 'The addresses and names that are locked out after too many failed attempts. For administrators.',
    resolve: (_root, _args, context) => context.attempts.lockouts(context.now()),
  }),
}));
