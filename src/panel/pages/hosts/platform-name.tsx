import { useEffect, useState } from 'react';
import { useData } from '../../api/use.ts';
import { graphql } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { Icon } from '../../parts/icon.tsx';

const availability = graphql(`
  query PlatformHostAvailable($domain: ID!, $prefix: String!, $hostId: ID) {
    platformHostAvailable(platformDomainId: $domain, platformPrefix: $prefix, hostId: $hostId) { available host suggestions }
  }
`);

const pauseMs = 150;

/** Says at once whether a name below a platform domain is free, and otherwise which are. @param hostId the host that may already have it */
export function PlatformNameCheck({ domain, prefix, hostId, onTake }: {
  readonly domain: string;
  readonly prefix: string;
  readonly hostId: string | undefined;
  readonly onTake: (prefix: string) => void;
}) {
  const { t } = useLanguage();
  const [asked, setAsked] = useState(prefix);
  useEffect(() => {
    const timer = setTimeout(() => setAsked(prefix), pauseMs);
    return () => clearTimeout(timer);
  }, [prefix]);
  const { data, error } = useData(availability, { domain, prefix: asked, hostId: hostId ?? null }, { pause: domain === '' || asked === '' });
  const result = data?.platformHostAvailable;
  if (prefix === '' || asked !== prefix || result === undefined || error !== undefined) return <p role='status' />;
  return (
    <div role='status' className='stack-s'>
      <p className={result.available ? 'good' : 'error'}>
        <Icon name={result.available ? 'check' : 'stop'} />
        <span>{result.available ? t.hosts.form.free(result.host) : t.hosts.form.taken(result.host)}</span>
      </p>
      {result.suggestions.length > 0 && (
        <p className='actions'>
          {result.suggestions.map((free) => (
            <button key={free} type='button' className='btn btn-s' onClick={() => onTake(free)}>{t.hosts.form.take(free)}</button>
          ))}
        </p>
      )}
    </div>
  );
}
