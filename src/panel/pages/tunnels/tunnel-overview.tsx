import { type FragmentType, graphql, unmask } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { RuntimeCard } from '../served/runtime-card.tsx';
import { TrafficCard } from '../served/traffic-card.tsx';
import { TunnelStateCell } from './tunnel-state.tsx';

const tunnelOverview = graphql(`
  fragment TunnelOverview on Tunnel {
    id publicAddress port
    runtime { connections rate inletRate exportRate inletBytes exportBytes refusals { cause count } health { targets { target healthy lastError } } }
    ...TunnelState
  }
`);

/** The state and the traffic of a tunnel, above its form. */
export function TunnelOverview({ of }: { readonly of: FragmentType<typeof tunnelOverview> }) {
  const { t } = useLanguage();
  const tunnel = unmask(tunnelOverview, of);
  const entry = tunnel.publicAddress ?? (tunnel.port ? `:${tunnel.port}` : undefined);
  return (
    <div className='cols even'>
      <RuntimeCard title={t.tunnels.form.runtime} state={<TunnelStateCell of={tunnel} />} runtime={tunnel.runtime} width='lg-5'>
        <dt>{t.tunnels.columns.entry}</dt>
        {entry === undefined ? <dd>{t.tunnels.byPassword}</dd> : <dd className='mono'>{entry}</dd>}
      </RuntimeCard>
      <TrafficCard resource='TUNNEL' id={tunnel.id} width='lg-7' />
    </div>
  );
}
