import type { CertificateStatus } from '../../rules/certificate.ts';
import type { HostCertificate } from '../host/certificate-type.ts';
import { found, type Finding, findingText, fix, type Fix } from './findings.ts';
import { type Gate, passed, stopped } from './gates.ts';

/** The consequences for visitors, and the remedy. */
const faults: Readonly<Record<Exclude<CertificateStatus, 'valid' | 'expiring' | 'refused'>, { readonly finding: Finding; readonly fix: Fix }>> = {
  missing: { finding: found('CERTIFICATE_MISSING'), fix: fix('SET_CERTIFICATE') },
  expired: { finding: found('CERTIFICATE_EXPIRED'), fix: fix('REPLACE_CERTIFICATE') },
  notYetValid: { finding: found('CERTIFICATE_NOT_YET_VALID'), fix: fix('REPLACE_CERTIFICATE_OR_SET_CLOCK') },
  notCovered: { finding: found('CERTIFICATE_NOT_COVERED'), fix: fix('SET_CERTIFICATE_OF_NAME') },
};

/** Whether HTTPS visitors get a valid certificate. @param certificate undefined = the request is for HTTP */
export function certificateGate(certificate: HostCertificate | undefined): Gate {
  if (certificate === undefined) return passed('CERTIFICATE', found('HTTP_REQUEST'));
  const { status, problem, inUse, origin } = certificate;
  const until = inUse?.validTo.toISOString() ?? '';
  switch (status) {
    case 'none':
      return passed('CERTIFICATE', found('TLS_PASSED_THROUGH'), ...problemFound(problem));
    case 'valid':
      return passed('CERTIFICATE', found('CERTIFICATE_VALID', { origin: origin.toLowerCase(), until }));
    case 'expiring':
      return { ...passed('CERTIFICATE', found('CERTIFICATE_EXPIRING', { until })), fix: fix('REPLACE_CERTIFICATE') };
    case 'refused':
      return { ...passed('CERTIFICATE', ...problemFound(problem)), fix: fix('FIX_CERTIFICATE_FILES') };
    case 'missing':
    case 'expired':
    case 'notYetValid':
    case 'notCovered': {
      const way = origin === 'ACME' ? acmeFix(certificate) : faults[status].fix;
      return { ...stopped('CERTIFICATE', faults[status].finding, way), findings: [faults[status].finding, ...whyFound(certificate)] };
    }
  }
}

/** The one-line summary of a certificate in a diagnosis; "" = no problem. */
export function certificateReason(certificate: HostCertificate): string {
  const { status, problem } = certificate;
  switch (status) {
    case 'none':
    case 'valid':
    case 'expiring':
      return '';
    case 'refused':
      return problem;
    case 'missing':
    case 'expired':
    case 'notYetValid':
    case 'notCovered':
      return [faults[status].finding, ...whyFound(certificate)].map(findingText).join('; ');
  }
}

/** Why there is no better certificate. */
function whyFound({ problem, acme }: HostCertificate): Finding[] {
  return problemFound(problem === '' ? acme?.problem ?? '' : problem);
}

function problemFound(problem: string): Finding[] {
  return problem === '' ? [] : [found('CERTIFICATE_PROBLEM', { problem })];
}

function acmeFix({ acme }: HostCertificate): Fix {
  if (!acme || acme.nextAt === null || acme.status === 'pending') return fix('WAIT_FOR_ACME');
  return fix('LET_ACME_REACH', { at: new Date(acme.nextAt).toISOString() });
}
