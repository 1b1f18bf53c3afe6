import { Link } from 'wouter';
import { graphql } from '../../generated/index.ts';
import type { ClientRowFragment } from '../../generated/graphql.ts';
import { useLanguage } from '../../language/language.tsx';
import type { Records } from '../../parts/records.tsx';
import { Bar } from '../../parts/state.tsx';
import { useViewer } from '../../shell/viewer.tsx';
import { useClientActions } from './client-actions.tsx';
import { ClientStateCell } from './client-state.tsx';

/** A client in a list. */
export const clientRow = graphql(`
  fragment ClientRow on Client {
    id remark verifyKey enabled flowLimit effectiveExpiresAt createdAt
    owner { id username }
    runtime { connected address version connections rate inletBytes exportBytes lastOnlineAt }
    tunnels(limit: 1) { total }
    hosts(limit: 1) { total }
    ...ClientState
  }
`);

type Row = ClientRowFragment;

const mebibyte = 1024 * 1024;

/** Clients, as their list shows them. */
export function useClients(): Records<Row> {
  const { t, f } = useLanguage();
  const { isAdministrator, readOnly, secrets, role } = useViewer();
  const actions = useClientActions();
  const nameOf = ({ remark, id }: Row): string => remark || t.clients.nameless(id);
  const { columns: heads } = t.clients;
  const columns: Records<Row>['columns'] = [
    {
      key: 'name',
      head: heads.name,
      sort: 'REMARK',
      cell: (row) => (
        <>
          <Link className='name' href={`/clients/${row.id}`}>{nameOf(row)}</Link> <span className='muted xs'>#{row.id}</span>
          <span className='sub only-narrow'>{[row.owner?.username, f.rate(row.runtime.rate)].filter(Boolean).join(' · ')}</span>
        </>
      ),
    },
    { key: 'state', head: t.list.state, sort: 'PROBLEMS', isState: true, cell: (row) => <ClientStateCell of={row} /> },
    ...(isAdministrator
      ? [
        {
          key: 'owner',
          head: heads.owner,
          sort: 'OWNER',
          leaves: 3,
          cell: (row: Row) =>
            row.owner ? <Link className='name' href={`/users/${row.owner.id}`}>{row.owner.username}</Link> : <span className='muted'>{t.words.nobody}</span>,
        } as const,
      ]
      : []),
    { key: 'address', head: heads.address, sort: 'ADDRESS', leaves: 3, cell: ({ runtime }) => <span className='mono'>{runtime.address}</span> },
    { key: 'version', head: heads.version, sort: 'VERSION', leaves: 4, cell: ({ runtime }) => runtime.version },
    { key: 'parts', head: heads.parts, leaves: 4, isNumber: true, cell: ({ tunnels, hosts }) => `${f.number(tunnels.total)}, ${f.number(hosts.total)}` },
    { key: 'connections', head: heads.connections, sort: 'CONNECTIONS', leaves: 2, isNumber: true, cell: ({ runtime }) => f.number(runtime.connections) },
    { key: 'rate', head: heads.rate, sort: 'RATE', leaves: 1, isNumber: true, cell: ({ runtime }) => f.rate(runtime.rate) },
    { key: 'used', head: heads.used, sort: 'FLOW_USED', leaves: 2, cell: (row) => <Used row={row} /> },
    {
      key: 'expires',
      head: heads.expires,
      sort: 'EXPIRES_AT',
      leaves: 4,
      cell: ({ effectiveExpiresAt: at }) => at ? f.day(at) : <span className='muted'>{t.words.never}</span>,
    },
    {
      key: 'lastOnline',
      head: heads.lastOnline,
      sort: 'LAST_ONLINE_AT',
      leaves: 4,
      cell: ({ runtime: { connected, lastOnlineAt: at } }) => connected ? t.states.online : at ? f.short(at) : <span className='muted'>{t.words.never}</span>,
    },
    ...(secrets
      ? [{ key: 'key', head: heads.key, sort: 'VERIFY_KEY', leaves: 4, cell: (row: Row) => <span className='mono'>{row.verifyKey}</span> } as const]
      : []),
    { key: 'created', head: heads.created, sort: 'ID', leaves: 4, cell: ({ createdAt }) => f.day(createdAt) },
  ];
  return {
    name: 'clients',
    icon: 'client',
    texts: t.clients,
    columns,
    hidden: ['key', 'created', 'lastOnline'],
    nameOf,
    actions,
    mayChange: !readOnly && role !== 'CLIENT',
    editPath: ({ id }) => `/clients/${id}/edit`,
    menu: (row, onDone) => {
      const { startOrStop, remove } = actions.entries(row, onDone);
      return [startOrStop, remove];
    },
  };
}

function Used({ row: { flowLimit, runtime } }: { readonly row: Row }) {
  const { f } = useLanguage();
  const used = runtime.inletBytes + runtime.exportBytes;
  return (
    <div className='used'>
      <span>{flowLimit === null || flowLimit === undefined ? f.bytes(used) : f.share(used, flowLimit * mebibyte)}</span>
      {flowLimit !== null && flowLimit !== undefined && <Bar used={used} limit={flowLimit * mebibyte} />}
    </div>
  );
}
