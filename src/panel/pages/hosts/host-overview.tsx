import { type FragmentType, graphql, unmask } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { TrafficChart } from '../../parts/chart/traffic-chart.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { CertificateCard } from './certificate-card.tsx';
import { HostStateCell } from './host-state.tsx';

const hostOverview = graphql(`
  fragment HostOverview on Host {
    id publicUrls
    runtime { connections rate inletBytes exportBytes refusals { cause count } health { targets { target healthy lastError } } }
    ...HostState
    ...CertificateCard
  }
`);

/** The URLs, the state, the certificate and the traffic of a host, above its form. */
export function HostOverview({ of }: { readonly of: FragmentType<typeof hostOverview> }) {
  const { t, f } = useLanguage();
  const host = unmask(hostOverview, of);
  const { runtime } = host;
  return (
    <div className='cols even'>
      <section className='card lg-6' aria-labelledby='h-state'>
        <div className='card-head'>
          <h2 id='h-state'>{t.hosts.form.runtime}</h2>
          <HostStateCell of={host} />
        </div>
        <dl className='card-body kv' data-moves>
          {host.publicUrls.map((url) => (
            <div key={url} className='contents'>
              <dt>URL</dt>
              <dd>
                <a href={url} target='_blank' rel='noreferrer' className='mono'>{url}</a> <CopyButton text={url} />
              </dd>
            </div>
          ))}
          <dt>{t.traffic.connections}</dt>
          <dd>{f.number(runtime.connections)}</dd>
          <dt>{t.traffic.rateNow}</dt>
          <dd>{f.rate(runtime.rate)}</dd>
          <dt>{t.traffic.toVisitors}</dt>
          <dd>{f.bytes(runtime.exportBytes)}</dd>
          <dt>{t.traffic.fromVisitors}</dt>
          <dd>{f.bytes(runtime.inletBytes)}</dd>
          {runtime.refusals.length > 0 && (
            <>
              <dt>{t.clients.agent.refused}</dt>
              <dd>{runtime.refusals.map(({ cause, count }) => `${f.number(count)} ${t.clients.refusals[cause]}`).join(', ')}</dd>
            </>
          )}
          {runtime.health?.targets.map(({ target, healthy, lastError }) => (
            <div key={target} className='contents'>
              <dt className='mono'>{target}</dt>
              <dd>{healthy ? t.states.serves : lastError ?? t.states.broken}</dd>
            </div>
          ))}
        </dl>
      </section>
      <CertificateCard of={host} />
      <section className='card' aria-labelledby='h-traffic'>
        <div className='card-head'>
          <h2 id='h-traffic'>{t.traffic.title}</h2>
        </div>
        <div className='card-body'>
          <TrafficChart resource='HOST' id={host.id} />
        </div>
      </section>
    </div>
  );
}
