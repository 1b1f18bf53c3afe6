import { publicUrls } from '../../rules/public-address.ts';
import { targetLines } from '../../rules/targets.ts';
import { ruleSchemes } from '../../rules/host-route.ts';
import type { Host as HostRow } from '../../store/generated/sqlite/client.ts';
import type { Page } from '../../store/hot/page.ts';
import { isPem } from '../../rules/certificate.ts';
import { nullWithoutSecrets, secretOf } from '../access/secret-field.ts';
import { builder } from '../builder.ts';
import type { ShownFields } from '../values/columns.ts';
import type { columnsOfHost } from './columns.ts';
import { Client } from '../client/type.ts';
import { pageArgs, rowLimits, pageRange } from '../lists/page.ts';
import { stored } from '../values/stored.ts';
import { textOrNull } from '../values/empty.ts';
import type { Context } from '../context.ts';
import { hostCertificate, HostCertificateType } from './certificate-type.ts';
import { HostMode, HostScheme } from './enums.ts';
import { HostRuntime, hostRuntime } from './runtime.ts';

/** A domain that is forwarded to a client's targets (contract 1.4). Only the paths of certificate and key are shown, and only to administrators (contract D16, 1.4). */
export const Host = builder.prismaObject('Host', {
  description: 'A domain whose requests are led into the network of a client.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Names the host in every call.' }),
    host: t.exposeString('host', { description: 'The domain or address it is for, or `*.` and a domain for all names below it.' }),
    location: t.exposeString('location', { description: 'The beginning of the URL paths it is for; `/` = every path.' }),
    scheme: t.field({ type: HostScheme, description: 'The protocol it is for.', resolve: (row) => stored(ruleSchemes, row.scheme) }),
    mode: t.field({ type: HostMode, description: 'Where its name comes from.', resolve: (row) => row.platformDomainId === null ? 'custom' : 'platform' }),
    platformDomainId: t.exposeID('platformDomainId', { nullable: true, description: 'The platform domain it lies below; null = a custom host.' }),
    platformPrefix: t.exposeString('platformPrefix', { nullable: true, description: 'The prefix of the platform domain; null = a custom host.' }),
    remark: t.exposeString('remark', { description: 'A note.' }),
    publicUrls: t.stringList({
      description: 'The URLs by which visitors reach it, https first; empty for a wildcard, and where the server has no port for its scheme. What is behind a reverse proxy has the URLs of that proxy.',
      resolve: (row, _args, { settings }) => publicUrls(row, settings.hostPorts),
    }),
    targets: t.stringList({
      description: 'The targets of requests, used in round-robin order: host:port, or a port alone, which means 127.0.0.1.',
      resolve: (row) => targetLines([row.target]),
    }),
    localProxy: t.exposeBoolean('localProxy', { description: "The server dials the targets itself, not the client's agent." }),
    headers: t.stringList({ nullable: true, description: `Headers that are set on requests, each as \`Name: value\`; they may carry credentials. ${nullWithoutSecrets}`, resolve: secretOf((row) => targetLines([row.headerChange])) }),
    hostChange: t.string({ nullable: true, description: 'The Host header that the target sees; null = as it came.', resolve: (row) => textOrNull(row.hostChange) }),
    certificatePath: t.string({
      nullable: true,
      description: "The path of the certificate's file, to administrators; null = none, or the certificate is stored as text.",
      resolve: (row, _args, context) => textOrNull(pathFor(context, row.certFilePath)),
    }),
    privateKeyPath: t.string({
      nullable: true,
      description: "The path of the private key's file, to administrators; null = none, or the key is stored as text, which nobody gets to see.",
      resolve: (row, _args, context) => textOrNull(pathFor(context, row.keyFilePath)),
    }),
    certificate: t.field({
      type: HostCertificateType,
      description: 'The certificate that it is served with over HTTPS, and its current status.',
      resolve: (row, _args, context) => hostCertificate(context, row),
    }),
    hasCertificate: t.boolean({ description: 'Whether there is a certificate.', resolve: (row) => row.certFilePath !== '' }),
    hasPrivateKey: t.boolean({ description: 'Whether there is a private key.', resolve: (row) => row.keyFilePath !== '' }),
    autoHttps: t.exposeBoolean('autoHttps', { description: 'HTTP requests are sent to HTTPS.' }),
    acme: t.exposeBoolean('acme', { description: 'While it has no certificate of its own it gets one by ACME, where the server does that.' }),
    enabled: t.exposeBoolean('enabled', { description: 'It is started.' }),
    noStore: t.exposeBoolean('noStore', { description: 'The agent brought it along, out of its configuration file: it goes when the agent goes, and is edited there.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    inletBytes: t.expose('inletBytes', { type: 'Bytes', description: 'Bytes from visitors since it was made.' }),
    exportBytes: t.expose('exportBytes', { type: 'Bytes', description: 'Bytes to visitors since it was made.' }),
    runtime: t.field({
      type: HostRuntime,
      description: 'What it is doing now.',
      resolve: (row, _args, { loaders }) => loaders.hostStates.load(row.id).then((state) => hostRuntime(row, state)),
    }),
    client: t.field({
      type: Client,
      description: 'The client it leads to.',
      resolve: async ({ clientId }, _args, { loaders }) => {
        const client = await loaders.clients.load(clientId);
        if (client === undefined) throw new Error(`host of client ${clientId}, which was deleted while the answer was written`);
        return client;
      },
    }),
  }) satisfies ShownFields<typeof columnsOfHost>,
});

/** A page of a list of hosts. */
export const HostPage = builder.objectRef<Page<HostRow>>('HostPage').implement({
  description: 'A page of a list of hosts.',
  fields: (t) => ({
    rows: t.field({ type: [Host], description: 'The hosts on the page.', resolve: (page) => page.rows }),
    total: t.exposeInt('total', { description: 'How many hosts the whole list has.' }),
  }),
});

builder.prismaObjectField(Client, 'hosts', (t) => t.field({
  type: HostPage,
  description: 'Its hosts, by id.',
  args: { offset: t.arg.int({ defaultValue: 0, description: pageArgs.offset }), limit: t.arg.int({ defaultValue: rowLimits.normal, description: pageArgs.limit }) },
  resolve: async ({ id, hostCount }, args, { loaders }) => ({ rows: await loaders.hostsOfClients.load({ parentId: id, ...pageRange(args) }), total: hostCount }),
}));

/** The visible part of a stored certificate or key: its path, for administrators; never its text (contract 1.4, D16). */
function pathFor({ caller }: Context, stored: string): string {
  return caller.kind === 'admin' && !isPem(stored) ? stored : '';
}
