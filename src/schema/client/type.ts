import { agentCommand } from '../../rules/public-address.ts';
import { effectiveExpiry, isPast } from '../../rules/expiry.ts';
import type { Client as ClientRow, User as UserRow } from '../../store/generated/sqlite/client.ts';
import { nullWithoutSecrets, secretOf, seesSecrets } from '../access/secret-field.ts';
import { builder } from '../builder.ts';
import type { ShownFields } from '../values/columns.ts';
import { ipListOf } from '../values/ip-lists.ts';
import type { columnsOfClient } from './columns.ts';
import type { Context } from '../context.ts';
import { User } from '../user/type.ts';
import { ClientRuntime, clientRuntime } from './runtime.ts';
import { numberOrNull, textOrNull } from '../values/empty.ts';

/** A remote agent and its permissions (contract 1.1). Passwords are not shown; a field tells whether one is set (contract D16). */
export const Client = builder.prismaObject('Client', {
  description: 'A remote agent that connects to the server, and what it may do.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Names the client in every call.' }),
    verifyKey: t.string({ nullable: true, description: `The key that the agent proves when it connects. ${nullWithoutSecrets}`, resolve: secretOf((row) => row.vkey) }),
    agentCommand: t.string({
      nullable: true,
      description: 'The command that runs its agent, for a POSIX shell, with the key in it; null = the server\'s `publicAddress` is not set, or the caller came by a token without `secrets`.',
      resolve: async (row, _args, context) => {
        const name = await context.serverName();
        return name === '' || !seesSecrets(context.caller) ? null : agentCommand(row.vkey, name, context.settings.bridge);
      },
    }),
    remark: t.exposeString('remark', { description: 'A note.' }),
    enabled: t.boolean({
      description: 'False = the agent is refused and its tunnels serve nobody: it was switched off, or it has expired.',
      resolve: (row, _args, context) => {
        if (!row.enabled) return false;
        const expiry = expiryOf(row, context);
        return expiry instanceof Promise ? expiry.then((at) => !isPast(at, context.now())) : !isPast(expiry, context.now());
      },
    }),
    basicUser: t.string({ nullable: true, description: 'The user name that proxies and hosts ask visitors for; null = they ask for none.', resolve: (row) => textOrNull(row.basicUser) }),
    hasBasicPassword: t.boolean({ description: 'Whether a password goes with `basicUser`.', resolve: (row) => row.basicPassword !== '' }),
    compress: t.exposeBoolean('compress', { description: 'Traffic between server and agent is compressed.' }),
    crypt: t.exposeBoolean('crypt', { description: 'Traffic between server and agent is encrypted.' }),
    configAllowed: t.exposeBoolean('configAllowed', { description: 'The agent may bring tunnels of its own configuration file.' }),
    rateLimit: t.field({ type: 'KibPerSecond', nullable: true, description: 'The rate of all connections together; null = unlimited.', resolve: (row) => numberOrNull(row.rateLimit) }),
    flowLimit: t.field({ type: 'Mebibytes', nullable: true, description: 'The traffic in and out together; null = unlimited.', resolve: (row) => numberOrNull(row.flowLimit) }),
    maxConnections: t.int({ nullable: true, description: 'The most connections of visitors at a time; null = unlimited.', resolve: (row) => numberOrNull(row.maxConnections) }),
    maxTunnels: t.int({ nullable: true, description: 'The most tunnels and hosts; null = unlimited.', resolve: (row) => numberOrNull(row.maxTunnels) }),
    webUsername: t.string({ nullable: true, description: "The user name of the client's own web login; null = none.", resolve: (row) => textOrNull(row.webUsername) }),
    hasWebPassword: t.boolean({ description: 'Whether the client has a web login.', resolve: (row) => row.webPasswordHash !== '' }),
    blackIpList: t.stringList({ description: 'Addresses of visitors that are refused.', resolve: (row, _args, context) => ipListOf(context, row.blackIpList) }),
    ipWhite: t.exposeBoolean('ipWhite', { description: 'Only visitors of `ipWhiteList` are allowed.' }),
    hasIpWhitePassword: t.boolean({
      description: 'Whether a password allows visitors who are not on `ipWhiteList` for two hours.',
      resolve: (row) => row.ipWhitePassword !== '',
    }),
    ipWhiteList: t.stringList({ description: 'Addresses of visitors that are allowed while `ipWhite` is on.', resolve: (row, _args, context) => ipListOf(context, row.ipWhiteList) }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true, description: "The client's own expiry; null = never." }),
    effectiveExpiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: "The earlier of the client's own expiry and its owner's; null = never.",
      resolve: (row, _args, context) => expiryOf(row, context),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the client was made.' }),
    owner: t.field({ type: User, nullable: true, description: 'The user it belongs to; null = nobody.', resolve: (row, _args, context) => ownerOf(row, context) }),
    runtime: t.field({
      type: ClientRuntime,
      description: 'What it is doing now.',
      resolve: (row, _args, { loaders }) => loaders.clientStates.load(row.id).then((state) => clientRuntime(row, state)),
    }),
  }) satisfies ShownFields<typeof columnsOfClient>,
});

function ownerOf({ userId }: ClientRow, { loaders }: Context): null | Promise<UserRow | undefined> {
  return userId === null ? null : loaders.users.load(userId);
}

/** Synchronous if the client has no owner, since lists have many clients. */
function expiryOf(row: ClientRow, context: Context): Date | null | Promise<Date | null> {
  const owner = ownerOf(row, context);
  return owner === null ? row.expiresAt : owner.then((user) => effectiveExpiry(row.expiresAt, user?.expiresAt));
}
