import type { PlatformDomain as PlatformDomainRow } from '../../store/generated/sqlite/client.ts';
import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import { hostCertificate, type HostCertificate, HostCertificateType } from '../host/certificate-type.ts';
import { textOrNull } from '../values/empty.ts';
import { certificateState, type CertificateState } from './certificate-rules.ts';

/** A platform domain with the number of its hosts. */
export type CountedDomain = PlatformDomainRow & { readonly _count: { readonly hosts: number } };

/** All hosts of a domain share its certificate, so any of them is sufficient. */
async function certificateInUse(context: Context, { id, wildcard }: CountedDomain): Promise<HostCertificate | null> {
  const host = await context.store.db.host.findFirst({ where: { platformDomainId: id, scheme: { not: 'http' } }, orderBy: { id: 'asc' } });
  return host && hostCertificate(context, host, wildcard);
}

const PlatformCertificate = builder.objectRef<CertificateState>('PlatformCertificate').implement({
  description: "The status of a platform domain's certificate.",
  fields: (t) => ({
    status: t.exposeString('status', { description: 'The status in words, such as "valid", "expired" or "cannot load".' }),
    readable: t.exposeBoolean('readable', { description: 'Whether the files can be read and the key belongs to the certificate.' }),
    expiresAt: t.field({ type: 'DateTime', nullable: true, description: 'When the certificate expires; null = it cannot be read.', resolve: (state) => state.expiresAt }),
    daysRemaining: t.int({ nullable: true, description: 'Full days until the certificate expires; null = it cannot be read.', resolve: ({ expiresAt, daysRemaining }) => expiresAt === null ? null : daysRemaining }),
  }),
});

/** A wildcard domain of the administrator (contract 1.5). Only administrators see the paths. */
export const PlatformDomain = builder.objectRef<CountedDomain>('PlatformDomain').implement({
  description: 'A wildcard domain whose subdomains the administrator offers to users.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the platform domain.' }),
    wildcard: t.exposeString('wildcard', { description: '`*.` and the domain.' }),
    certificateConfigured: t.boolean({ description: 'Whether a certificate is configured, so that hosts can serve HTTPS.', resolve: (row) => row.certFilePath !== '' }),
    certFilePath: t.string({ nullable: true, authScopes: { administrator: true }, description: 'The path of the certificate file; null = none. For administrators.', resolve: (row) => textOrNull(row.certFilePath) }),
    keyFilePath: t.string({ nullable: true, authScopes: { administrator: true }, description: 'The path of the private key file; null = none. For administrators.', resolve: (row) => textOrNull(row.keyFilePath) }),
    referenceCount: t.int({ authScopes: { administrator: true }, description: 'The number of hosts below this domain. For administrators.', resolve: (row) => row._count.hosts }),
    certificate: t.field({
      type: PlatformCertificate,
      authScopes: { administrator: true },
      description: 'The status of the configured files, which are read by this field. For administrators.',
      resolve: (row) => certificateState(row),
    }),
    certificateInUse: t.field({
      type: HostCertificateType,
      nullable: true,
      authScopes: { administrator: true },
      description: 'The certificate that its hosts use, and its status; null = no host serves HTTPS. For administrators.',
      resolve: (row, _args, context) => certificateInUse(context, row),
    }),
  }),
});
