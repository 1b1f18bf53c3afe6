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
    OWN: { description: 'It was given, as text or as files; to this host, or to another one of the same name.' },
    PLATFORM: { description: 'It is that of the platform domain.' },
    ACME: { description: 'It is got by ACME.' },
    NONE: { description: 'There is none: TLS is passed through to the target, or the host is for HTTP only.' },
  } satisfies Record<CertificateOrigin, object>,
});

const CertificateStatus = enumOf<CertificateStatus | 'none'>('CertificateStatus', 'The status of a certificate. Where several apply, the first in this order.', {
  none: 'There is none, and none is needed.',
  missing: 'There is no usable pair of certificate and key: TLS handshakes fail. `problem` has the reason.',
  expired: 'It has expired; visitors still get it.',
  notYetValid: 'It is not valid yet.',
  notCovered: "It is not for the host's name.",
  refused: 'The one in use is good; its replacement is not. `problem` has the reason.',
  expiring: 'Fewer than 15 days are left.',
  valid: 'Nothing is wrong.',
});

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

/** Why the engine orders no certificate for a host with `acme`. */
async function whyNotOrdered(context: Context, row: Host): Promise<string> {
  const names = await ownNames(context, context.store.db);
  return names.mayAnswer(row, row.host) ? 'this server gets no certificates by ACME: its settings have it off' : "no certificate is ordered: the name is one of the server's own";
}

const AcmeStatus = enumOf<AcmeState['status']>('AcmeStatus', 'The state of the ACME orders of a certificate.', {
  pending: 'An order is under way, or about to be.',
  valid: 'There is a certificate; it is renewed at two thirds of its lifetime.',
  failed: 'The last order failed; a certificate that there was before stays in use.',
});

const AcmeType = builder.objectRef<AcmeState>('AcmeState').implement({
  description: 'The state of the ACME orders of a certificate.',
  fields: (t) => ({
    status: t.field({ type: AcmeStatus, description: 'The status of the orders.', resolve: ({ status }) => status }),
    problem: t.string({ nullable: true, description: 'Why the last order failed; null = it did not.', resolve: (row) => textOrNull(row.problem) }),
    nextAttemptAt: t.field({ type: 'DateTime', nullable: true, description: 'When the next order is due; null = one is under way.', resolve: ({ nextAt }) => nextAt === null ? null : new Date(nextAt) }),
  }),
});

/** @see HostCertificate */
export const HostCertificateType = builder.objectRef<HostCertificate>('HostCertificate').implement({
  description: 'The certificate that a host is served with over HTTPS, now. Contains nothing of its key.',
  fields: (t) => ({
    origin: t.field({ type: CertificateOriginType, description: 'Where it comes from.', resolve: ({ origin }) => origin }),
    status: t.field({ type: CertificateStatus, description: 'Its status.', resolve: ({ status }) => status }),
    problem: t.string({ nullable: true, description: 'Why what is in its place now is not in use; null = it is.', resolve: ({ problem }) => textOrNull(problem) }),
    acme: t.field({ type: AcmeType, nullable: true, description: 'The state of its orders; null = it is not issued by ACME.', resolve: ({ acme }) => acme }),
    names: t.stringList({ description: 'The names and addresses that it is for, at most 100; empty = none is in use.', resolve: ({ inUse }) => [...inUse?.names ?? []] }),
    issuer: t.string({ nullable: true, description: 'Who made it; null = none is in use.', resolve: ({ inUse }) => inUse?.issuer ?? null }),
    validFrom: t.field({ type: 'DateTime', nullable: true, description: 'When its time begins; null = none is in use.', resolve: ({ inUse }) => inUse?.validFrom ?? null }),
    validTo: t.field({ type: 'DateTime', nullable: true, description: 'When it expires; null = none is in use.', resolve: ({ inUse }) => inUse?.validTo ?? null }),
    daysRemaining: t.int({ nullable: true, description: 'Whole days until then; null = none is in use.', resolve: ({ inUse, now }) => inUse ? daysLeft(inUse.validTo, now) : null }),
    fingerprint: t.string({ nullable: true, description: 'Its SHA-256, 64 hex digits; null = none is in use.', resolve: ({ inUse }) => inUse?.fingerprint ?? null }),
  }),
});
