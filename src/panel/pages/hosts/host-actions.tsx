import { useRun } from '../../api/use.ts';
import { graphql } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { runForAll } from '../../parts/bulk.tsx';
import { useConfirm } from '../../parts/confirm.tsx';
import { useToast } from '../../parts/toast.tsx';

const start = graphql(`
  mutation StartHost($id: ID!) { startHost(id: $id) { id ...HostState } }
`);
const stop = graphql(`
  mutation StopHost($id: ID!) { stopHost(id: $id) { id ...HostState } }
`);
const remove = graphql(`
  mutation DeleteHost($id: ID!) { deleteHost(id: $id) }
`);
const reset = graphql(`
  mutation ResetHostTraffic($id: ID!) { resetHostTraffic(id: $id) { id runtime { inletBytes exportBytes } } }
`);

/** What a question about a host names. */
export interface AffectedHost {
  readonly id: string;
  readonly host: string;
  readonly location: string;
  readonly runtime: { readonly connections: number };
}

/** The actions on hosts. Each resolves with whether something was done. */
export function useHostActions() {
  const { t } = useLanguage();
  const run = useRun();
  const ask = useConfirm();
  const toast = useToast();
  const texts = t.hosts;
  const nameOf = ([first]: readonly AffectedHost[]): string => first === undefined ? '' : first.host + first.location;
  const connectionsOf = (hosts: readonly AffectedHost[]): number => hosts.reduce((sum, { runtime }) => sum + runtime.connections, 0);

  async function forAll(hosts: readonly AffectedHost[], kind: 'start' | 'stop' | 'delete'): Promise<boolean> {
    const mutations = { start, stop, delete: remove };
    const { done, failed } = await runForAll(hosts.map(({ id }) => id), (id) => run<unknown, { id: string }>(mutations[kind], { id }), t);
    toast([texts.done[kind](done.length), ...[...failed].map(([reason, ids]) => texts.notDone(ids.length, reason))].join('; '));
    return done.length > 0;
  }

  return {
    start: (hosts: readonly AffectedHost[]) => forAll(hosts, 'start'),
    async stop(hosts: readonly AffectedHost[]): Promise<boolean> {
      const title = texts.stopTitle(hosts.length, nameOf(hosts));
      return await ask({ title, body: <p>{texts.stopText(connectionsOf(hosts))}</p>, action: t.actions.disable }) && await forAll(hosts, 'stop');
    },
    async remove(hosts: readonly AffectedHost[]): Promise<boolean> {
      const title = texts.deleteTitle(hosts.length, nameOf(hosts));
      const body = <p>{texts.deleteText(connectionsOf(hosts))}</p>;
      return await ask({ title, body, action: texts.deleteAction(hosts.length) }) && await forAll(hosts, 'delete');
    },
    async resetTraffic(id: string): Promise<void> {
      const { error } = await run(reset, { id });
      if (error === undefined) toast(t.form.saved);
    },
  };
}
