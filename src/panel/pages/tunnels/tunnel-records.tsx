import { Link, useLocation } from 'wouter';
import { graphql } from '../../generated/index.ts';
import type { TunnelRowFragment } from '../../generated/graphql.ts';
import { useLanguage } from '../../language/language.tsx';
import { Address } from '../../parts/address.tsx';
import type { Records } from '../../parts/records.tsx';
import { useViewer } from '../../shell/viewer.tsx';
import { useServedColumns } from '../served/columns.tsx';
import { useTunnelActions } from './tunnel-actions.tsx';
import { TunnelStateCell } from './tunnel-state.tsx';

/** A tunnel in a list. */
export const tunnelRow = graphql(`
  fragment TunnelRow on Tunnel {
    id remark mode port publicAddress targets localPath enabled noStore
    client { id remark }
    runtime { connections rate inletBytes exportBytes }
    ...TunnelState
  }
`);

/** The changes of tunnels, with all that a list shows of them. */
export const tunnelChanges = graphql(`
  subscription TunnelChanged { tunnelChanged { id tunnel { id ...TunnelRow } } }
`);

/** Tunnels, as lists show them. @param isOfClient on the page of a client: without the column of the client */
export function useTunnels({ isOfClient = false } = {}): Records<TunnelRowFragment> {
  const { t } = useLanguage();
  const { readOnly } = useViewer();
  const actions = useTunnelActions();
  const [, navigate] = useLocation();
  const heads = t.tunnels.columns;
  const served = useServedColumns(heads, isOfClient);
  const nameOf = ({ remark, id }: TunnelRowFragment): string => remark || t.tunnels.nameless(id);
  const columns: Records<TunnelRowFragment>['columns'] = [
    {
      key: 'name',
      head: heads.name,
      sort: 'REMARK',
      cell: (row) => (
        <>
          <Link className='name' href={`/tunnels/${row.id}`}>{nameOf(row)}</Link> <span className='muted xs'>#{row.id}</span>
          {row.noStore && <span className='sub'>{t.tunnels.fromAgent}</span>}
          <span className='sub only-narrow'>{entryOf(row) ?? t.tunnels.byPassword}</span>
        </>
      ),
    },
    { key: 'state', head: t.list.state, sort: 'PROBLEMS', isState: true, cell: (row) => <TunnelStateCell of={row} /> },
    { key: 'type', head: heads.type, sort: 'MODE', leaves: 2, cell: ({ mode }) => <span className='type'>{t.tunnels.short[mode]}</span> },
    {
      key: 'entry',
      head: heads.entry,
      sort: 'PORT',
      leaves: 1,
      cell: (row) => {
        const entry = entryOf(row);
        return entry === undefined ? t.tunnels.byPassword : (
          <span className='mono'>
            <Address text={entry} />
          </span>
        );
      },
    },
    {
      key: 'target',
      head: heads.target,
      sort: 'TARGET',
      leaves: 2,
      cell: ({ targets, localPath, mode }) =>
        mode === 'HTTP_PROXY' || mode === 'SOCKS5'
          ? <span className='muted'>{t.tunnels.anyTarget}</span>
          : <span className='mono'>{mode === 'FILE' ? localPath : targets.join(', ')}</span>,
    },
    ...served,
  ];
  return {
    name: 'tunnels',
    icon: 'tunnel',
    texts: t.tunnels,
    columns,
    nameOf,
    actions,
    mayChange: !readOnly,
    editPath: ({ id }) => `/tunnels/${id}`,
    menu: (row, onDone) => {
      const { startOrStop, resetTraffic, remove } = actions.entries(row, onDone);
      return [
        { label: t.actions.diagnose, onChoose: () => navigate(`/diagnosis?tunnel=${row.id}`) },
        startOrStop,
        { label: t.tunnels.copyTunnel, onChoose: () => void actions.copy(row.id).then(onDone) },
        resetTraffic,
        remove,
      ];
    },
  };
}

/** Where visitors enter: the address, or the port if the server's public address is unknown; undefined = with the password. */
function entryOf({ publicAddress, port }: TunnelRowFragment): string | undefined {
  return publicAddress ?? (port === null || port === undefined ? undefined : `:${port}`);
}
