import type { Caller } from '../../rules/caller.ts';
import type { Credential, Lockout } from '../../rules/attempts.ts';
import { builder } from '../builder.ts';
import { Client } from '../client/type.ts';
import { User } from '../user/type.ts';
import { seesSecrets } from './secret-field.ts';
import { enumOf } from '../values/enum.ts';

const Role = builder.enumType('Role', {
  description: 'What a caller is.',
  values: {
    ADMINISTRATOR: { description: 'Sees and changes everything.' },
    USER: { description: 'An ordinary user: sees and changes what belongs to their clients.' },
    CLIENT: { description: 'The web login of a client: sees that client, its tunnels and hosts.' },
  },
});

const Viewer = builder.objectRef<Caller>('Viewer').implement({
  description: 'Who makes this call.',
  fields: (t) => ({
    role: t.field({ type: Role, description: 'What the caller is.', resolve: ({ kind }) => kind === 'admin' ? 'ADMINISTRATOR' : kind === 'user' ? 'USER' : 'CLIENT' }),
    readOnly: t.boolean({ description: 'The caller may change nothing.', resolve: ({ readOnly }) => readOnly === true }),
    secrets: t.boolean({ description: 'The caller sees verification keys, passwords of tunnels and headers of hosts.', resolve: seesSecrets }),
    user: t.field({
      type: User,
      nullable: true,
      description: 'The account; null = not a user.',
      resolve: async (caller, _args, { loaders }) => caller.kind === 'user' ? await loaders.users.load(caller.userId) ?? null : null,
    }),
    client: t.field({
      type: Client,
      nullable: true,
      description: 'The client whose web login this is; null = another login.',
      resolve: async (caller, _args, { loaders }) => caller.kind === 'client' ? await loaders.clients.load(caller.clientId) ?? null : null,
    }),
  }),
});

/** What has to wait after wrong guesses. */
export const LockoutKind = enumOf('LockoutKind', 'What has to wait.', {
  address: 'An address: too many wrong guesses came from it.',
  name: 'A name: too many wrong guesses were made for it. Logins, and visitors with the password of a white list, get few guesses for it from addresses that never gave its right password; all else has to wait.',
});

const CredentialType = enumOf<Credential>('Credential', 'What was guessed wrong.', {
  login: 'Name and password of a login.',
  password: 'The current password, when a user changes it.',
  basic: "The user name and password that a client's proxies and hosts ask for.",
  ipWhitePassword: 'The password that allows visitors who are not on the `ipWhiteList` of a client.',
  tunnelPassword: 'The password of a secret or p2p tunnel: a user or an agent asked for one that another tunnel has.',
  vkey: 'The key of an agent, or of a visitor of a secret tunnel. It is not refused but answered more and more slowly.',
});

const LockoutType = builder.objectRef<Lockout>('Lockout').implement({
  description: 'A source of wrong guesses that has to wait.',
  fields: (t) => ({
    kind: t.expose('kind', { type: LockoutKind, description: 'What it is.' }),
    credential: t.expose('credential', { type: CredentialType, description: 'What was guessed wrong. Each is counted by itself.' }),
    source: t.exposeString('source', { description: 'The address (of IPv6 its network), or the name. Of a tunnel password the address, `#` and the caller.' }),
    until: t.expose('until', { type: 'DateTime', description: 'When nothing is held against it any more.' }),
  }),
});

builder.queryFields((t) => ({
  viewer: t.field({
    type: Viewer,
    authScopes: { clientLogin: true },
    description: 'Who makes this call.',
    resolve: (_root, _args, { caller }) => caller,
  }),
  lockouts: t.field({
    type: [LockoutType],
    authScopes: { administrator: true },
    description: 'The addresses and names that have to wait after too many wrong guesses of any kind. For administrators.',
    resolve: (_root, _args, context) => context.attempts.lockouts(context.now()),
  }),
}));
