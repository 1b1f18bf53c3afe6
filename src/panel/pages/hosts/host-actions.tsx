import { useRun } from '../../api/use.ts';
import { graphql } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { Impact } from '../../parts/impact.tsx';
import { type RecordActions, useRecordActions } from '../../parts/record-actions.tsx';
import { hostName } from './host-name.ts';

const change = graphql(`
  mutation ChangeHosts($ids: [ID!]!, $change: HostChange!) { changeHosts(ids: $ids, change: $change) { id code message } }
`);
const reset = graphql(`
  mutation ResetHostTraffic($id: ID!) { resetHostTraffic(id: $id) { id runtime { inletBytes exportBytes } } }
`);

/** The names of the changes in the API. */
const changes = { start: 'START', stop: 'STOP', delete: 'DELETE' } as const;

/** What a question about a host names. */
interface AffectedHost {
  readonly id: string;
  readonly host: string;
  readonly location: string;
  readonly enabled: boolean;
}

/** The actions on hosts. */
export function useHostActions(): RecordActions<AffectedHost> {
  const { t } = useLanguage();
  const run = useRun();
  const texts = t.hosts;
  const nameOf = ([first]: readonly AffectedHost[]): string => first === undefined ? '' : hostName(first);
  return useRecordActions<AffectedHost>({
    async change(ids, kind) {
      const { data, error } = await run(change, { ids, change: changes[kind] });
      return { results: data?.changeHosts, error };
    },
    resetTraffic: (id) => run(reset, { id }),
    texts,
    verbs: t.actions,
    questions: {
      reset: (host) => ({ title: t.traffic.resetTitle(nameOf([host])), body: <p>{t.traffic.resetText}</p>, action: t.traffic.reset }),
      stop: (hosts) => ({
        title: texts.stopTitle(hosts.length, nameOf(hosts)),
        body: <Impact resource='HOST' ids={hosts.map(({ id }) => id)} text={texts.stopText} />,
        action: t.actions.stop,
      }),
      delete: (hosts) => ({
        title: texts.deleteTitle(hosts.length, nameOf(hosts)),
        body: <Impact resource='HOST' ids={hosts.map(({ id }) => id)} text={texts.deleteText} />,
        action: texts.deleteAction(hosts.length),
      }),
    },
  });
}
