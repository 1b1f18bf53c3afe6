import { type FragmentType, graphql, unmask } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { TrafficChart } from '../../parts/chart/traffic-chart.tsx';
import { TunnelStateCell } from './tunnel-state.tsx';

const tunnelOverview = graphql(`
  fragment TunnelOverview on Tunnel {
    id publicAddress port
    runtime { connections rate inletBytes exportBytes refusals { cause count } health { targets { target healthy since lastError } } }
    ...TunnelState
  }
`);

/** The state and the traffic of a tunnel, above its form. */
export function TunnelOverview({ of }: { readonly of: FragmentType<typeof tunnelOverview> }) {
  const { t, f } = useLanguage();
  const tunnel = unmask(tunnelOverview, of);
  const { runtime } = tunnel;
  return (
    <div className='cols even'>
      <section className='card lg-5' aria-labelledby='h-state'>
        <div className='card-head'>
          <h2 id='h-state'>{t.tunnels.form.runtime}</h2>
          <TunnelStateCell of={tunnel} />
        </div>
        <dl className='card-body kv' data-moves>
          <dt>{t.tunnels.columns.entry}</dt>
          <dd className='mono'>{tunnel.publicAddress ?? (tunnel.port ? `:${tunnel.port}` : t.tunnels.byPassword)}</dd>
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
      <section className='card lg-7' aria-labelledby='h-traffic'>
        <div className='card-head'>
          <h2 id='h-traffic'>{t.traffic.title}</h2>
        </div>
        <div className='card-body'>
          <TrafficChart resource='TUNNEL' id={tunnel.id} />
        </div>
      </section>
    </div>
  );
}
