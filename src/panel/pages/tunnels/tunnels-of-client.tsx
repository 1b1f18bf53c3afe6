import { Link } from 'wouter';
import { useEvents } from '../../api/live.ts';
import { useData } from '../../api/use.ts';
import { graphql } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { Empty } from '../../parts/banner.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Icon } from '../../parts/icon.tsx';
import { useThrottled } from '../../parts/throttled.ts';
import { useViewer } from '../../shell/viewer.tsx';
import { useTunnelTable } from './tunnel-table.tsx';

const tunnelsQuery = graphql(`
  query TunnelsOfClient($clientId: ID!) { tunnels(filter: { clientId: $clientId }, limit: 200) { total rows { id ...TunnelRow } } }
`);
/** The changes of tunnels that are in view are applied to the cache; new ones are read. */
export const tunnelChanges = graphql(`
  subscription TunnelChanged { tunnelChanged { id tunnel { id ...TunnelRow } } }
`);
const movingMs = 5000;

/** The tunnels of a client, on its page. */
export function TunnelsOfClient({ clientId }: { readonly clientId: string }) {
  const { t } = useLanguage();
  const { readOnly } = useViewer();
  const { data, error, refetch } = useData(tunnelsQuery, { clientId }, { everyMs: movingMs });
  const refetchSoon = useThrottled(refetch);
  useEvents(tunnelChanges, {}, () => refetchSoon());
  const rows = data?.tunnels.rows;
  const [table] = useTunnelTable({ rows, isOfClient: true, onChange: refetch });
  const create = !readOnly && (
    <Link className='btn' href={`/tunnels/new?client=${clientId}`}>
      <Icon name='plus' />
      {t.tunnels.create}
    </Link>
  );
  if (rows?.length === 0) return <Empty icon='tunnel' title={t.tunnels.noneTitle} action={create}>{t.tunnels.noneText}</Empty>;
  return (
    <>
      <Failure error={error} onRetry={refetch} />
      {table}
      {create && <div className='card-foot'>{create}</div>}
    </>
  );
}
