import { useRun } from '../../api/use.ts';
import { graphql } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { Impact } from '../../parts/impact.tsx';
import { type RecordActions, useRecordActions } from '../../parts/record-actions.tsx';
import { useReport } from '../../parts/toast.tsx';

const change = graphql(`
  mutation ChangeTunnels($ids: [ID!]!, $change: TunnelChange!) { changeTunnels(ids: $ids, change: $change) { id code message } }
`);
const copy = graphql(`
  mutation CopyTunnel($id: ID!) { copyTunnel(id: $id) { id } }
`);
const reset = graphql(`
  mutation ResetTunnelTraffic($id: ID!) { resetTunnelTraffic(id: $id) { id runtime { inletBytes exportBytes } } }
`);

/** The names of the changes in the API. */
const changes = { start: 'START', stop: 'STOP', delete: 'DELETE' } as const;

/** What a question about a tunnel names. */
interface AffectedTunnel {
  readonly id: string;
  readonly remark: string;
  readonly enabled: boolean;
}

/** The actions on tunnels. `copy` resolves with whether it was done. */
export function useTunnelActions(): RecordActions<AffectedTunnel> & { readonly copy: (id: string) => Promise<boolean> } {
  const { t } = useLanguage();
  const run = useRun();
  const report = useReport();
  const texts = t.tunnels;
  const nameOf = ([first]: readonly AffectedTunnel[]): string => first === undefined ? '' : first.remark || texts.nameless(first.id);
  const actions = useRecordActions<AffectedTunnel>({
    async change(ids, kind) {
      const { data, error } = await run(change, { ids, change: changes[kind] });
      return { results: data?.changeTunnels, error };
    },
    resetTraffic: (id) => run(reset, { id }),
    texts,
    verbs: t.actions,
    questions: {
      reset: (tunnel) => ({ title: t.traffic.resetTitle(nameOf([tunnel])), body: <p>{t.traffic.resetText}</p>, action: t.traffic.reset }),
      stop: (tunnels) => ({
        title: texts.stopTitle(tunnels.length, nameOf(tunnels)),
        body: <Impact resource='TUNNEL' ids={tunnels.map(({ id }) => id)} text={texts.stopText} />,
        action: t.actions.stop,
      }),
      delete: (tunnels) => ({
        title: texts.deleteTitle(tunnels.length, nameOf(tunnels)),
        body: <Impact resource='TUNNEL' ids={tunnels.map(({ id }) => id)} text={texts.deleteText} />,
        action: texts.deleteAction(tunnels.length),
      }),
    },
  });
  return {
    ...actions,
    async copy(id) {
      return report((await run(copy, { id })).error, texts.copied);
    },
  };
}
