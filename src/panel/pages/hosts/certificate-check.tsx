import { useEffect, useState } from 'react';
import { useData } from '../../api/use.ts';
import { graphql } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { Banner } from '../../parts/banner.tsx';

const check = graphql(`
  query CheckCertificate($certificate: String!, $privateKey: String, $host: String) {
    checkCertificate(certificate: $certificate, privateKey: $privateKey, host: $host) { usable problems names issuer validFrom expiresAt daysRemaining }
  }
`);

/** Typing pauses for this many ms before the server checks. */
const pauseMs = 400;

/** What a certificate is that was entered but not saved: names, dates, and whether its key belongs to it. @param host the name that it has to cover; '' = not entered */
export function CertificateCheck({ certificate, privateKey, host }: { readonly certificate: string; readonly privateKey: string; readonly host: string }) {
  const { t, f } = useLanguage();
  const texts = t.hosts.certificate;
  const [asked, setAsked] = useState({ certificate: '', privateKey: '', host: '' });
  useEffect(() => {
    const timer = setTimeout(() => setAsked({ certificate, privateKey, host }), pauseMs);
    return () => clearTimeout(timer);
  }, [certificate, privateKey, host]);
  const variables = { certificate: asked.certificate, privateKey: asked.privateKey || null, host: asked.host || null };
  const { data, error } = useData(check, variables, { pause: asked.certificate.trim() === '' });
  // While a name is typed, it is not one yet: the form itself says so when it is saved.
  if (certificate.trim() === '' || asked.certificate.trim() === '' || error !== undefined || data === undefined) return null;
  const { usable, problems, names, issuer, validFrom, expiresAt, daysRemaining } = data.checkCertificate;
  return (
    <Banner tone={usable ? (problems.length > 0 ? 'warn' : 'ok') : 'danger'} title={usable ? texts.checkedFine : texts.checkedWrong}>
      {problems.length > 0 && <ul>{problems.map((problem) => <li key={problem}>{texts.problems[problem]}</li>)}</ul>}
      {expiresAt && validFrom && (
        <dl className='kv small'>
          <dt>{texts.names}</dt>
          <dd className='mono'>{names.join(', ') || t.words.none}</dd>
          <dt>{texts.issuer}</dt>
          <dd>{issuer}</dd>
          <dt>{texts.from}</dt>
          <dd>{f.moment(validFrom)}</dd>
          <dt>{texts.until}</dt>
          <dd>
            {f.moment(expiresAt)} <span className='muted'>{texts.daysLeft(daysRemaining ?? 0)}</span>
          </dd>
        </dl>
      )}
    </Banner>
  );
}
