import { useEvents } from '../../api/live.ts';
import { graphql, unmask } from '../../generated/index.ts';
import type { CertificateStatus, HostFilter } from '../../generated/graphql.ts';
import { useLanguage } from '../../language/language.tsx';
import { type ListState, useListState } from '../../parts/list-state.ts';
import { Segments } from '../../parts/list-tools.tsx';
import { ownerOf, sortOf, useRecordPage } from '../../parts/record-page.ts';
import { RecordList } from '../../parts/records.tsx';
import { useViewer } from '../../shell/viewer.tsx';
import { OwnerFilter } from '../clients/owner-filter.tsx';
import { hostChanges, hostRow, useHosts } from './host-records.tsx';

const hostsQuery = graphql(`
  query Hosts($filter: HostFilter, $search: String, $sort: HostSort, $offset: Int!, $limit: Int!) {
    hosts(filter: $filter, search: $search, sort: $sort, offset: $offset, limit: $limit) { total rows { id ...HostRow } }
  }
`);

const sortFields = ['PROBLEMS', 'ID', 'REMARK', 'CONNECTED', 'HOST', 'TARGET', 'CLIENT_ID', 'RATE', 'CONNECTIONS', 'CERTIFICATE'] as const;
const certificateStates: readonly CertificateStatus[] = ['MISSING', 'EXPIRED', 'NOT_YET_VALID', 'NOT_COVERED', 'REFUSED', 'EXPIRING', 'VALID', 'NONE'];
/** Certificates with fewer days left are listed as those that need attention. */
const daysLeft = 15;

/** `/hosts`: the list of hosts. */
export default function HostsPage() {
  const { t } = useLanguage();
  const { isAdministrator, server } = useViewer();
  const list = useListState('-PROBLEMS');
  const page = useRecordPage({
    list,
    query: hostsQuery,
    variables: (offset, limit) => ({ filter: filterOf(list), search: list.q || null, sort: sortOf(list, sortFields, 'PROBLEMS'), offset, limit }),
    pageOf: ({ hosts: { total, rows } }) => ({ total, rows: rows.map((row) => unmask(hostRow, row)) }),
  });
  useEvents(hostChanges, {}, ({ hostChanged: { id, host } }) => page.report(id, Boolean(host)));
  const states = t.hosts.stateOptions;
  const counts = server.counts.hosts;
  return (
    <RecordList
      records={useHosts()}
      page={page}
      toolbar={
        <Segments
          list={list}
          name='state'
          label={t.hosts.stateFilter}
          options={[
            ['', states.all, counts.total],
            ['problems', states.problems],
            ['serves', states.serves, counts.serving],
            ['away', states.away],
            ['stopped', states.stopped, counts.disabled],
            ['certificate', states.certificate],
          ]}
        />
      }
      filters={
        <>
          {isAdministrator && <OwnerFilter list={list} />}
          <label className='item'>
            <span className='muted'>{t.hosts.certificateFilter}</span>
            <select className='select' value={list.get('certificate')} onChange={({ target }) => list.set({ certificate: target.value })}>
              <option value=''>{t.hosts.allCertificates}</option>
              {certificateStates.map((status) => <option key={status} value={status}>{t.hosts.certificate.states[status]}</option>)}
            </select>
          </label>
        </>
      }
    />
  );
}

function filterOf(list: ListState): HostFilter {
  const [client, domain] = [list.get('client'), list.get('domain')];
  const certificateStatus = certificateStates.find((status) => status === list.get('certificate'));
  return {
    ...({
      problems: { withProblems: true },
      serves: { serving: true },
      away: { enabled: true, connected: false },
      stopped: { enabled: false },
      certificate: { certificateDaysRemainingBelow: daysLeft },
    }[list.get('state')]),
    ...ownerOf(list),
    ...(client !== '' && { clientId: client }),
    ...(certificateStatus && { certificateStatus }),
    ...(domain !== '' && { platformDomainId: domain }),
  };
}
