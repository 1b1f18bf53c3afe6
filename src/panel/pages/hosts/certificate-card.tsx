import { useState } from 'react';
import { failureOf } from '../../api/failure.ts';
import { useRun } from '../../api/use.ts';
import { type FragmentType, graphql, unmask } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { Badge } from '../../parts/state.tsx';
import { useToast } from '../../parts/toast.tsx';
import { useViewer } from '../../shell/viewer.tsx';
import { certificateTones } from './host-state.tsx';

const certificateCard = graphql(`
  fragment CertificateCard on Host {
    id
    certificate { origin status problem names issuer expiresAt daysRemaining fingerprint acme { status failures problem lastAttemptAt nextAttemptAt } }
  }
`);
const retry = graphql(`
  mutation RetryAcme($hostId: ID!) { retryAcme(hostId: $hostId) { id ...CertificateCard } }
`);

/** The certificate that visitors of a host get. */
export function CertificateCard({ of }: { readonly of: FragmentType<typeof certificateCard> }) {
  const { t, f } = useLanguage();
  const { readOnly, server } = useViewer();
  const run = useRun();
  const toast = useToast();
  const [failure, setFailure] = useState<string>();
  const { id, certificate } = unmask(certificateCard, of);
  const texts = t.hosts.certificate;
  const { acme } = certificate;
  async function tryAgain(): Promise<void> {
    const { error } = await run(retry, { hostId: id });
    setFailure(error && failureOf(error, t).text);
    if (error === undefined) toast(texts.retried);
  }
  return (
    <section className='card lg-6' aria-labelledby='h-certificate'>
      <div className='card-head'>
        <h2 id='h-certificate'>{texts.title}</h2>
        <Badge tone={certificateTones[certificate.status]}>{texts.states[certificate.status]}</Badge>
      </div>
      <dl className='card-body kv'>
        <dt>{texts.origin}</dt>
        <dd>{texts.origins[certificate.origin]}</dd>
        {certificate.problem && (
          <>
            <dt>{texts.problem}</dt>
            <dd className='danger-text'>{certificate.problem}</dd>
          </>
        )}
        {certificate.names.length > 0 && (
          <>
            <dt>{texts.names}</dt>
            <dd className='mono'>{certificate.names.join(', ')}</dd>
          </>
        )}
        {certificate.issuer && (
          <>
            <dt>{texts.issuer}</dt>
            <dd>{certificate.issuer}</dd>
          </>
        )}
        {certificate.expiresAt && (
          <>
            <dt>{texts.until}</dt>
            <dd>
              {f.moment(certificate.expiresAt)} <span className='muted'>{texts.daysLeft(certificate.daysRemaining ?? 0)}</span>
            </dd>
          </>
        )}
        {certificate.fingerprint && (
          <>
            <dt>{texts.fingerprint}</dt>
            <dd className='mono'>{certificate.fingerprint}</dd>
          </>
        )}
        {acme && (
          <>
            <dt>{texts.acme}</dt>
            <dd>
              {texts.acmeStates[acme.status]}
              {server.acmeDirectory && <span className='muted'>{t.punctuation.brackets(texts.orderedFrom(new URL(server.acmeDirectory).host))}</span>}
              {acme.problem && <span className='danger-text'>{t.punctuation.colon + acme.problem}</span>}
              {acme.lastAttemptAt && <span className='muted'>{t.punctuation.brackets(texts.lastAttempt(f.short(acme.lastAttemptAt)))}</span>}
              {acme.nextAttemptAt && <span className='muted'>{t.punctuation.brackets(texts.nextAttempt(f.short(acme.nextAttemptAt)))}</span>}
              {acme.status === 'FAILED' && !readOnly && (
                <p className='actions'>
                  <span className='muted'>{texts.failures(acme.failures)}</span>
                  <button type='button' className='btn btn-s' onClick={() => void tryAgain()}>{texts.retry}</button>
                </p>
              )}
              {failure !== undefined && <p className='danger-text' role='alert'>{failure}</p>}
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}
