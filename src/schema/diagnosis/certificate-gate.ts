import type { CertificateStatus } from '../../rules/certificate.ts';
import type { HostCertificate } from '../host/certificate-type.ts';
import { type Gate, passed, stopped } from './gates.ts';

/** The consequences for visitors, and the remedy. */
const faults: Readonly<Record<Exclude<CertificateStatus, 'valid' | 'expiring' | 'refused'>, { readonly text: string; readonly remedy: string }>> = {
  missing: { text: 'there is no usable certificate', remedy: 'give the host a certificate with its key, or fix the files' },
  expired: { text: 'the certificate has expired', remedy: 'replace the certificate' },
  notYetValid: { text: 'the certificate is not yet valid', remedy: "replace the certificate, or set the server's clock" },
  notCovered: { text: 'the certificate does not cover the name', remedy: 'give the host a certificate for this name' },
};

/** Whether HTTPS visitors get a valid certificate. @param certificate undefined = the request is for HTTP */
export function certificateGate(certificate: HostCertificate | undefined): Gate {
  if (certificate === undefined) return passed('CERTIFICATE', 'HTTP needs no certificate');
  const { status, problem, inUse, origin } = certificate;
  switch (status) {
    case 'none':
      return passed('CERTIFICATE', `the host has no certificate: TLS is passed through to the target${problem === '' ? '' : `; ${problem}`}`);
    case 'valid':
      return passed('CERTIFICATE', `the certificate (${origin.toLowerCase()}) is valid until ${inUse?.validTo.toISOString()}`);
    case 'expiring':
      return { ...passed('CERTIFICATE', `the certificate expires soon, at ${inUse?.validTo.toISOString()}`), remedy: 'replace the certificate' };
    case 'refused':
      return { ...passed('CERTIFICATE', problem), remedy: 'fix the files: certificate and key have to be a pair that is valid now' };
    case 'missing':
    case 'expired':
    case 'notYetValid':
    case 'notCovered':
      return stopped('CERTIFICATE', certificateReason(certificate), origin === 'ACME' ? acmeRemedy(certificate) : faults[status].remedy);
  }
}

/** The one-line summary of a certificate in a diagnosis; "" = no problem. */
export function certificateReason({ status, problem, acme }: HostCertificate): string {
  const why = problem === '' ? acme?.problem ?? '' : problem;
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
      return why === '' ? faults[status].text : `${faults[status].text}; ${why}`;
  }
}

function acmeRemedy({ acme }: HostCertificate): string {
  if (!acme || acme.nextAt === null || acme.status === 'pending') return 'wait: it is ordered by ACME';
  return `see that the name leads to this server and port 80 to its HTTP hosts; the next order is at ${new Date(acme.nextAt).toISOString()}`;
}
