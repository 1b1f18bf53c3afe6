import { useEvents } from '../../api/live.ts';
import { graphql, unmask } from '../../generated/index.ts';
import type { TunnelFilter, TunnelMode } from '../../generated/graphql.ts';
import { useLanguage } from '../../language/language.tsx';
import { type ListState, useListState } from '../../parts/list-state.ts';
import { Segments } from '../../parts/list-tools.tsx';
import { ownerOf, sortOf, useRecordPage } from '../../parts/record-page.ts';
import { RecordList } from '../../parts/records.tsx';
import { useViewer } from '../../shell/viewer.tsx';
import { OwnerFilter } from '../clients/owner-filter.tsx';
import { tunnelChanges, tunnelRow, useTunnels } from './tunnel-records.tsx';

const tunnelsQuery = graphql(`
  query Tunnels($filter: TunnelFilter, $search: String, $sort: TunnelSort, $offset: Int!, $limit: Int!) {
    tunnels(filter: $filter, search: $search, sort: $sort, offset: $offset, limit: $limit) { total rows { id ...TunnelRow } }
  }
`);

const sortFields = ['PROBLEMS', 'ID', 'REMARK', 'RUNNING', 'MODE', 'PORT', 'TARGET', 'CLIENT_ID', 'RATE', 'CONNECTIONS'] as const;
const modes: readonly TunnelMode[] = ['TCP', 'UDP', 'HTTP_PROXY', 'SOCKS5', 'SECRET', 'P2P', 'FILE'];

/** `/tunnels`: the list of tunnels. */
export default function TunnelsPage() {
  const { t } = useLanguage();
  const { isAdministrator, server } = useViewer();
  const list = useListState('-PROBLEMS');
  const page = useRecordPage({
    list,
    query: tunnelsQuery,
    variables: (offset, limit) => ({ filter: filterOf(list), search: list.q || null, sort: sortOf(list, sortFields, 'PROBLEMS'), offset, limit }),
    pageOf: ({ tunnels: { total, rows } }) => ({ total, rows: rows.map((row) => unmask(tunnelRow, row)) }),
  });
  useEvents(tunnelChanges, {}, ({ tunnelChanged: { id, tunnel } }) => page.report(id, Boolean(tunnel)));
  const states = t.tunnels.stateOptions;
  const counts = server.counts.tunnels;
  return (
    <RecordList
      records={useTunnels()}
      page={page}
      toolbar={
        <>
          <Segments
            list={list}
            name='state'
            label={t.tunnels.stateFilter}
            options={[
              ['', states.all, counts.total],
              ['problems', states.problems],
              ['serves', states.serves],
              ['away', states.away],
              ['stopped', states.stopped],
            ]}
          />
          <select
            className='select input-s'
            aria-label={t.tunnels.typeFilter}
            value={list.get('type')}
            onChange={({ target }) => list.set({ type: target.value })}
          >
            <option value=''>{t.tunnels.allTypes}</option>
            {modes.map((mode) => <option key={mode} value={mode}>{t.tunnels.types[mode]}</option>)}
          </select>
        </>
      }
      {...(isAdministrator && { filters: <OwnerFilter list={list} /> })}
    />
  );
}

function filterOf(list: ListState): TunnelFilter {
  const client = list.get('client');
  const mode = modes.find((name) => name === list.get('type'));
  return {
    ...({
      problems: { withProblems: true },
      serves: { running: true, connected: true },
      away: { enabled: true, connected: false },
      stopped: { enabled: false },
    }[list.get('state')]),
    ...ownerOf(list),
    ...(client !== '' && { clientId: client }),
    ...(mode && { mode }),
  };
}
