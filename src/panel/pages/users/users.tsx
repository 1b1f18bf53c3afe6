import { useState } from 'react';
import { Link } from 'wouter';
import { useEvents } from '../../api/live.ts';
import { useRun } from '../../api/use.ts';
import { graphql } from '../../generated/index.ts';
import type { UserFilter, UsersQuery } from '../../generated/graphql.ts';
import { useLanguage } from '../../language/language.tsx';
import { useConfirm } from '../../parts/confirm.tsx';
import { Impact } from '../../parts/impact.tsx';
import { useListState } from '../../parts/list-state.ts';
import { Segments } from '../../parts/list-tools.tsx';
import { sortOf, useRecordPage } from '../../parts/record-page.ts';
import { RecordList, type Records } from '../../parts/records.tsx';
import { Bar, State } from '../../parts/state.tsx';
import { useReport } from '../../parts/toast.tsx';
import { useViewer } from '../../shell/viewer.tsx';

const usersQuery = graphql(`
  query Users($filter: UserFilter, $search: String, $sort: UserSort, $offset: Int!, $limit: Int!) {
    users(filter: $filter, search: $search, sort: $sort, offset: $offset, limit: $limit) {
      total rows { id username remark enabled maxClients maxTunnels clientCount tunnelCount expiresAt lastLoginAt createdAt }
    }
  }
`);
const changes = graphql(`
  subscription UsersChanged {
    userChanged { id user { id username remark enabled maxClients maxTunnels clientCount tunnelCount expiresAt } }
  }
`);
const setEnabled = graphql(`
  mutation SetUserEnabled($id: ID!, $enabled: Boolean!) { setUserEnabled(id: $id, enabled: $enabled) { id enabled } }
`);
const remove = graphql(`
  mutation DeleteUser($id: ID!) { deleteUser(id: $id) }
`);

type Row = NonNullable<UsersQuery['users']>['rows'][number];

const sortFields = ['ID', 'USERNAME', 'CLIENT_COUNT', 'TUNNEL_COUNT', 'EXPIRES_AT', 'CREATED_AT', 'ENABLED', 'LAST_LOGIN_AT'] as const;
const monthMs = 30 * 86_400_000;

/** `/users`: the list of users, for administrators. */
export default function UsersPage() {
  const { t, f } = useLanguage();
  const { readOnly, server } = useViewer();
  const list = useListState('USERNAME');
  const run = useRun();
  const ask = useConfirm();
  const report = useReport();
  const [soon] = useState(() => new Date(Date.now() + monthMs).toISOString());
  const filters: Readonly<Record<string, UserFilter>> = {
    full: { usageAbovePercent: 80 },
    expiring: { expiresBefore: soon },
    disabled: { enabled: false, expired: false },
    expired: { expired: true },
  };
  const page = useRecordPage({
    list,
    query: usersQuery,
    variables: (offset, limit) => ({
      filter: filters[list.get('state')] ?? null,
      search: list.q || null,
      sort: sortOf(list, sortFields, 'USERNAME'),
      offset,
      limit,
    }),
    pageOf: ({ users }) => users ?? { rows: [], total: 0 },
  });
  useEvents(changes, {}, ({ userChanged: { id, user } }) => page.report(id, Boolean(user)));
  const texts = t.people.users;

  async function enable(user: Row, enabled: boolean): Promise<void> {
    if (!enabled) {
      const body = <Impact resource='USER' ids={[user.id]} text={texts.disableText} />;
      if (!await ask({ title: texts.disableTitle(user.username), body, action: t.actions.disable })) return;
    }
    report((await run(setEnabled, { id: user.id, enabled })).error, texts.done);
  }
  async function removeUser({ id, username, clientCount }: Row): Promise<void> {
    const body = <Impact resource='USER' ids={[id]} text={texts.deleteText(clientCount)} note={texts.disableMilder} />;
    if (!await ask({ title: texts.deleteTitle(username), body, action: texts.deleteAction(username) })) return;
    report((await run(remove, { id })).error, texts.deleted(username));
    page.refetch();
  }

  const stateOf = ({ enabled, expiresAt }: Row) => {
    // As for clients: an expired one is not counted as disabled.
    if (expiresAt && Date.parse(expiresAt) <= Date.now()) return <State tone='danger'>{t.states.expired}</State>;
    if (!enabled) return <State tone='off'>{t.states.disabled}</State>;
    return expiresAt && expiresAt < soon ? <State tone='warn'>{t.states.expiresSoon}</State> : <State tone='ok'>{t.states.enabled}</State>;
  };
  const share = (used: number, limit: number | null | undefined): string =>
    limit === null || limit === undefined ? f.number(used) : t.words.of(f.number(used), f.number(limit));
  const columns: Records<Row>['columns'] = [
    {
      key: 'name',
      head: texts.columns.name,
      sort: 'USERNAME',
      cell: (row) => (
        <>
          <Link className='name' href={`/users/${row.id}`}>{row.username}</Link> <span className='muted xs'>#{row.id}</span>
          {row.remark && <span className='sub'>{row.remark}</span>}
          <span className='sub only-narrow'>
            {texts.columns.clients} {share(row.clientCount, row.maxClients)} · {texts.columns.tunnels} {share(row.tunnelCount, row.maxTunnels)}
          </span>
        </>
      ),
    },
    { key: 'state', head: t.list.state, sort: 'ENABLED', isState: true, cell: stateOf },
    { key: 'clients', head: texts.columns.clients, sort: 'CLIENT_COUNT', leaves: 1, cell: (row) => <Quota used={row.clientCount} limit={row.maxClients} /> },
    { key: 'tunnels', head: texts.columns.tunnels, sort: 'TUNNEL_COUNT', leaves: 1, cell: (row) => <Quota used={row.tunnelCount} limit={row.maxTunnels} /> },
    {
      key: 'expires',
      head: texts.columns.expires,
      sort: 'EXPIRES_AT',
      leaves: 2,
      cell: ({ expiresAt }) => expiresAt ? f.short(expiresAt) : <span className='muted'>{t.words.never}</span>,
    },
    {
      key: 'lastLogin',
      head: texts.columns.lastLogin,
      sort: 'LAST_LOGIN_AT',
      leaves: 2,
      cell: ({ lastLoginAt }) => lastLoginAt ? f.short(lastLoginAt) : <span className='muted'>{t.words.notYet}</span>,
    },
    { key: 'created', head: texts.columns.created, sort: 'CREATED_AT', leaves: 3, cell: ({ createdAt }) => f.day(createdAt) },
  ];
  const records: Records<Row> = {
    name: 'users',
    icon: 'users',
    texts,
    columns,
    nameOf: ({ username }) => username,
    mayChange: !readOnly,
    editPath: ({ id }) => `/users/${id}`,
    menu: (row) => [
      { label: row.enabled ? t.actions.disable : t.actions.enable, onChoose: () => void enable(row, !row.enabled) },
      { label: t.actions.delete, isDanger: true, onChoose: () => void removeUser(row) },
    ],
  };
  const { states } = texts;
  return (
    <RecordList
      records={records}
      page={page}
      toolbar={
        <Segments
          list={list}
          name='state'
          label={texts.stateFilter}
          options={[['', states.all, server.counts.users?.total], ['full', states.full], ['expiring', states.expiring], [
            'disabled',
            states.disabled,
            server.counts.users?.disabled,
          ], ['expired', states.expired, server.counts.users?.expired]]}
        />
      }
    />
  );
}

function Quota({ used, limit }: { readonly used: number; readonly limit: number | null | undefined }) {
  const { t, f } = useLanguage();
  if (limit === null || limit === undefined) {
    return (
      <span>
        {f.number(used)} <span className='muted'>· {t.words.noLimit}</span>
      </span>
    );
  }
  return (
    <div className='used'>
      <span>{t.words.of(f.number(used), f.number(limit))}</span>
      <Bar used={used} limit={limit} isQuota />
    </div>
  );
}
