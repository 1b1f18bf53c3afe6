import type { AcmeState, CertificateState } from '../../engine/face.ts';
import { daysLeft, type CertificateStanding } from '../../rules/certificate.ts';
import type { Host } from '../../store/generated/sqlite/client.ts';
import { builder } from '../builder.ts';
import type { Context } from '../context.ts';
import { ownNames } from './own-names.ts';
import { textOrNull } from '../empty.ts';

/** Where the certificate of a host comes from. */
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

const CertificateStatus = builder.enumType('CertificateStatus', {
  description: 'How a certificate stands. Where several hold, the first in this order.',
  values: {
    NONE: { value: 'none', description: 'There is none, and none is needed.' },
    MISSING: { value: 'missing', description: 'There is no usable pair of certificate and key: TLS handshakes fail. `problem` says why.' },
    EXPIRED: { value: 'expired', description: 'It has expired; it is shown to visitors all the same.' },
    NOT_YET_VALID: { value: 'notYetValid', description: 'Its time has not come.' },
    NOT_COVERED: { value: 'notCovered', description: "It is not for the host's name." },
    REFUSED: { value: 'refused', description: 'The one in use is good; what was put in its place is not. `problem` says why.' },
    EXPIRING: { value: 'expiring', description: 'Fewer than 15 days are left.' },
    VALID: { value: 'valid', description: 'Nothing is wrong.' },
  } satisfies Record<string, { readonly value: CertificateStanding | 'none'; readonly description: string }>,
});

/** The certificate that a host is served with, and how it stands. */
export interface HostCertificate {
  readonly origin: CertificateOrigin;
  readonly status: CertificateStanding | 'none';
  readonly problem: string;
  readonly inUse: CertificateState['inUse'];
  readonly acme: AcmeState | null;
  /** ms since the epoch: what days are counted from. */
  readonly now: number;
}

/** How the certificate of a stored host stands now. @param name the very name that is asked for, where the host is a wildcard */
export async function hostCertificate(context: Context, row: Host, name?: string): Promise<HostCertificate> {
  const state = await context.loaders.certificates.load({ id: row.id, name });
  const now = context.now();
  if (state) {
    const origin = row.platformDomainId !== null ? 'PLATFORM' : state.acme ? 'ACME' : 'OWN';
    return { origin, status: state.standing, problem: state.problem, inUse: state.inUse, acme: state.acme, now };
  }
  const off = row.acme && row.enabled && row.certFilePath === '' && row.keyFilePath === '';
  return { origin: 'NONE', status: 'none', problem: off ? await whyNotOrdered(context, row) : '', inUse: null, acme: null, now };
}

/** Why the engine orders no certificate for a host that asks for one. */
async function whyNotOrdered(context: Context, row: Host): Promise<string> {
  const names = await ownNames(context, context.store.db);
  return names.mayAnswer(row, row.host) ? 'this server gets no certificates by ACME: its settings have it off' : "no certificate is ordered: the name is one of the server's own";
}

const AcmeStatus = builder.enumType('AcmeStatus', {
  description: 'How the orders of a certificate by ACME stand.',
  values: {
    PENDING: { value: 'pending', description: 'An order is under way, or about to be.' },
    VALID: { value: 'valid', description: 'There is a certificate; it is renewed at two thirds of its lifetime.' },
    FAILED: { value: 'failed', description: 'The last order failed; a certificate that there was before stays in use.' },
  } satisfies Record<string, { readonly value: AcmeState['status']; readonly description: string }>,
});

const AcmeType = builder.objectRef<AcmeState>('AcmeState').implement({
  description: 'How the orders of a certificate by ACME stand.',
  fields: (t) => ({
    status: t.field({ type: AcmeStatus, description: 'How they stand.', resolve: ({ status }) => status }),
    problem: t.string({ nullable: true, description: 'Why the last order failed; null = it did not.', resolve: (row) => textOrNull(row.problem) }),
    nextAttemptAt: t.field({ type: 'DateTime', nullable: true, description: 'When the next order is due; null = one is under way.', resolve: ({ nextAt }) => nextAt === null ? null : new Date(nextAt) }),
  }),
});

/** @see HostCertificate */
export const HostCertificateType = builder.objectRef<HostCertificate>('HostCertificate').implement({
  description: 'The certificate that a host is served with over HTTPS, as it stands now. Of its key nothing is told.',
  fields: (t) => ({
    origin: t.field({ type: CertificateOriginType, description: 'Where it comes from.', resolve: ({ origin }) => origin }),
    status: t.field({ type: CertificateStatus, description: 'How it stands.', resolve: ({ status }) => status }),
    problem: t.string({ nullable: true, description: 'Why what is in its place now is not in use; null = it is.', resolve: ({ problem }) => textOrNull(problem) }),
    acme: t.field({ type: AcmeType, nullable: true, description: 'How its orders stand; null = it is not got by ACME.', resolve: ({ acme }) => acme }),
    names: t.stringList({ description: 'The names and addresses that it is for, at most 100; empty = none is in use.', resolve: ({ inUse }) => [...inUse?.names ?? []] }),
    issuer: t.string({ nullable: true, description: 'Who made it; null = none is in use.', resolve: ({ inUse }) => inUse?.issuer ?? null }),
    validFrom: t.field({ type: 'DateTime', nullable: true, description: 'When its time begins; null = none is in use.', resolve: ({ inUse }) => inUse?.validFrom ?? null }),
    validTo: t.field({ type: 'DateTime', nullable: true, description: 'When it expires; null = none is in use.', resolve: ({ inUse }) => inUse?.validTo ?? null }),
    daysRemaining: t.int({ nullable: true, description: 'Whole days until then; null = none is in use.', resolve: ({ inUse, now }) => inUse ? daysLeft(inUse.validTo, now) : null }),
    fingerprint: t.string({ nullable: true, description: 'Its SHA-256, 64 hex digits; null = none is in use.', resolve: ({ inUse }) => inUse?.fingerprint ?? null }),
  }),
});
