import { useState } from 'react';
import { Link } from 'wouter';
import { useEvents } from '../../api/live.ts';
import { useData, useRun } from '../../api/use.ts';
import { graphql } from '../../generated/index.ts';
import type { ConnectionsEverySecondSubscription } from '../../generated/graphql.ts';
import { useLanguage } from '../../language/language.tsx';
import { Empty } from '../../parts/banner.tsx';
import { useConfirm } from '../../parts/confirm.tsx';
import { Failure } from '../../parts/failure.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useReport } from '../../parts/toast.tsx';
import { useViewer } from '../../shell/viewer.tsx';

const connections = graphql(`
  subscription ConnectionsEverySecond($clientId: ID!) {
    connectionsEverySecond(clientId: $clientId) {
      total
      rows { id address since inletBytes exportBytes rate tunnel { id } host { id host } }
    }
  }
`);
/** The names of tunnels: with them, an event of 200 connections would cost too much. */
const names = graphql(`
  query TunnelNames($clientId: ID!) { tunnels(filter: { clientId: $clientId }, limit: 200) { rows { id remark } } }
`);
const close = graphql(`
  mutation CloseConnection($clientId: ID!, $id: ID!) { closeConnection(clientId: $clientId, id: $id) }
`);

type Page = ConnectionsEverySecondSubscription['connectionsEverySecond'];
type Row = Page['rows'][number];

/** The open connections of a client's visitors, once a second, each with a button that ends it. */
export function Connections({ clientId }: { readonly clientId: string }) {
  const { t, f } = useLanguage();
  const { readOnly } = useViewer();
  const run = useRun();
  const ask = useConfirm();
  const report = useReport();
  const [page, setPage] = useState<Page>();
  const failure = useEvents(connections, { clientId }, ({ connectionsEverySecond }) => setPage(connectionsEverySecond));
  const { data } = useData(names, { clientId });
  const nameOf = (id: string): string => data?.tunnels.rows.find((tunnel) => tunnel.id === id)?.remark || t.tunnels.nameless(id);
  const heads = t.clients.connections;
  const throughOf = ({ tunnel, host }: Row): string => tunnel ? nameOf(tunnel.id) : host?.host ?? '';
  async function disconnect(row: Row): Promise<void> {
    const body = <p>{heads.closeText(throughOf(row))}</p>;
    if (!await ask({ title: heads.closeTitle(row.address), body, action: t.actions.disconnect })) return;
    report((await run(close, { clientId, id: row.id })).error, heads.closed);
  }
  if (page?.total === 0) return <Empty icon='session' title={heads.none}>{heads.noneText}</Empty>;
  const columns: ReadonlyArray<Column<Row>> = [
    {
      key: 'visitor',
      head: heads.visitor,
      cell: ({ address }) => <span className='mono'>{address}</span>,
    },
    {
      key: 'through',
      head: heads.through,
      isState: true,
      cell: ({ tunnel, host }) =>
        tunnel
          ? <Link className='name' href={`/tunnels/${tunnel.id}`}>{nameOf(tunnel.id)}</Link>
          : host && <Link className='name' href={`/hosts/${host.id}`}>{host.host}</Link>,
    },
    { key: 'since', head: heads.since, leaves: 2, cell: ({ since }) => f.duration(Date.now() - Date.parse(since)) },
    { key: 'in', head: heads.fromVisitor, leaves: 3, isNumber: true, cell: ({ inletBytes }) => f.bytes(inletBytes) },
    { key: 'out', head: heads.toVisitor, leaves: 2, isNumber: true, cell: ({ exportBytes }) => f.bytes(exportBytes) },
    { key: 'rate', head: heads.rate, leaves: 1, isNumber: true, cell: ({ rate }) => f.rate(rate) },
  ];
  return (
    <>
      <Failure error={failure} />
      <Table
        caption={heads.caption}
        rows={page?.rows}
        columns={columns}
        idOf={({ id }) => id}
        nameOf={({ address }) => address}
        {...(!readOnly && {
          menu: (row: Row) => (
            <button
              type='button'
              className='btn btn-s'
              aria-label={t.actions.disconnect + t.punctuation.colon + row.address}
              onClick={() => void disconnect(row)}
            >
              {t.actions.disconnect}
            </button>
          ),
        })}
      />
      {page && <p className='card-foot'>{t.list.range(Math.min(1, page.total), page.rows.length, page.total)}</p>}
    </>
  );
}
