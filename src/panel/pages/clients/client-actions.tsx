import { graphql } from '../../generated/index.ts';
import { useRun } from '../../api/use.ts';
import { useLanguage } from '../../language/language.tsx';
import { Impact } from '../../parts/impact.tsx';
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
    verbs: { start: t.actions.enable, stop: t.actions.disable },
    questions: {
      reset: (client) => ({ title: t.traffic.resetTitle(nameOf([client])), body: <p>{t.clients.resetText}</p>, action: t.traffic.reset }),
      stop: (clients) => ({
        title: texts.stopTitle(nameOf(clients)),
        body: <Impact resource='CLIENT' ids={clients.map(({ id }) => id)} text={texts.stopText} />,
        action: t.actions.disable,
      }),
      delete: (clients) => ({
        title: texts.deleteTitle(clients.length, nameOf(clients)),
        body: <Impact resource='CLIENT' ids={clients.map(({ id }) => id)} text={texts.deleteText} note={texts.stopMilder} />,
        action: texts.deleteAll(clients.length),
      }),
    },
  });
}
