import { Link, useLocation } from 'wouter';
import { useEvents } from '../../api/live.ts';
import { useAsk, useData } from '../../api/use.ts';
import { graphql, unmask } from '../../generated/index.ts';
import type { HostFilter, HostSortField } from '../../generated/graphql.ts';
import { useLanguage } from '../../language/language.tsx';
import { Empty } from '../../parts/banner.tsx';
import { BulkBar } from '../../parts/bulk.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Icon } from '../../parts/icon.tsx';
import { pageRows, useListState } from '../../parts/list-state.ts';
import { Pager, Popover, Search, Segments } from '../../parts/list-tools.tsx';
import { NothingMatches } from '../../parts/nothing-matches.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { useSelection } from '../../parts/selection.ts';
import { useThrottled } from '../../parts/throttled.ts';
import { useViewer } from '../../shell/viewer.tsx';
import { OwnerFilter } from '../clients/owner-filter.tsx';
import { useHostActions } from './host-actions.tsx';
import { hostRow, useHostTable } from './host-table.tsx';
import { hostChanges } from './hosts-of-client.tsx';

const hostsQuery = graphql(`
  query Hosts($filter: HostFilter, $search: String, $sort: HostSort, $offset: Int!, $limit: Int!) {
    hosts(filter: $filter, search: $search, sort: $sort, offset: $offset, limit: $limit) { total rows { id ...HostRow } }
  }
`);

const sortFields: ReadonlySet<string> = new Set<HostSortField>(['ID', 'REMARK', 'CONNECTED', 'HOST', 'TARGET', 'CLIENT_ID']);
const isSortField = (text: string): text is HostSortField => sortFields.has(text);
const movingMs = 5000;
/** Certificates with fewer days left are listed as those that need attention. */
const daysLeft = 15;

/** `/hosts`: the list of hosts. */
export default function HostsPage() {
  const { t } = useLanguage();
  const { readOnly, isAdministrator, server } = useViewer();
  const list = useListState('-ID');
  const ask = useAsk();
  const actions = useHostActions();
  const [, navigate] = useLocation();
  const sort = { field: isSortField(list.sort) ? list.sort : 'ID' as const, direction: list.isDescending ? 'DESC' as const : 'ASC' as const };
  const variables = { filter: filterOf(list.get), search: list.q || null, sort, offset: list.offset, limit: pageRows };
  const { data, error, refetch } = useData(hostsQuery, variables, { everyMs: movingMs });
  const refetchSoon = useThrottled(refetch);
  useEvents(hostChanges, {}, ({ hostChanged: { id, host } }) => {
    if (host === null || data?.hosts.rows.every((row) => row.id !== id) !== false) refetchSoon();
  });
  const rows = data?.hosts.rows;
  const total = data?.hosts.total ?? 0;
  const selection = useSelection((rows ?? []).map((row) => unmask(hostRow, row)));
  const [table, chooser] = useHostTable({ rows, list, ...(!readOnly && { selection }), onChange: refetch });
  async function selectAll(): Promise<void> {
    for (let offset = 0; offset < total; offset += 200) {
      const { data: more } = await ask(hostsQuery, { ...variables, offset, limit: 200 });
      if (more === undefined || more.hosts.rows.length === 0) return;
      selection.add(more.hosts.rows.map((row) => unmask(hostRow, row)));
    }
  }
  const finish = (isDone: boolean): void => {
    if (!isDone) return;
    selection.clear();
    refetch();
  };
  const create = !readOnly && (
    <Link className='btn btn-primary' href='/hosts/new'>
      <Icon name='plus' />
      {t.hosts.create}
    </Link>
  );
  const states = t.hosts.stateOptions;
  return (
    <>
      <PageHead title={t.hosts.title} actions={create}>{t.hosts.subtitle}</PageHead>
      <Failure error={error} onRetry={refetch} />
      <section className='card' aria-label={t.hosts.title}>
        <div className='toolbar'>
          <Search list={list} label={t.list.search} placeholder={t.hosts.searchHint} />
          <Segments
            list={list}
            name='state'
            label={t.hosts.stateFilter}
            options={[['', states.all, server.counts.hosts.total], ['serves', states.serves, server.counts.hosts.serving], ['away', states.away], [
              'stopped',
              states.stopped,
              server.counts.hosts.disabled,
            ], ['certificate', states.certificate]]}
          />
          <div className='toolbar-end'>
            {isAdministrator && (
              <Popover icon='filter' label={t.list.filters}>
                <OwnerFilter list={list} />
              </Popover>
            )}
            {chooser}
          </div>
        </div>
        {rows?.length === 0
          ? (list.isFiltered
            ? <NothingMatches onClear={() => navigate('/hosts')} />
            : <Empty icon='host' title={t.hosts.noneTitle} action={create}>{t.hosts.noneText}</Empty>)
          : table}
        <Pager list={list} total={total} />
      </section>
      <BulkBar selection={selection} total={total} onSelectAll={() => void selectAll()}>
        <button type='button' className='btn btn-s' onClick={() => void actions.start(selection.rows).then(finish)}>{t.actions.enable}</button>
        <button type='button' className='btn btn-s' onClick={() => void actions.stop(selection.rows).then(finish)}>{t.actions.disable}</button>
        <button type='button' className='btn btn-s btn-danger' onClick={() => void actions.remove(selection.rows).then(finish)}>{t.actions.delete}</button>
      </BulkBar>
    </>
  );
}

function filterOf(get: (name: string) => string): HostFilter {
  const [owner, client, domain] = [get('owner'), get('client'), get('domain')];
  return {
    ...({
      serves: { enabled: true, connected: true },
      away: { enabled: true, connected: false },
      stopped: { enabled: false },
      certificate: { certificateDaysRemainingBelow: daysLeft },
    }[get('state')]),
    ...(owner === 'none' ? { unassigned: true } : owner !== '' && { ownerId: owner }),
    ...(client !== '' && { clientId: client }),
    ...(domain !== '' && { platformDomainId: domain }),
  };
}
