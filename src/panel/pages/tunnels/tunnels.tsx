import { Link, useLocation } from 'wouter';
import { useEvents } from '../../api/live.ts';
import { useAsk, useData } from '../../api/use.ts';
import { graphql, unmask } from '../../generated/index.ts';
import type { TunnelFilter, TunnelMode, TunnelSortField } from '../../generated/graphql.ts';
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
import { useTunnelActions } from './tunnel-actions.tsx';
import { tunnelRow, useTunnelTable } from './tunnel-table.tsx';
import { tunnelChanges } from './tunnels-of-client.tsx';

const tunnelsQuery = graphql(`
  query Tunnels($filter: TunnelFilter, $search: String, $sort: TunnelSort, $offset: Int!, $limit: Int!) {
    tunnels(filter: $filter, search: $search, sort: $sort, offset: $offset, limit: $limit) { total rows { id ...TunnelRow } }
  }
`);

const sortFields: ReadonlySet<string> = new Set<TunnelSortField>(['ID', 'REMARK', 'RUNNING', 'MODE', 'PORT', 'TARGET', 'CLIENT_ID']);
const isSortField = (text: string): text is TunnelSortField => sortFields.has(text);
const modes: readonly TunnelMode[] = ['TCP', 'UDP', 'HTTP_PROXY', 'SOCKS5', 'SECRET', 'P2P', 'FILE'];
const movingMs = 5000;

/** `/tunnels`: the list of tunnels. */
export default function TunnelsPage() {
  const { t } = useLanguage();
  const { readOnly, isAdministrator, server } = useViewer();
  const list = useListState('-ID');
  const ask = useAsk();
  const actions = useTunnelActions();
  const [, navigate] = useLocation();
  const sort = { field: isSortField(list.sort) ? list.sort : 'ID' as const, direction: list.isDescending ? 'DESC' as const : 'ASC' as const };
  const variables = { filter: filterOf(list.get), search: list.q || null, sort, offset: list.offset, limit: pageRows };
  const { data, error, refetch } = useData(tunnelsQuery, variables, { everyMs: movingMs });
  const refetchSoon = useThrottled(refetch);
  useEvents(tunnelChanges, {}, ({ tunnelChanged: { id, tunnel } }) => {
    if (tunnel === null || data?.tunnels.rows.every((row) => row.id !== id) !== false) refetchSoon();
  });
  const rows = data?.tunnels.rows;
  const total = data?.tunnels.total ?? 0;
  const selection = useSelection((rows ?? []).map((row) => unmask(tunnelRow, row)));
  const [table, chooser] = useTunnelTable({ rows, list, ...(!readOnly && { selection }), onChange: refetch });
  async function selectAll(): Promise<void> {
    for (let offset = 0; offset < total; offset += 200) {
      const { data: more } = await ask(tunnelsQuery, { ...variables, offset, limit: 200 });
      if (more === undefined || more.tunnels.rows.length === 0) return;
      selection.add(more.tunnels.rows.map((row) => unmask(tunnelRow, row)));
    }
  }
  const finish = (isDone: boolean): void => {
    if (!isDone) return;
    selection.clear();
    refetch();
  };
  const create = !readOnly && (
    <Link className='btn btn-primary' href='/tunnels/new'>
      <Icon name='plus' />
      {t.tunnels.create}
    </Link>
  );
  return (
    <>
      <PageHead title={t.tunnels.title} actions={create}>{t.tunnels.subtitle}</PageHead>
      <Failure error={error} onRetry={refetch} />
      <section className='card' aria-label={t.tunnels.title}>
        <div className='toolbar'>
          <Search list={list} label={t.list.search} placeholder={t.tunnels.searchHint} />
          <Segments
            list={list}
            name='state'
            label={t.tunnels.stateFilter}
            options={[
              ['', t.tunnels.stateOptions.all, server.counts.tunnels.total],
              ['running', t.tunnels.stateOptions.running, server.counts.tunnels.running],
              [
                'broken',
                t.tunnels.stateOptions.broken,
              ],
              ['stopped', t.tunnels.stateOptions.stopped],
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
            ? <NothingMatches onClear={() => navigate('/tunnels')} />
            : <Empty icon='tunnel' title={t.tunnels.noneTitle} action={create}>{t.tunnels.noneText}</Empty>)
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

function filterOf(get: (name: string) => string): TunnelFilter {
  const [owner, client] = [get('owner'), get('client')];
  const mode = modes.find((name) => name === get('type'));
  return {
    ...({ running: { running: true }, broken: { running: false, enabled: true }, stopped: { enabled: false } }[get('state')]),
    ...(owner === 'none' ? { unassigned: true } : owner !== '' && { ownerId: owner }),
    ...(client !== '' && { clientId: client }),
    ...(mode && { mode }),
  };
}
