import { graphql } from '../../generated/index.ts';
import { useRun } from '../../api/use.ts';
import { useLanguage } from '../../language/language.tsx';
import { type RecordActions, useRecordActions } from '../../parts/record-actions.tsx';

const change = graphql(`
  mutation ChangeClients($ids: [ID!]!, $change: ClientChange!) { changeClients(ids: $ids, change: $change) { id code message } }
`);
const reset = graphql(`
  mutation ResetClientTraffic($id: ID!) { resetClientTraffic(id: $id) { id runtime { inletBytes exportBytes } } }
`);

/** The names of the changes in the API. */
const changes = { start: 'ENABLE', stop: 'DISABLE', delete: 'DELETE' } as const;

/** What a question about a client names. */
interface AffectedClient {
  readonly id: string;
  readonly remark: string;
  readonly enabled: boolean;
  readonly runtime: { readonly connected: boolean; readonly connections: number };
  readonly tunnels: { readonly total: number };
  readonly hosts: { readonly total: number };
}

/** What else changes with these clients. */
function Affected({ clients, text, more }: { readonly clients: readonly AffectedClient[]; readonly text: string; readonly more?: string }) {
  const { t } = useLanguage();
  const sum = (of: (client: AffectedClient) => number): number => clients.reduce((total, client) => total + of(client), 0);
  const { affected } = t.clients;
  return (
    <>
      <p>{text}</p>
      <ul>
        <li>{affected.agents(sum(({ runtime }) => Number(runtime.connected)))}</li>
        <li>{affected.tunnels(sum(({ tunnels }) => tunnels.total))}</li>
        <li>{affected.hosts(sum(({ hosts }) => hosts.total))}</li>
        <li>{affected.connections(sum(({ runtime }) => runtime.connections))}</li>
      </ul>
      {more !== undefined && <p className='small muted'>{more}</p>}
    </>
  );
}

/** The actions on clients. */
export function useClientActions(): RecordActions<AffectedClient> {
  const { t } = useLanguage();
  const run = useRun();
  const texts = t.clients;
  const nameOf = (clients: readonly AffectedClient[]): string => {
    const [first] = clients;
    return clients.length === 1 && first !== undefined ? first.remark || texts.nameless(first.id) : t.list.selected(clients.length);
  };
  return useRecordActions<AffectedClient>({
    async change(ids, kind) {
      const { data, error } = await run(change, { ids, change: changes[kind] });
      return { results: data?.changeClients, error };
    },
    resetTraffic: (id) => run(reset, { id }),
    texts,
    questions: {
      stop: (clients) => ({
        title: texts.stopTitle(nameOf(clients)),
        body: <Affected clients={clients} text={texts.stopText} />,
        action: t.actions.disable,
      }),
      delete: (clients) => ({
        title: texts.deleteTitle(clients.length, nameOf(clients)),
        body: <Affected clients={clients} text={texts.deleteText} more={texts.stopMilder} />,
        action: texts.deleteAll(clients.length),
      }),
    },
  });
}
