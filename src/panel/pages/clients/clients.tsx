import { useState } from 'react';
import { useEvents } from '../../api/live.ts';
import { graphql, unmask } from '../../generated/index.ts';
import type { ClientFilter } from '../../generated/graphql.ts';
import { useLanguage } from '../../language/language.tsx';
import { type ListState, useListState } from '../../parts/list-state.ts';
import { Segments } from '../../parts/list-tools.tsx';
import { ownerOf, sortOf, useRecordPage } from '../../parts/record-page.ts';
import { RecordList } from '../../parts/records.tsx';
import { useViewer } from '../../shell/viewer.tsx';
import { clientRow, useClients } from './client-records.tsx';
import { OwnerFilter } from './owner-filter.tsx';

const clientsQuery = graphql(`
  query Clients($filter: ClientFilter, $search: String, $sort: ClientSort, $offset: Int!, $limit: Int!) {
    clients(filter: $filter, search: $search, sort: $sort, offset: $offset, limit: $limit) { total rows { id ...ClientRow } }
  }
`);
const changes = graphql(`
  subscription ClientsChanged { clientChanged { id client { id remark enabled ...ClientState } } }
`);

const sortFields = [
  'ID',
  'REMARK',
  'PROBLEMS',
  'OWNER',
  'ADDRESS',
  'VERSION',
  'CONNECTIONS',
  'RATE',
  'FLOW_USED',
  'EXPIRES_AT',
  'LAST_ONLINE_AT',
  'VERIFY_KEY',
] as const;
const monthMs = 30 * 86_400_000;

/** `/clients`: the list of clients. */
export default function ClientsPage() {
  const { t } = useLanguage();
  const { isAdministrator, server } = useViewer();
  const list = useListState('-PROBLEMS');
  // Fixed while the page is open: otherwise each rendering would be a new query.
  const [soon] = useState(() => new Date(Date.now() + monthMs).toISOString());
  const page = useRecordPage({
    list,
    query: clientsQuery,
    variables: (offset, limit) => ({ filter: filterOf(list, soon), search: list.q || null, sort: sortOf(list, sortFields, 'PROBLEMS'), offset, limit }),
    pageOf: ({ clients: { total, rows } }) => ({ total, rows: rows.map((row) => unmask(clientRow, row)) }),
  });
  useEvents(changes, {}, ({ clientChanged: { id, client } }) => page.report(id, Boolean(client)));
  const { states } = t.clients;
  const counts = server.counts.clients;
  return (
    <RecordList
      records={useClients()}
      page={page}
      toolbar={
        <Segments
          list={list}
          name='state'
          label={t.clients.stateFilter}
          options={[
            ['', states.all, counts.total],
            ['problems', states.problems],
            ['online', states.online, counts.connected],
            ['away', states.away],
            ['disabled', states.disabled, counts.disabled],
            ['expired', states.expired, counts.expired],
          ]}
        />
      }
      filters={
        <>
          {isAdministrator && <OwnerFilter list={list} />}
          {(['expiring', 'full', 'otherVersion'] as const).map((name) => (
            <label key={name} className='check'>
              <input type='checkbox' checked={list.get(name) !== ''} onChange={({ target }) => list.set({ [name]: target.checked ? 'yes' : '' })} />
              {t.clients.filters[name]}
            </label>
          ))}
        </>
      }
    />
  );
}

function filterOf(list: ListState, soon: string): ClientFilter {
  return {
    ...({
      problems: { withProblems: true },
      online: { connected: true },
      away: { connected: false, enabled: true },
      disabled: { enabled: false, expired: false },
      expired: { expired: true },
    }[list.get('state')]),
    ...ownerOf(list),
    ...(list.get('expiring') !== '' && { expiresBefore: soon }),
    ...(list.get('full') !== '' && { usageAbovePercent: 80 }),
    ...(list.get('otherVersion') !== '' && { otherVersion: true }),
  };
}
