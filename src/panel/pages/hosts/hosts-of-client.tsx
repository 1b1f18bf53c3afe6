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
import { useHostTable } from './host-table.tsx';

const hostsQuery = graphql(`
  query HostsOfClient($clientId: ID!) { hosts(filter: { clientId: $clientId }, limit: 200) { total rows { id ...HostRow } } }
`);
/** The changes of hosts that are in view are applied to the cache; new ones are read. */
export const hostChanges = graphql(`
  subscription HostChanged { hostChanged { id host { id ...HostRow } } }
`);
const movingMs = 5000;

/** The hosts of a client, on its page. */
export function HostsOfClient({ clientId }: { readonly clientId: string }) {
  const { t } = useLanguage();
  const { readOnly } = useViewer();
  const { data, error, refetch } = useData(hostsQuery, { clientId }, { everyMs: movingMs });
  const refetchSoon = useThrottled(refetch);
  useEvents(hostChanges, {}, () => refetchSoon());
  const rows = data?.hosts.rows;
  const [table] = useHostTable({ rows, isOfClient: true, onChange: refetch });
  const create = !readOnly && (
    <Link className='btn' href={`/hosts/new?client=${clientId}`}>
      <Icon name='plus' />
      {t.hosts.create}
    </Link>
  );
  if (rows?.length === 0) return <Empty icon='host' title={t.hosts.noneTitle} action={create}>{t.hosts.noneText}</Empty>;
  return (
    <>
      <Failure error={error} onRetry={refetch} />
      {table}
      {create && <div className='card-foot'>{create}</div>}
    </>
  );
}
