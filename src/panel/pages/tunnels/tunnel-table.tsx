import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { type FragmentType, graphql, unmask } from '../../generated/index.ts';
import type { TunnelRowFragment } from '../../generated/graphql.ts';
import { useLanguage } from '../../language/language.tsx';
import type { ListState } from '../../parts/list-state.ts';
import { useColumns } from '../../parts/list-tools.tsx';
import { RowMenu } from '../../parts/menu.tsx';
import { type Column, type Selection, Table } from '../../parts/table.tsx';
import { useViewer } from '../../shell/viewer.tsx';
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

interface TunnelTableProps {
  readonly rows: ReadonlyArray<FragmentType<typeof tunnelRow>> | undefined;
  readonly list?: ListState;
  readonly selection?: Selection;
  /** On the page of a client: the column of the client is left out. */
  readonly isOfClient?: boolean;
  readonly onChange: () => void;
}

/** The columns of tunnels, and the window to choose them. */
export function useTunnelTable({ rows, list, selection, isOfClient = false, onChange }: TunnelTableProps): readonly [table: ReactNode, chooser: ReactNode] {
  const { t, f } = useLanguage();
  const { readOnly } = useViewer();
  const actions = useTunnelActions();
  const [, navigate] = useLocation();
  const heads = t.tunnels.columns;
  const columns: ReadonlyArray<Column<TunnelRowFragment>> = [
    {
      key: 'name',
      head: heads.name,
      sort: 'REMARK',
      cell: (row) => (
        <>
          <Link className='name' href={`/tunnels/${row.id}`}>{row.remark || t.tunnels.nameless(row.id)}</Link> <span className='muted xs'>#{row.id}</span>
          {row.noStore && <span className='sub'>{t.tunnels.fromAgent}</span>}
          <span className='sub only-narrow'>{entryOf(row, t.tunnels.byPassword)}</span>
        </>
      ),
    },
    { key: 'state', head: t.list.state, sort: 'RUNNING', isState: true, cell: (row) => <TunnelStateCell of={row} /> },
    { key: 'type', head: heads.type, sort: 'MODE', leaves: 2, cell: ({ mode }) => <span className='type'>{t.tunnels.short[mode]}</span> },
    { key: 'entry', head: heads.entry, sort: 'PORT', leaves: 1, cell: (row) => <span className='mono'>{entryOf(row, t.tunnels.byPassword)}</span> },
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
    ...(isOfClient ? [] : [
      {
        key: 'client',
        head: heads.client,
        sort: 'CLIENT_ID',
        leaves: 3,
        cell: ({ client }: TunnelRowFragment) => <Link className='name' href={`/clients/${client.id}`}>{client.remark || t.clients.nameless(client.id)}</Link>,
      } as const,
    ]),
    { key: 'connections', head: heads.connections, leaves: 3, isNumber: true, cell: ({ runtime }) => f.number(runtime.connections) },
    { key: 'rate', head: heads.rate, leaves: 2, isNumber: true, cell: ({ runtime }) => f.rate(runtime.rate) },
    { key: 'moved', head: heads.moved, leaves: 4, isNumber: true, cell: ({ runtime }) => f.bytes(runtime.inletBytes + runtime.exportBytes) },
  ];
  const [shown, chooser] = useColumns('tunnels', columns);
  const finish = (isDone: boolean): void => {
    if (isDone) onChange();
  };
  const menu = (row: TunnelRowFragment): ReactNode => (
    <RowMenu
      name={row.remark || t.tunnels.nameless(row.id)}
      entries={[
        { label: t.actions.change, onChoose: () => navigate(`/tunnels/${row.id}`) },
        { label: t.actions.diagnose, onChoose: () => navigate(`/diagnosis?tunnel=${row.id}`) },
        row.enabled
          ? { label: t.actions.disable, onChoose: () => void actions.stop([row]).then(finish) }
          : { label: t.actions.enable, onChoose: () => void actions.start([row]).then(finish) },
        { label: t.tunnels.copyTunnel, onChoose: () => void actions.copy(row.id).then(finish) },
        { label: t.traffic.reset, onChoose: () => void actions.resetTraffic(row.id) },
        { label: t.actions.delete, isDanger: true, onChoose: () => void actions.remove([row]).then(finish) },
      ]}
    />
  );
  const table = (
    <Table
      caption={t.tunnels.title}
      rows={rows?.map((row) => unmask(tunnelRow, row))}
      columns={shown}
      idOf={({ id }) => id}
      nameOf={({ remark, id }) => remark || t.tunnels.nameless(id)}
      {...(list && { list })}
      {...(!readOnly && { menu })}
      {...(selection && { selection })}
    />
  );
  return [table, chooser];
}

/** Where visitors enter: the address, or the port if the server's public address is unknown. */
function entryOf({ publicAddress, port }: TunnelRowFragment, byPassword: string): string {
  return publicAddress ?? (port === null || port === undefined ? byPassword : `:${port}`);
}
