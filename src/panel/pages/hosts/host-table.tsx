import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { type FragmentType, graphql, unmask } from '../../generated/index.ts';
import type { HostRowFragment } from '../../generated/graphql.ts';
import { useLanguage } from '../../language/language.tsx';
import type { ListState } from '../../parts/list-state.ts';
import { useColumns } from '../../parts/list-tools.tsx';
import { RowMenu } from '../../parts/menu.tsx';
import { type Column, type Selection, Table } from '../../parts/table.tsx';
import { useViewer } from '../../shell/viewer.tsx';
import { useHostActions } from './host-actions.tsx';
import { CertificateCell, HostStateCell } from './host-state.tsx';

/** A host in a list. */
export const hostRow = graphql(`
  fragment HostRow on Host {
    id host location scheme remark publicUrls targets enabled noStore
    client { id remark }
    runtime { connections rate inletBytes exportBytes }
    ...HostState
    ...HostCertificateState
  }
`);

interface HostTableProps {
  readonly rows: ReadonlyArray<FragmentType<typeof hostRow>> | undefined;
  readonly list?: ListState;
  readonly selection?: Selection;
  /** On the page of a client: the column of the client is left out. */
  readonly isOfClient?: boolean;
  readonly onChange: () => void;
}

/** The table of hosts, and the window to choose its columns. */
export function useHostTable({ rows, list, selection, isOfClient = false, onChange }: HostTableProps): readonly [table: ReactNode, chooser: ReactNode] {
  const { t, f } = useLanguage();
  const { readOnly } = useViewer();
  const actions = useHostActions();
  const [, navigate] = useLocation();
  const heads = t.hosts.columns;
  const columns: ReadonlyArray<Column<HostRowFragment>> = [
    {
      key: 'name',
      head: heads.name,
      sort: 'HOST',
      cell: (row) => (
        <>
          <Link className='name' href={`/hosts/${row.id}`}>{addressOf(row)}</Link>
          <span className='sub'>{row.host.startsWith('*.') ? t.hosts.allBelow : row.noStore ? t.hosts.fromAgent : row.remark}</span>
          <span className='sub only-narrow'>
            <CertificateCell of={row} />
          </span>
        </>
      ),
    },
    { key: 'state', head: t.list.state, sort: 'CONNECTED', isState: true, cell: (row) => <HostStateCell of={row} /> },
    { key: 'certificate', head: heads.certificate, leaves: 1, cell: (row) => <CertificateCell of={row} /> },
    { key: 'target', head: heads.target, sort: 'TARGET', leaves: 2, cell: ({ targets }) => <span className='mono'>{targets.join(', ')}</span> },
    ...(isOfClient ? [] : [
      {
        key: 'client',
        head: heads.client,
        sort: 'CLIENT_ID',
        leaves: 3,
        cell: ({ client }: HostRowFragment) => <Link className='name' href={`/clients/${client.id}`}>{client.remark || t.clients.nameless(client.id)}</Link>,
      } as const,
    ]),
    { key: 'connections', head: heads.connections, leaves: 3, isNumber: true, cell: ({ runtime }) => f.number(runtime.connections) },
    { key: 'rate', head: heads.rate, leaves: 2, isNumber: true, cell: ({ runtime }) => f.rate(runtime.rate) },
    { key: 'moved', head: heads.moved, leaves: 4, isNumber: true, cell: ({ runtime }) => f.bytes(runtime.inletBytes + runtime.exportBytes) },
  ];
  const [shown, chooser] = useColumns('hosts', columns);
  const finish = (isDone: boolean): void => {
    if (isDone) onChange();
  };
  const menu = (row: HostRowFragment): ReactNode => (
    <RowMenu
      name={addressOf(row)}
      entries={[
        { label: t.actions.change, onChoose: () => navigate(`/hosts/${row.id}`) },
        { label: t.actions.diagnose, onChoose: () => navigate(`/diagnosis?url=${encodeURIComponent(addressOf(row))}`) },
        row.enabled
          ? { label: t.actions.disable, onChoose: () => void actions.stop([row]).then(finish) }
          : { label: t.actions.enable, onChoose: () => void actions.start([row]).then(finish) },
        { label: t.traffic.reset, onChoose: () => void actions.resetTraffic(row.id) },
        { label: t.actions.delete, isDanger: true, onChoose: () => void actions.remove([row]).then(finish) },
      ]}
    />
  );
  const table = (
    <Table
      caption={t.hosts.title}
      rows={rows?.map((row) => unmask(hostRow, row))}
      columns={shown}
      idOf={({ id }) => id}
      nameOf={addressOf}
      {...(list && { list })}
      {...(!readOnly && { menu })}
      {...(selection && { selection })}
    />
  );
  return [table, chooser];
}

/** The URL as visitors use it. */
function addressOf({ publicUrls: [url], scheme, host, location }: HostRowFragment): string {
  return url ?? `${scheme === 'HTTP' ? 'http' : 'https'}://${host}${location || '/'}`;
}
