import { useEvents } from '../../api/live.ts';
import { useData } from '../../api/use.ts';
import { graphql, unmask } from '../../generated/index.ts';
import { RecordsOfClient } from '../../parts/records.tsx';
import { useThrottled } from '../../parts/throttled.ts';
import { tunnelChanges, tunnelRow, useTunnels } from './tunnel-records.tsx';

const tunnelsQuery = graphql(`
  query TunnelsOfClient($clientId: ID!) { tunnels(filter: { clientId: $clientId }, limit: 200) { total rows { id ...TunnelRow } } }
`);
const movingMs = 5000;

/** The tunnels of a client, on its page. */
export function TunnelsOfClient({ clientId }: { readonly clientId: string }) {
  const records = useTunnels({ isOfClient: true });
  const { data, error, refetch } = useData(tunnelsQuery, { clientId }, { everyMs: movingMs });
  const refetchSoon = useThrottled(refetch);
  useEvents(tunnelChanges, {}, () => refetchSoon());
  const rows = data?.tunnels.rows.map((row) => unmask(tunnelRow, row));
  return <RecordsOfClient records={records} page={{ rows, error, refetch }} clientId={clientId} />;
}
