import { publicUrls } from '../../rules/public-address.ts';
import { targetLines } from '../../rules/targets.ts';
import { ruleSchemes } from '../../rules/host-route.ts';
import type { Host as HostRow } from '../../store/generated/sqlite/client.ts';
import type { Page } from '../../store/hot/page.ts';
import { isPem } from '../../rules/certificate.ts';
import { forAdministrators, nullUnlessAdministrator } from '../access/administrator-field.ts';
import { nullWithoutSecrets, secretOf } from '../access/secret-field.ts';
import { builder } from '../builder.ts';
import type { ShownFields } from '../values/columns.ts';
import { columnsOfHost } from './columns.ts';
import { versionField, versionOf } from '../values/version.ts';
import { Client } from '../client/type.ts';
import { pageArgs, rowLimits, pageRange } from '../lists/page.ts';
import { stored } from '../values/stored.ts';
import { textOrNull } from '../values/empty.ts';
import { hostCertificate, HostCertificateType } from './certificate-type.ts';
import { HostMode, HostScheme } from './enums.ts';
import { HostRuntime, hostRuntime } from './runtime.ts';

/** A domain that is forwarded to a client's targets (contract 1.4). Only the paths of certificate and key are shown, and only to administrators (contract D16, 1.4). */
export const Host = builder.prismaObject('Host', {
  description: "A domain whose requests are forwarded into a client's network.",
  fields: (t) =>
    ({
      id: t.exposeID('id', { description: 'The id of the host.' }),
      version: t.string({ description: versionField, resolve: (row, _args, context) => versionOf(context, columnsOfHost, row) }),
      host: t.exposeString('host', { description: 'The domain or IP address, or `*.` and a domain for all names below it.' }),
      location: t.exposeString('location', { description: 'The path prefix of requests that the host serves; `/` = all paths.' }),
      scheme: t.field({ type: HostScheme, description: 'The schemes that the host serves.', resolve: (row) => stored(ruleSchemes, row.scheme) }),
      mode: t.field({ type: HostMode, description: "How the host's name is formed.", resolve: (row) => row.platformDomainId === null ? 'custom' : 'platform' }),
      platformDomainId: t.exposeID('platformDomainId', { nullable: true, description: 'The id of the platform domain; null = a custom host.' }),
      platformPrefix: t.exposeString('platformPrefix', { nullable: true, description: 'The prefix below the platform domain; null = a custom host.' }),
      remark: t.exposeString('remark', { description: 'A note.' }),
      publicUrls: t.stringList({
        description:
          "The URLs where visitors reach the host, https first. Empty for wildcards, and if the server has no port for the host's scheme. Behind a reverse proxy, these are the URLs of that proxy.",
        resolve: (row, _args, { settings }) => publicUrls(row, settings.hostPorts),
      }),
      targets: t.stringList({
        description: 'The targets, used in round-robin order: host:port, or just a port, which means 127.0.0.1.',
        resolve: (row) => targetLines([row.target]),
      }),
      localProxy: t.exposeBoolean('localProxy', { description: 'Whether the server dials the targets itself, instead of the agent.' }),
      headers: t.stringList({
        nullable: true,
        description: `Headers that are set on requests, each as \`Name: value\`. They may contain credentials. ${nullWithoutSecrets}`,
        resolve: secretOf((row) => targetLines([row.headerChange])),
      }),
      hostChange: t.string({
        nullable: true,
        description: "The Host header that is sent to the target; null = the visitor's.",
        resolve: (row) => textOrNull(row.hostChange),
      }),
      certificatePath: t.string({
        nullable: true,
        description: `The path of the certificate file; null = none, or the certificate is stored as text. ${nullUnlessAdministrator}`,
        resolve: forAdministrators((row) => pathOf(row.certFilePath)),
      }),
      privateKeyPath: t.string({
        nullable: true,
        description: `The path of the private key file; null = none, or the key is stored as text, which is never returned. ${nullUnlessAdministrator}`,
        resolve: forAdministrators((row) => pathOf(row.keyFilePath)),
      }),
      certificate: t.field({
        type: HostCertificateType,
        description: 'The certificate that the host uses for HTTPS, and its status.',
        resolve: (row, _args, context) => hostCertificate(context, row),
      }),
      hasCertificate: t.boolean({ description: 'Whether there is a certificate.', resolve: (row) => row.certFilePath !== '' }),
      hasPrivateKey: t.boolean({ description: 'Whether there is a private key.', resolve: (row) => row.keyFilePath !== '' }),
      autoHttps: t.exposeBoolean('autoHttps', { description: 'Whether HTTP requests are redirected to HTTPS.' }),
      acme: t.exposeBoolean('acme', {
        description: "Whether a certificate is obtained by ACME while the host has none of its own, if the server's settings enable ACME.",
      }),
      enabled: t.exposeBoolean('enabled', { description: 'Whether the host is started.' }),
      noStore: t.exposeBoolean('noStore', {
        description:
          "Whether it comes from the agent's configuration file. Such a record is removed when the agent disconnects, and can only be edited in that file.",
      }),
      createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
      runtime: t.field({
        type: HostRuntime,
        description: 'The current state.',
        resolve: (row, _args, { loaders }) => loaders.hostStates.load(row.id).then((state) => hostRuntime(row, state)),
      }),
      client: t.field({
        type: Client,
        description: 'The client that the host belongs to.',
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
    total: t.exposeInt('total', { description: 'The number of hosts in the whole list.' }),
  }),
});

builder.prismaObjectField(Client, 'hosts', (t) =>
  t.field({
    type: HostPage,
    description: "The client's hosts, sorted by id.",
    args: {
      offset: t.arg.int({ defaultValue: 0, description: pageArgs.offset }),
      limit: t.arg.int({ defaultValue: rowLimits.normal, description: pageArgs.limit }),
    },
    resolve: async ({ id, hostCount }, args, { loaders }) => ({
      rows: await loaders.hostsOfClients.load({ parentId: id, ...pageRange(args) }),
      total: hostCount,
    }),
  }));

/** The path of a stored certificate or key; null = none. Never its text (contract 1.4, D16). */
function pathOf(stored: string): string | null {
  return isPem(stored) ? null : textOrNull(stored);
}
