import { publicAddress } from '../../rules/public-address.ts';
import { splitAccounts } from '../../rules/proxy-accounts.ts';
import { targetLines } from '../../rules/targets.ts';
import { proxyProtocols, tunnelModes } from '../../rules/tunnel-mode.ts';
import type { Tunnel as TunnelRow } from '../../store/generated/sqlite/client.ts';
import type { Page } from '../../store/hot/page.ts';
import { nullWithoutSecrets, secretOf } from '../access/secret-field.ts';
import { builder } from '../builder.ts';
import type { ShownFields } from '../values/columns.ts';
import { columnsOfTunnel } from './columns.ts';
import { versionField, versionOf } from '../values/version.ts';
import { Client } from '../client/type.ts';
import { pageArgs, rowLimits, pageRange } from '../lists/page.ts';
import { stored } from '../values/stored.ts';
import { ProxyProtocol, TunnelMode } from './enums.ts';
import { TunnelRuntime, tunnelRuntime } from './runtime.ts';
import { numberOrNull, textOrNull } from '../values/empty.ts';

/** A server-side port that forwards through a client (contract 1.3). */
export const Tunnel = builder.prismaObject('Tunnel', {
  description: "A way into a client's network: through a port of the server or, for SECRET and P2P, with a password.",
  fields: (t) =>
    ({
      id: t.exposeID('id', { description: 'The id of the tunnel.' }),
      version: t.string({ description: versionField, resolve: (row, _args, context) => versionOf(context, columnsOfTunnel, row) }),
      mode: t.field({ type: TunnelMode, description: 'What the tunnel forwards or serves.', resolve: (row) => stored(tunnelModes, row.mode) }),
      remark: t.exposeString('remark', { description: 'A note.' }),
      port: t.field({
        type: 'Port',
        nullable: true,
        description: 'The port that the tunnel listens on; null = none (SECRET, P2P).',
        resolve: (row) => numberOrNull(row.port),
      }),
      serverIp: t.string({
        nullable: true,
        description: 'The address that the tunnel listens on; null = all addresses.',
        resolve: (row) => textOrNull(row.serverIp),
      }),
      publicAddress: t.string({
        nullable: true,
        description:
          "Where visitors reach the tunnel, as host:port; null = it has no port, or it listens on all addresses and the server's `publicAddress` is not set.",
        resolve: async (row, _args, context) => publicAddress(row, await context.serverName()),
      }),
      targets: t.stringList({
        description: 'The targets, used in round-robin order: host:port, or just a port, which means 127.0.0.1.',
        resolve: (row) => targetLines([row.target]),
      }),
      localProxy: t.exposeBoolean('localProxy', { description: 'Whether the server dials the targets itself, instead of the agent.' }),
      password: t.string({
        nullable: true,
        description: `The password of visitor programs (SECRET, P2P); null = none. ${nullWithoutSecrets}`,
        resolve: secretOf((row) => textOrNull(row.password)),
      }),
      localPath: t.string({
        nullable: true,
        description: "The directory on the agent's machine that is served (FILE); null = none.",
        resolve: (row) => textOrNull(row.localPath),
      }),
      stripPrefix: t.string({
        nullable: true,
        description: 'The prefix that is removed from the URL path (FILE); null = none.',
        resolve: (row) => textOrNull(row.stripPrefix),
      }),
      proxyProtocol: t.field({
        type: ProxyProtocol,
        description: "The PROXY protocol header that carries the visitor's address to the target.",
        resolve: (row) => stored(proxyProtocols, row.proxyProtocol),
      }),
      accountNames: t.stringList({
        description:
          'The user names of the accounts that visitors of the proxy log in with (HTTP_PROXY, SOCKS5). Empty = the user name and password of the client apply.',
        resolve: (row) => splitAccounts(row.accounts).map(({ user }) => user),
      }),
      enabled: t.exposeBoolean('enabled', { description: 'Whether the tunnel is started. `runtime` contains whether it runs.' }),
      noStore: t.exposeBoolean('noStore', {
        description:
          "Whether it comes from the agent's configuration file. Such a record is removed when the agent disconnects, and can only be edited in that file.",
      }),
      createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
      client: t.field({
        type: Client,
        description: 'The client that the tunnel belongs to.',
        resolve: async ({ clientId }, _args, { loaders }) => {
          const client = await loaders.clients.load(clientId);
          if (client === undefined) throw new Error(`tunnel of client ${clientId}, which was deleted while the answer was written`);
          return client;
        },
      }),
      runtime: t.field({
        type: TunnelRuntime,
        description: 'The current state.',
        resolve: (row, _args, { loaders }) => loaders.tunnelStates.load(row.id).then((state) => tunnelRuntime(row, state)),
      }),
    }) satisfies ShownFields<typeof columnsOfTunnel>,
});

/** A page of a list of tunnels. */
export const TunnelPage = builder.objectRef<Page<TunnelRow>>('TunnelPage').implement({
  description: 'A page of a list of tunnels.',
  fields: (t) => ({
    rows: t.field({ type: [Tunnel], description: 'The tunnels on the page.', resolve: (page) => page.rows }),
    total: t.exposeInt('total', { description: 'The number of tunnels in the whole list.' }),
  }),
});

builder.prismaObjectField(Client, 'tunnels', (t) =>
  t.field({
    type: TunnelPage,
    description: "The client's tunnels, sorted by id.",
    args: {
      offset: t.arg.int({ defaultValue: 0, description: pageArgs.offset }),
      limit: t.arg.int({ defaultValue: rowLimits.normal, description: pageArgs.limit }),
    },
    resolve: async ({ id, tunnelCount, hostCount }, args, { loaders }) => ({
      rows: await loaders.tunnelsOfClients.load({ parentId: id, ...pageRange(args) }),
      total: tunnelCount - hostCount,
    }),
  }));
