import { Link } from 'wouter';
import { useLanguage } from '../../language/language.tsx';
import type { Column } from '../../parts/table.tsx';

interface ServedRow {
  readonly client: { readonly id: string; readonly remark: string };
  readonly runtime: { readonly connections: number; readonly rate: number; readonly inletBytes: number; readonly exportBytes: number };
}

/** The columns that the lists of tunnels and hosts end with. @param isOfClient on the page of a client: without the column of the client */
export function useServedColumns(
  heads: Readonly<Record<'client' | 'connections' | 'rate' | 'moved', string>>,
  isOfClient: boolean,
): ReadonlyArray<Column<ServedRow>> {
  const { t, f } = useLanguage();
  const client: Column<ServedRow> = {
    key: 'client',
    head: heads.client,
    sort: 'CLIENT_ID',
    leaves: 3,
    cell: ({ client: { id, remark } }) => <Link className='name' href={`/clients/${id}`}>{remark || t.clients.nameless(id)}</Link>,
  };
  return [
    ...(isOfClient ? [] : [client]),
    { key: 'connections', head: heads.connections, sort: 'CONNECTIONS', leaves: 3, isNumber: true, cell: ({ runtime }) => f.number(runtime.connections) },
    { key: 'rate', head: heads.rate, sort: 'RATE', leaves: 2, isNumber: true, cell: ({ runtime }) => f.rate(runtime.rate) },
    { key: 'moved', head: heads.moved, leaves: 4, isNumber: true, cell: ({ runtime }) => f.bytes(runtime.inletBytes + runtime.exportBytes) },
  ];
}
