import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useEvents } from '../../api/live.ts';
import { useAsk, useData } from '../../api/use.ts';
import { graphql } from '../../generated/index.ts';
import type { ClientFilter, ClientSortField, ClientsQuery } from '../../generated/graphql.ts';
import { useLanguage } from '../../language/language.tsx';
import { Empty } from '../../parts/banner.tsx';
import { BulkBar } from '../../parts/bulk.tsx';
import { Failure } from '../../parts/failure.tsx';
import { Icon } from '../../parts/icon.tsx';
import { pageRows, useListState } from '../../parts/list-state.ts';
import { Pager, Popover, Search, Segments, useColumns } from '../../parts/list-tools.tsx';
import { RowMenu } from '../../parts/menu.tsx';
import { NothingMatches } from '../../parts/nothing-matches.tsx';
import { PageHead } from '../../parts/page-head.tsx';
import { useSelection } from '../../parts/selection.ts';
import { Bar } from '../../parts/state.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useThrottled } from '../../parts/throttled.ts';
import { useViewer } from '../../shell/viewer.tsx';
import { ClientStateCell } from './client-state.tsx';
import { useClientActions } from './client-actions.tsx';
import { OwnerFilter } from './owner-filter.tsx';

const clientsQuery = graphql(`
  query Clients($filter: ClientFilter, $search: String, $sort: ClientSort, $offset: Int!, $limit: Int!) {
    clients(filter: $filter, search: $search, sort: $sort, offset: $offset, limit: $limit) {
      total
      rows {
        id remark verifyKey enabled flowLimit expiresAt createdAt
        owner { id username }
        runtime { connected address version connections rate inletBytes exportBytes }
        tunnels(limit: 1) { total }
        hosts(limit: 1) { total }
        ...ClientState
      }
    }
  }
`);
const changes = graphql(`
  subscription ClientsChanged { clientChanged { id client { id remark enabled ...ClientState } } }
`);

type Row = ClientsQuery['clients']['rows'][number];

const sortFields: ReadonlySet<string> = new Set<ClientSortField>(['ID', 'REMARK', 'CONNECTED', 'ADDRESS', 'VERSION', 'RATE', 'EXPORT_BYTES', 'VERIFY_KEY']);
const isSortField = (text: string): text is ClientSortField => sortFields.has(text);
/** The numbers of a list are read again after this many ms. */
const movingMs = 5000;
const mebibyte = 1024 * 1024;
const monthMs = 30 * 86_400_000;

/** `/clients`: the list of clients. */
export default function ClientsPage() {
  const { t, f } = useLanguage();
  const { isAdministrator, readOnly, secrets, role, server } = useViewer();
  const list = useListState('-CONNECTED');
  const ask = useAsk();
  const actions = useClientActions();
  const [, navigate] = useLocation();
  // Fixed while the page is open: otherwise each rendering would be a new query.
  const [soon] = useState(() => new Date(Date.now() + monthMs).toISOString());
  const filter = filterOf(list.get, soon);
  const sort = { field: isSortField(list.sort) ? list.sort : 'CONNECTED' as const, direction: list.isDescending ? 'DESC' as const : 'ASC' as const };
  const variables = { filter, search: list.q || null, sort, offset: list.offset, limit: pageRows };
  const { data, error, refetch } = useData(clientsQuery, variables, { everyMs: movingMs });
  const rows = data?.clients.rows;
  const total = data?.clients.total ?? 0;
  const selection = useSelection(rows ?? []);
  const refetchSoon = useThrottled(refetch);
  useEvents(changes, {}, ({ clientChanged: { id, client } }) => {
    // Changes of rows in view are already in the cache; others can change which rows are in view.
    if (client === null || client === undefined || rows?.every((row) => row.id !== id) !== false) refetchSoon();
  });

  const { columns: heads } = t.clients;
  const all: ReadonlyArray<Column<Row>> = [
    {
      key: 'name',
      head: heads.name,
      sort: 'REMARK',
      cell: (row) => (
        <>
          <Link className='name' href={`/clients/${row.id}`}>{row.remark || t.clients.nameless(row.id)}</Link> <span className='muted xs'>#{row.id}</span>
          <span className='sub only-narrow'>{[row.owner?.username, f.rate(row.runtime.rate)].filter(Boolean).join(' · ')}</span>
        </>
      ),
    },
    { key: 'state', head: t.list.state, sort: 'CONNECTED', isState: true, cell: (row) => <ClientStateCell of={row} /> },
    ...(isAdministrator
      ? [
        {
          key: 'owner',
          head: heads.owner,
          leaves: 3,
          cell: (row: Row) =>
            row.owner ? <Link className='name' href={`/users/${row.owner.id}`}>{row.owner.username}</Link> : <span className='muted'>{t.words.nobody}</span>,
        } as const,
      ]
      : []),
    { key: 'address', head: heads.address, sort: 'ADDRESS', leaves: 3, cell: ({ runtime }) => <span className='mono'>{runtime.address}</span> },
    { key: 'version', head: heads.version, sort: 'VERSION', leaves: 4, cell: ({ runtime }) => runtime.version },
    { key: 'parts', head: heads.parts, leaves: 4, isNumber: true, cell: ({ tunnels, hosts }) => `${f.number(tunnels.total)}, ${f.number(hosts.total)}` },
    { key: 'connections', head: heads.connections, leaves: 2, isNumber: true, cell: ({ runtime }) => f.number(runtime.connections) },
    { key: 'rate', head: heads.rate, sort: 'RATE', leaves: 1, isNumber: true, cell: ({ runtime }) => f.rate(runtime.rate) },
    { key: 'used', head: heads.used, sort: 'EXPORT_BYTES', leaves: 2, cell: (row) => <Used row={row} /> },
    { key: 'expires', head: heads.expires, leaves: 4, cell: ({ expiresAt }) => expiresAt ? f.day(expiresAt) : <span className='muted'>{t.words.never}</span> },
    ...(secrets
      ? [{ key: 'key', head: heads.key, sort: 'VERIFY_KEY', leaves: 4, cell: (row: Row) => <span className='mono'>{row.verifyKey}</span> } as const]
      : []),
    { key: 'created', head: heads.created, sort: 'ID', leaves: 4, cell: ({ createdAt }) => f.day(createdAt) },
  ];
  const [shown, chooser] = useColumns('clients', all, ['key', 'created']);
  const mayChange = !readOnly && role !== 'CLIENT';

  async function selectAll(): Promise<void> {
    for (let offset = 0; offset < total; offset += 200) {
      const { data: more } = await ask(clientsQuery, { ...variables, offset, limit: 200 });
      if (more === undefined || more.clients.rows.length === 0) return;
      selection.add(more.clients.rows);
    }
  }
  const finish = (isDone: boolean): void => {
    if (!isDone) return;
    selection.clear();
    refetch();
  };
  const { clients: counts } = server.counts;
  const create = mayChange && (
    <Link className='btn btn-primary' href='/clients/new'>
      <Icon name='plus' />
      {t.clients.create}
    </Link>
  );
  return (
    <>
      <PageHead title={t.clients.title} actions={create}>{t.clients.subtitle}</PageHead>
      <Failure error={error} onRetry={refetch} />
      <section className='card' aria-label={t.clients.title}>
        <div className='toolbar'>
          <Search list={list} label={t.list.search} placeholder={t.clients.searchHint} />
          <Segments
            list={list}
            name='state'
            label={t.clients.stateFilter}
            options={[['', t.clients.states.all, counts.total], ['online', t.clients.states.online, counts.connected], ['away', t.clients.states.away], [
              'disabled',
              t.clients.states.disabled,
              counts.disabled,
            ]]}
          />
          <div className='toolbar-end'>
            <Popover icon='filter' label={t.list.filters}>
              {isAdministrator && <OwnerFilter list={list} />}
              {(['expiring', 'full'] as const).map((name) => (
                <label key={name} className='check'>
                  <input type='checkbox' checked={list.get(name) !== ''} onChange={({ target }) => list.set({ [name]: target.checked ? 'yes' : '' })} />
                  {t.clients.filters[name]}
                </label>
              ))}
            </Popover>
            {chooser}
          </div>
        </div>
        {rows?.length === 0
          ? (
            list.isFiltered
              ? <NothingMatches onClear={() => navigate('/clients')} />
              : <Empty icon='client' title={t.clients.noneTitle} action={create}>{t.clients.noneText}</Empty>
          )
          : (
            <Table
              caption={t.clients.title}
              rows={rows}
              columns={shown}
              idOf={({ id }) => id}
              nameOf={({ remark, id }) => remark || t.clients.nameless(id)}
              list={list}
              {...(mayChange && {
                selection,
                menu: (row: Row) => (
                  <RowMenu
                    name={row.remark || t.clients.nameless(row.id)}
                    entries={[
                      { label: t.actions.change, onChoose: () => navigate(`/clients/${row.id}/edit`) },
                      row.enabled
                        ? { label: t.actions.disable, onChoose: () => void actions.stop([row]).then(finish) }
                        : { label: t.actions.enable, onChoose: () => void actions.start([row]).then(finish) },
                      { label: t.actions.delete, isDanger: true, onChoose: () => void actions.remove([row]).then(finish) },
                    ]}
                  />
                ),
              })}
            />
          )}
        <Pager list={list} total={total} />
      </section>
      <BulkBar selection={selection} total={total} onSelectAll={() => void selectAll()}>
        <button type='button' className='btn btn-s' onClick={() => void actions.start(selection.rows).then(finish)}>{t.clients.startAll}</button>
        <button type='button' className='btn btn-s' onClick={() => void actions.stop(selection.rows).then(finish)}>{t.clients.stopAll}</button>
        <button type='button' className='btn btn-s btn-danger' onClick={() => void actions.remove(selection.rows).then(finish)}>{t.actions.delete}</button>
      </BulkBar>
    </>
  );
}

function Used({ row: { flowLimit, runtime } }: { readonly row: Row }) {
  const { t, f } = useLanguage();
  const used = runtime.inletBytes + runtime.exportBytes;
  return (
    <div className='used'>
      <span>{flowLimit === null || flowLimit === undefined ? f.bytes(used) : t.words.of(f.bytes(used), f.bytes(flowLimit * mebibyte))}</span>
      {flowLimit !== null && flowLimit !== undefined && <Bar used={used} limit={flowLimit * mebibyte} />}
    </div>
  );
}

function filterOf(get: (name: string) => string, soon: string): ClientFilter {
  const owner = get('owner');
  return {
    ...({ online: { connected: true }, away: { connected: false, enabled: true }, disabled: { enabled: false } }[get('state')]),
    ...(owner === 'none' ? { unassigned: true } : owner !== '' && { ownerId: owner }),
    ...(get('expiring') !== '' && { expiresBefore: soon }),
    ...(get('full') !== '' && { usageAbovePercent: 80 }),
  };
}
