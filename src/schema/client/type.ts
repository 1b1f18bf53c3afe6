import { agentCommand } from '../../rules/public-address.ts';
import { effectiveExpiry, isPast } from '../../rules/expiry.ts';
import type { Client as ClientRow, User as UserRow } from '../../store/generated/sqlite/client.ts';
import { nullWithoutSecrets, secretOf, seesSecrets } from '../access/secret-field.ts';
import { builder } from '../builder.ts';
import type { ShownFields } from '../values/columns.ts';
import { ipListOf } from '../values/ip-lists.ts';
import { columnsOfClient } from './columns.ts';
import { versionField, versionOf } from '../values/version.ts';
import type { Context } from '../context.ts';
import { User } from '../user/type.ts';
import { ClientRuntime, clientRuntime } from './runtime.ts';
import { numberOrNull, textOrNull } from '../values/empty.ts';

/** A remote agent and its permissions (contract 1.1). Passwords are not shown; a field tells whether one is set (contract D16). */
export const Client = builder.prismaObject('Client', {
  description: "An agent's account: its key, its permissions and its limits.",
  fields: (t) =>
    ({
      id: t.exposeID('id', { description: 'The id of the client.' }),
      version: t.string({ description: versionField, resolve: (row, _args, context) => versionOf(context, columnsOfClient, row) }),
      verifyKey: t.string({
        nullable: true,
        description: `The key that the agent authenticates with. ${nullWithoutSecrets}`,
        resolve: secretOf((row) => row.vkey),
      }),
      agentCommand: t.string({
        nullable: true,
        description:
          "The command that starts the agent, for a POSIX shell, in the directory of adit-agent.mjs, which this server serves at `/agent/adit-agent.mjs`. It needs Node 20.19 or newer. Contains the key. Null if the server's `publicAddress` is not set, and for tokens without `secrets`.",
        resolve: async (row, _args, context) => {
          const name = await context.serverName();
          return name === '' || !seesSecrets(context.caller) ? null : agentCommand(row.vkey, name, context.settings.bridge);
        },
      }),
      remark: t.exposeString('remark', { description: 'A note.' }),
      enabled: t.boolean({
        description: 'False = the client is disabled or has expired: its agent is refused, and its tunnels and hosts do not serve.',
        resolve: (row, _args, context) => {
          if (!row.enabled) return false;
          const expiry = expiryOf(row, context);
          return expiry instanceof Promise ? expiry.then((at) => !isPast(at, context.now())) : !isPast(expiry, context.now());
        },
      }),
      basicUser: t.string({
        nullable: true,
        description: "The user name that the client's proxies and hosts require of visitors; null = none.",
        resolve: (row) => textOrNull(row.basicUser),
      }),
      hasBasicPassword: t.boolean({ description: 'Whether a password belongs to `basicUser`.', resolve: (row) => row.basicPassword !== '' }),
      compress: t.exposeBoolean('compress', { description: 'Whether the traffic between server and agent is compressed.' }),
      encrypt: t.exposeBoolean('crypt', { description: 'Whether the traffic between server and agent is encrypted.' }),
      configAllowed: t.exposeBoolean('configAllowed', { description: "Whether tunnels and hosts from the agent's configuration file are accepted." }),
      rateLimit: t.field({
        type: 'KibPerSecond',
        nullable: true,
        description: 'The maximum rate of all connections together; null = unlimited.',
        resolve: (row) => numberOrNull(row.rateLimit),
      }),
      flowLimit: t.field({
        type: 'Mebibytes',
        nullable: true,
        description: 'The maximum traffic, in both directions together; null = unlimited.',
        resolve: (row) => numberOrNull(row.flowLimit),
      }),
      maxConnections: t.int({
        nullable: true,
        description: "The maximum number of visitors' connections at a time; null = unlimited.",
        resolve: (row) => numberOrNull(row.maxConnections),
      }),
      maxTunnels: t.int({
        nullable: true,
        description: 'The maximum number of tunnels and hosts together; null = unlimited.',
        resolve: (row) => numberOrNull(row.maxTunnels),
      }),
      webUsername: t.string({
        nullable: true,
        description: "The user name of the client's web login; null = none.",
        resolve: (row) => textOrNull(row.webUsername),
      }),
      hasWebPassword: t.boolean({ description: 'Whether the client has a web login.', resolve: (row) => row.webPasswordHash !== '' }),
      blocklist: t.stringList({
        description: 'Addresses and networks of visitors that are refused.',
        resolve: (row, _args, context) => ipListOf(context, row.blackIpList),
      }),
      allowlistEnabled: t.exposeBoolean('ipWhite', { description: 'Whether only visitors whose address is on `allowlist` are admitted.' }),
      hasAllowlistPassword: t.boolean({
        description: 'Whether there is a password that admits visitors who are not on `allowlist`.',
        resolve: (row) => row.ipWhitePassword !== '',
      }),
      allowlist: t.stringList({
        description: 'Addresses and networks of visitors that are admitted while `allowlistEnabled` is true.',
        resolve: (row, _args, context) => ipListOf(context, row.ipWhiteList),
      }),
      expiresAt: t.expose('expiresAt', { type: 'DateTime', nullable: true, description: 'When the client itself expires; null = never.' }),
      effectiveExpiresAt: t.field({
        type: 'DateTime',
        nullable: true,
        description: 'When the client or its owner expires, whichever is first; null = never.',
        resolve: (row, _args, context) => expiryOf(row, context),
      }),
      createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the client was created.' }),
      owner: t.field({
        type: User,
        nullable: true,
        description: 'The user that owns the client; null = nobody.',
        resolve: (row, _args, context) => ownerOf(row, context),
      }),
      runtime: t.field({
        type: ClientRuntime,
        description: 'The current state.',
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
