import { type FragmentType, graphql, unmask } from '../../generated/index.ts';
import type { CertificateStatus } from '../../generated/graphql.ts';
import { useLanguage } from '../../language/language.tsx';
import { State, type Tone } from '../../parts/state.tsx';
import { ServedState } from '../served/served-state.tsx';

const hostState = graphql(`
  fragment HostState on Host { enabled runtime { running error } client { id enabled effectiveExpiresAt runtime { connected } } }
`);
const hostCertificate = graphql(`
  fragment HostCertificateState on Host { scheme certificate { status problem daysRemaining expiresAt origin } }
`);

/** The state of a host in a list. */
export function HostStateCell({ of }: { readonly of: FragmentType<typeof hostState> }) {
  const host = unmask(hostState, of);
  const { running, error } = host.runtime;
  // Without an agent, the server's error only says that.
  return <ServedState of={host} serves={running} error={host.client.runtime.connected ? error : null} />;
}

/** How serious the state of a certificate is. */
export const certificateTones: Record<CertificateStatus, Tone> = {
  NONE: 'off',
  MISSING: 'danger',
  EXPIRED: 'danger',
  NOT_YET_VALID: 'danger',
  NOT_COVERED: 'danger',
  REFUSED: 'warn',
  EXPIRING: 'warn',
  VALID: 'ok',
};

/** The certificate of a host in a list: its state and the days left. @param isNamed outside its column: says what it is */
export function CertificateCell({ of, isNamed = false }: { readonly of: FragmentType<typeof hostCertificate>; readonly isNamed?: boolean }) {
  const { t } = useLanguage();
  const { scheme, certificate } = unmask(hostCertificate, of);
  const texts = t.hosts.certificate;
  if (scheme === 'HTTP') return <span className='muted'>{texts.httpOnly}</span>;
  const { status, daysRemaining } = certificate;
  return (
    <>
      <State tone={certificateTones[status]}>
        {isNamed && texts.title + t.punctuation.colon}
        {texts.states[status]}
      </State>
      {typeof daysRemaining === 'number' && <span className='sub'>{texts.daysLeft(daysRemaining)}</span>}
      {status === 'NONE' && <span className='sub'>{texts.passedThrough}</span>}
    </>
  );
}
