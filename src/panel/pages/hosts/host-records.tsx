import { Link, useLocation } from 'wouter';
import { graphql } from '../../generated/index.ts';
import type { HostRowFragment } from '../../generated/graphql.ts';
import { useLanguage } from '../../language/language.tsx';
import { Address } from '../../parts/address.tsx';
import type { Records } from '../../parts/records.tsx';
import { useViewer } from '../../shell/viewer.tsx';
import { useServedColumns } from '../served/columns.tsx';
import { useHostActions } from './host-actions.tsx';
import { CertificateCell, HostStateCell } from './host-state.tsx';
import { visitorUrl } from './visitor-url.ts';

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

/** The changes of hosts, with all that a list shows of them. */
export const hostChanges = graphql(`
  subscription HostChanged { hostChanged { id host { id ...HostRow } } }
`);

/** Hosts, as lists show them. @param isOfClient on the page of a client: without the column of the client */
export function useHosts({ isOfClient = false } = {}): Records<HostRowFragment> {
  const { t } = useLanguage();
  const { readOnly, server } = useViewer();
  const actions = useHostActions();
  const [, navigate] = useLocation();
  const heads = t.hosts.columns;
  const served = useServedColumns(heads, isOfClient);
  // A wildcard has no public URL, since its names are unknown.
  const addressOf = ({ publicUrls: [url], scheme, host, location }: HostRowFragment): string => url ?? visitorUrl(server, scheme, host, location);
  const nameOf = (row: HostRowFragment): string => row.location === '/' ? addressOf(row).slice(0, -1) : addressOf(row);
  const columns: Records<HostRowFragment>['columns'] = [
    {
      key: 'name',
      head: heads.name,
      sort: 'HOST',
      cell: (row) => (
        <>
          <Link className='name' href={`/hosts/${row.id}`}>
            <Address text={nameOf(row)} atDots />
          </Link>
          <span className='sub'>{row.host.startsWith('*.') ? t.hosts.allBelow : row.noStore ? t.hosts.fromAgent : row.remark}</span>
          <span className='sub only-narrow'>
            <CertificateCell of={row} isNamed />
          </span>
        </>
      ),
    },
    { key: 'state', head: t.list.state, sort: 'PROBLEMS', isState: true, cell: (row) => <HostStateCell of={row} /> },
    { key: 'certificate', head: heads.certificate, sort: 'CERTIFICATE', leaves: 1, cell: (row) => <CertificateCell of={row} /> },
    { key: 'target', head: heads.target, sort: 'TARGET', leaves: 2, cell: ({ targets }) => <span className='mono'>{targets.join(', ')}</span> },
    ...served,
  ];
  return {
    name: 'hosts',
    icon: 'host',
    texts: t.hosts,
    columns,
    nameOf,
    actions,
    mayChange: !readOnly,
    editPath: ({ id }) => `/hosts/${id}`,
    menu: (row, onDone) => {
      const { startOrStop, resetTraffic, remove } = actions.entries(row, onDone);
      return [
        { label: t.actions.diagnose, onChoose: () => navigate(`/diagnosis?url=${encodeURIComponent(addressOf(row))}`) },
        startOrStop,
        resetTraffic,
        remove,
      ];
    },
  };
}
