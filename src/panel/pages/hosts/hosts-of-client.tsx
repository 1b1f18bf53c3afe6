import { useEvents } from '../../api/live.ts';
import { useData } from '../../api/use.ts';
import { graphql, unmask } from '../../generated/index.ts';
import { RecordsOfClient } from '../../parts/records.tsx';
import { useThrottled } from '../../parts/throttled.ts';
import { hostChanges, hostRow, useHosts } from './host-records.tsx';

const hostsQuery = graphql(`
  query HostsOfClient($clientId: ID!) { hosts(filter: { clientId: $clientId }, limit: 200) { total rows { id ...HostRow } } }
`);
const movingMs = 5000;

/** The hosts of a client, on its page. */
export function HostsOfClient({ clientId }: { readonly clientId: string }) {
  const records = useHosts({ isOfClient: true });
  const { data, error, refetch } = useData(hostsQuery, { clientId }, { everyMs: movingMs });
  const refetchSoon = useThrottled(refetch);
  useEvents(hostChanges, {}, () => refetchSoon());
  const rows = data?.hosts.rows.map((row) => unmask(hostRow, row));
  return <RecordsOfClient records={records} page={{ rows, error, refetch }} clientId={clientId} />;
}
