import type { AcmeState, CertificateState } from '../../engine/face.ts';
import { daysLeft, type CertificateStatus } from '../../rules/certificate.ts';
import type { Host } from '../../store/generated/sqlite/client.ts';
import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import { ownNames } from './name-rules.ts';
import { textOrNull } from '../values/empty.ts';
import { enumOf } from '../values/enum.ts';

/** The source of a host's certificate. */
type CertificateOrigin = 'OWN' | 'PLATFORM' | 'ACME' | 'NONE';

const CertificateOriginType = builder.enumType('CertificateOrigin', {
  description: 'Where the certificate of a host comes from.',
  values: {
    OWN: { description: 'It was set on this host, or on another host of the same name, as text or as files.' },
    PLATFORM: { description: 'It is the certificate of the platform domain.' },
    ACME: { description: 'It is issued by ACME.' },
    NONE: { description: 'There is no certificate: TLS is passed through to the target, or the host only serves HTTP.' },
  } satisfies Record<CertificateOrigin, object>,
});

/** The status of a host's certificate. */
export const CertificateStatusType = enumOf<CertificateStatus | 'none'>(
  'CertificateStatus',
  'The status of a certificate. If more than one applies, the first of this list counts.',
  {
    none: 'There is no certificate, and none is needed.',
    missing: 'There is no usable certificate with its key, so TLS handshakes fail. `problem` contains the reason.',
    expired: 'It has expired, and is still in use.',
    notYetValid: 'It is not valid yet.',
    notCovered: "It does not cover the host's name.",
    refused: 'The certificate in use is valid, but its replacement was refused. `problem` contains the reason.',
    expiring: 'It expires in less than 15 days.',
    valid: 'It is valid.',
  },
);

/** The certificate of a host and its status. */
export interface HostCertificate {
  readonly origin: CertificateOrigin;
  readonly status: CertificateStatus | 'none';
  readonly problem: string;
  readonly inUse: CertificateState['inUse'];
  readonly acme: AcmeState | null;
  /** The current time in ms since the epoch, for counting days. */
  readonly now: number;
}

/** The certificate status of a stored host. @param name the exact name, if the host is a wildcard */
export async function hostCertificate(context: Context, row: Host, name?: string): Promise<HostCertificate> {
  const state = await context.loaders.certificates.load({ id: row.id, name });
  const now = context.now();
  if (state) {
    const origin = row.platformDomainId !== null ? 'PLATFORM' : state.acme ? 'ACME' : 'OWN';
    return { origin, status: state.status, problem: state.problem, inUse: state.inUse, acme: state.acme, now };
  }
  const off = row.acme && row.enabled && row.certFilePath === '' && row.keyFilePath === '';
  return { origin: 'NONE', status: 'none', problem: off ? await whyNotOrdered(context, row) : '', inUse: null, acme: null, now };
}

/** Why the engine doesn't order a certificate for a host with `acme`. */
async function whyNotOrdered(context: Context, row: Host): Promise<string> {
  const names = await ownNames(context, context.store.db);
  return names.mayAnswer(row, row.host)
    ? 'this server gets no certificates by ACME: its settings have it off'
    : "no certificate is ordered: the name is one of the server's own";
}

const AcmeStatus = enumOf<AcmeState['status']>('AcmeStatus', 'The state of the ACME orders of a certificate.', {
  pending: 'An order is in progress or about to start.',
  valid: 'There is a certificate. It is renewed after two thirds of its lifetime.',
  failed: 'The last order failed. A certificate issued before stays in use.',
});

const AcmeType = builder.objectRef<AcmeState>('AcmeState').implement({
  description: 'The state of the ACME orders of a certificate.',
  fields: (t) => ({
    status: t.field({ type: AcmeStatus, description: 'The status of the orders.', resolve: ({ status }) => status }),
    failures: t.exposeInt('failures', { description: 'The number of orders that failed since the last certificate.' }),
    problem: t.string({ nullable: true, description: 'Why the last order failed; null = it did not fail.', resolve: (row) => textOrNull(row.problem) }),
    lastAttemptAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the last order began; null = it is not known, as the certificate was issued before the server started.',
      resolve: ({ lastAt }) => lastAt === null ? null : new Date(lastAt),
    }),
    nextAttemptAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the next order starts; null = one is in progress.',
      resolve: ({ nextAt }) => nextAt === null ? null : new Date(nextAt),
    }),
  }),
});

/** @see HostCertificate */
export const HostCertificateType = builder.objectRef<HostCertificate>('HostCertificate').implement({
  description: 'The certificate that a host currently uses for HTTPS. Contains nothing of its private key.',
  fields: (t) => ({
    origin: t.field({ type: CertificateOriginType, description: 'Where the certificate comes from.', resolve: ({ origin }) => origin }),
    status: t.field({ type: CertificateStatusType, description: 'The status of the certificate.', resolve: ({ status }) => status }),
    problem: t.string({
      nullable: true,
      description: 'Why the configured certificate is not in use; null = it is.',
      resolve: ({ problem }) => textOrNull(problem),
    }),
    acme: t.field({
      type: AcmeType,
      nullable: true,
      description: 'The state of its ACME orders; null = it is not issued by ACME.',
      resolve: ({ acme }) => acme,
    }),
    names: t.stringList({
      description: 'The names and addresses that the certificate covers, at most 100. Empty if no certificate is in use.',
      resolve: ({ inUse }) => [...inUse?.names ?? []],
    }),
    issuer: t.string({ nullable: true, description: 'The issuer; null = no certificate is in use.', resolve: ({ inUse }) => inUse?.issuer ?? null }),
    validFrom: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the certificate becomes valid; null = no certificate is in use.',
      resolve: ({ inUse }) => inUse?.validFrom ?? null,
    }),
    expiresAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'When the certificate expires; null = no certificate is in use.',
      resolve: ({ inUse }) => inUse?.validTo ?? null,
    }),
    daysRemaining: t.int({
      nullable: true,
      description: 'Full days until the certificate expires; null = no certificate is in use.',
      resolve: ({ inUse, now }) => inUse ? daysLeft(inUse.validTo, now) : null,
    }),
    fingerprint: t.string({
      nullable: true,
      description: 'The SHA-256 fingerprint, as 64 hex digits; null = no certificate is in use.',
      resolve: ({ inUse }) => inUse?.fingerprint ?? null,
    }),
  }),
});
