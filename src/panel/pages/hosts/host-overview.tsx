import { type FragmentType, graphql, unmask } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { RuntimeCard } from '../served/runtime-card.tsx';
import { TrafficCard } from '../served/traffic-card.tsx';
import { CertificateCard } from './certificate-card.tsx';
import { HostStateCell } from './host-state.tsx';

const hostOverview = graphql(`
  fragment HostOverview on Host {
    id publicUrls
    runtime { connections rate inletRate exportRate inletBytes exportBytes refusals { cause count } health { targets { target healthy lastError } } }
    ...HostState
    ...CertificateCard
  }
`);

/** The URLs, the state, the certificate and the traffic of a host, above its form. */
export function HostOverview({ of }: { readonly of: FragmentType<typeof hostOverview> }) {
  const { t } = useLanguage();
  const host = unmask(hostOverview, of);
  return (
    <div className='cols even'>
      <RuntimeCard title={t.hosts.form.runtime} state={<HostStateCell of={host} />} runtime={host.runtime} width='lg-6'>
        {host.publicUrls.map((url) => (
          <div key={url} className='contents'>
            <dt>URL</dt>
            <dd>
              <a href={url} target='_blank' rel='noreferrer' className='mono'>{url}</a> <CopyButton text={url} />
            </dd>
          </div>
        ))}
      </RuntimeCard>
      <CertificateCard of={host} />
      <TrafficCard resource='HOST' id={host.id} />
    </div>
  );
}
