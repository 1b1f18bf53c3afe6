import type { PlatformDomain as PlatformDomainRow } from '../../store/generated/sqlite/client.ts';
import { forAdministrators, nullUnlessAdministrator } from '../access/administrator-field.ts';
import { EXPIRING_DAYS } from '../../rules/certificate.ts';
import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import { hostCertificate, type HostCertificate, HostCertificateType } from '../host/certificate-type.ts';
import { textOrNull } from '../values/empty.ts';
import { enumOf } from '../values/enum.ts';
import { certificateState, type CertificateState, type PlatformCertificateStatus as Status } from './certificate-rules.ts';

/** A platform domain with the number of its hosts. */
export type CountedDomain = PlatformDomainRow & { readonly _count: { readonly hosts: number } };

/** All hosts of a domain share its certificate, so any of them is sufficient. */
async function certificateInUse(context: Context, { id, wildcard }: CountedDomain): Promise<HostCertificate | null> {
  const host = await context.store.db.host.findFirst({ where: { platformDomainId: id, scheme: { not: 'http' } }, orderBy: { id: 'asc' } });
  return host && hostCertificate(context, host, wildcard);
}

const PlatformCertificateStatus = enumOf<Status>(
  'PlatformCertificateStatus',
  "The status of a platform domain's certificate. If more than one applies, the first of this list counts.",
  {
    none: 'No certificate is configured, so the hosts only serve HTTP.',
    cannotLoad: 'A file is missing, cannot be read or is larger than 64 KB, or certificate and key are not a pair that can be used.',
    empty: 'A file is empty.',
    cannotParse: 'The first file contains no certificate.',
    notCovered: 'It does not cover the wildcard.',
    expired: 'It has expired.',
    notYetValid: 'It is not valid yet.',
    expiring: `It expires in less than ${EXPIRING_DAYS} days.`,
    valid: 'It is valid.',
  },
);

const PlatformCertificate = builder.objectRef<CertificateState>('PlatformCertificate').implement({
  description: "The status of a platform domain's certificate.",
  fields: (t) => ({
    status: t.expose('status', { type: PlatformCertificateStatus, description: 'The status.' }),
    readable: t.exposeBoolean('readable', { description: 'Whether the files can be read and the key belongs to the certificate.' }),
    expiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the certificate expires; null = it cannot be read.',
      resolve: (state) => state.expiresAt,
    }),
    daysRemaining: t.int({
      nullable: true,
      description: 'Full days until the certificate expires; null = it cannot be read.',
      resolve: ({ expiresAt, daysRemaining }) => expiresAt === null ? null : daysRemaining,
    }),
  }),
});

/** A wildcard domain of the administrator (contract 1.5). Only administrators see the paths. */
export const PlatformDomain = builder.objectRef<CountedDomain>('PlatformDomain').implement({
  description: 'A wildcard domain whose subdomains the administrator offers to users.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id of the platform domain.' }),
    wildcard: t.exposeString('wildcard', { description: '`*.` and the domain.' }),
    certificateConfigured: t.boolean({
      description: 'Whether a certificate is configured, so that hosts can serve HTTPS.',
      resolve: (row) => row.certFilePath !== '',
    }),
    certificatePath: t.string({
      nullable: true,
      description: `The path of the certificate file; null = none. ${nullUnlessAdministrator}`,
      resolve: forAdministrators((row) => textOrNull(row.certFilePath)),
    }),
    privateKeyPath: t.string({
      nullable: true,
      description: `The path of the private key file; null = none. ${nullUnlessAdministrator}`,
      resolve: forAdministrators((row) => textOrNull(row.keyFilePath)),
    }),
    referenceCount: t.int({
      nullable: true,
      description: `The number of hosts below this domain. ${nullUnlessAdministrator}`,
      resolve: forAdministrators((row) => row._count.hosts),
    }),
    certificate: t.field({
      type: PlatformCertificate,
      nullable: true,
      description: `The status of the configured files, which are read by this field. ${nullUnlessAdministrator}`,
      resolve: forAdministrators((row) => certificateState(row)),
    }),
    certificateInUse: t.field({
      type: HostCertificateType,
      nullable: true,
      description: `The certificate that its hosts use, and its status; null = no host serves HTTPS. ${nullUnlessAdministrator}`,
      resolve: forAdministrators((row, context) => certificateInUse(context, row)),
    }),
  }),
});
