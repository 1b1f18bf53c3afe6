import type { PlatformDomain as PlatformDomainRow } from '../../store/generated/sqlite/client.ts';
import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import { hostCertificate, type HostCertificate, HostCertificateType } from '../host/certificate.ts';
import { certificateState, type CertificateState } from './certificate.ts';
import { textOrNull } from '../empty.ts';

/** A platform domain with the number of its hosts. */
export type CountedDomain = PlatformDomainRow & { readonly _count: { readonly hosts: number } };

/** All platform domains, by name. */
export function allPlatformDomains({ store }: Context): Promise<CountedDomain[]> {
  return store.db.platformDomain.findMany({ orderBy: { wildcard: 'asc' }, include: { _count: { select: { hosts: true } } } });
}

/** All its hosts share one certificate, so any of them will do. */
async function certificateInUse(context: Context, { id, wildcard }: CountedDomain): Promise<HostCertificate | null> {
  const host = await context.store.db.host.findFirst({ where: { platformDomainId: id, scheme: { not: 'http' } }, orderBy: { id: 'asc' } });
  return host && hostCertificate(context, host, wildcard);
}

const PlatformCertificate = builder.objectRef<CertificateState>('PlatformCertificate').implement({
  description: 'How the certificate of a platform domain stands.',
  fields: (t) => ({
    status: t.exposeString('status', { description: 'In words: valid, expired, cannot load, ...' }),
    readable: t.exposeBoolean('readable', { description: 'The files could be read, and the key belongs to the certificate.' }),
    expiresAt: t.field({ type: 'DateTime', nullable: true, description: 'When it expires; null = there is none that could be read.', resolve: (state) => state.expiresAt }),
    daysRemaining: t.int({ nullable: true, description: 'Whole days until then; null = there is none that could be read.', resolve: ({ expiresAt, daysRemaining }) => expiresAt === null ? null : daysRemaining }),
  }),
});

/** A wildcard domain that the administrator offers (contract 1.5). The paths are the administrator's alone. */
export const PlatformDomain = builder.objectRef<CountedDomain>('PlatformDomain').implement({
  description: 'A wildcard domain that the administrator offers for sub-domains.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Names it in every call; stays the same.' }),
    wildcard: t.exposeString('wildcard', { description: '`*.` and the domain.' }),
    certificateConfigured: t.boolean({ description: 'It has a certificate, so that its hosts can be for HTTPS.', resolve: (row) => row.certFilePath !== '' }),
    certFilePath: t.string({ nullable: true, authScopes: { administrator: true }, description: "The path of the certificate's file; null = none. For administrators.", resolve: (row) => textOrNull(row.certFilePath) }),
    keyFilePath: t.string({ nullable: true, authScopes: { administrator: true }, description: "The path of the private key's file; null = none. For administrators.", resolve: (row) => textOrNull(row.keyFilePath) }),
    referenceCount: t.int({ authScopes: { administrator: true }, description: 'How many hosts lie below it. For administrators.', resolve: (row) => row._count.hosts }),
    certificate: t.field({
      type: PlatformCertificate,
      authScopes: { administrator: true },
      description: 'How the files stand that are configured now; they are read for it. For administrators.',
      resolve: (row) => certificateState(row),
    }),
    certificateInUse: t.field({
      type: HostCertificateType,
      nullable: true,
      authScopes: { administrator: true },
      description: 'The certificate that its hosts are served with, and how it stands; null = no host of it is for HTTPS. For administrators.',
      resolve: (row, _args, context) => certificateInUse(context, row),
    }),
  }),
});

builder.queryFields((t) => ({
  platformDomains: t.field({
    type: [PlatformDomain],
    authScopes: { clientLogin: true },
    description: 'The platform domains, by name: what a platform host can lie below.',
    resolve: (_root, _args, context) => allPlatformDomains(context),
  }),
}));
