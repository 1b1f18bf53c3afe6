import type { Caller } from '../../rules/caller.ts';
import type { Lockout } from '../../rules/attempts.ts';
import { builder } from '../builder.ts';
import { Client } from '../client/type.ts';
import { User } from '../user/type.ts';

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

const LockoutKind = builder.enumType('LockoutKind', {
  description: 'What has to wait.',
  values: {
    ADDRESS: { description: 'An address: too many wrong passwords came from it.' },
    NAME: { description: 'A name: too many wrong passwords were tried for it.' },
  },
});

const kinds = { ADDRESS: 'address', NAME: 'name' } as const;

const LockoutType = builder.objectRef<Lockout>('Lockout').implement({
  description: 'A source of wrong passwords that has to wait.',
  fields: (t) => ({
    kind: t.field({ type: LockoutKind, description: 'What it is.', resolve: ({ kind }) => kind === 'address' ? 'ADDRESS' : 'NAME' }),
    source: t.exposeString('source', { description: 'The address (of IPv6 its network), or the name.' }),
    until: t.field({ type: 'DateTime', description: 'When it may try again.', resolve: ({ until }) => new Date(until) }),
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
    description: 'The addresses and names that have to wait after too many wrong passwords. For administrators.',
    resolve: (_root, _args, { attempts }) => attempts.lockouts(Date.now()),
  }),
}));

builder.mutationField('freeLockout', (t) => t.boolean({
  authScopes: { administrator: true },
  description: 'Lets an address or a name try again at once. Answers whether it had to wait. For administrators.',
  args: {
    kind: t.arg({ type: LockoutKind, required: true, description: 'What it is.' }),
    source: t.arg.string({ required: true, description: 'As it is listed.' }),
  },
  resolve: (_root, { kind, source }, { attempts }) => attempts.free({ kind: kinds[kind], source }),
}));
