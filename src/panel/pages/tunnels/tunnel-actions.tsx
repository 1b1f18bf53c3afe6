import { useRun } from '../../api/use.ts';
import { graphql } from '../../generated/index.ts';
import { useLanguage } from '../../language/language.tsx';
import { runForAll } from '../../parts/bulk.tsx';
import { useConfirm } from '../../parts/confirm.tsx';
import { useToast } from '../../parts/toast.tsx';

const start = graphql(`
  mutation StartTunnel($id: ID!) { startTunnel(id: $id) { id ...TunnelState } }
`);
const stop = graphql(`
  mutation StopTunnel($id: ID!) { stopTunnel(id: $id) { id ...TunnelState } }
`);
const remove = graphql(`
  mutation DeleteTunnel($id: ID!) { deleteTunnel(id: $id) }
`);
const copy = graphql(`
  mutation CopyTunnel($id: ID!) { copyTunnel(id: $id) { id } }
`);
const reset = graphql(`
  mutation ResetTunnelTraffic($id: ID!) { resetTunnelTraffic(id: $id) { id runtime { inletBytes exportBytes } } }
`);

/** What a question about a tunnel names. */
export interface AffectedTunnel {
  readonly id: string;
  readonly remark: string;
  readonly runtime: { readonly connections: number };
}

/** The actions on tunnels. Each resolves with whether something was done. */
export function useTunnelActions() {
  const { t } = useLanguage();
  const run = useRun();
  const ask = useConfirm();
  const toast = useToast();
  const texts = t.tunnels;
  const nameOf = ([first]: readonly AffectedTunnel[]): string => first === undefined ? '' : first.remark || texts.nameless(first.id);
  const connectionsOf = (tunnels: readonly AffectedTunnel[]): number => tunnels.reduce((sum, { runtime }) => sum + runtime.connections, 0);

  async function forAll(tunnels: readonly AffectedTunnel[], kind: 'start' | 'stop' | 'delete'): Promise<boolean> {
    const mutations = { start, stop, delete: remove };
    const { done, failed } = await runForAll(tunnels.map(({ id }) => id), (id) => run<unknown, { id: string }>(mutations[kind], { id }), t);
    toast([texts.done[kind](done.length), ...[...failed].map(([reason, ids]) => texts.notDone(ids.length, reason))].join('; '));
    return done.length > 0;
  }

  return {
    start: (tunnels: readonly AffectedTunnel[]) => forAll(tunnels, 'start'),
    async stop(tunnels: readonly AffectedTunnel[]): Promise<boolean> {
      const title = texts.stopTitle(tunnels.length, nameOf(tunnels));
      return await ask({ title, body: <p>{texts.stopText(connectionsOf(tunnels))}</p>, action: t.actions.disable }) && await forAll(tunnels, 'stop');
    },
    async remove(tunnels: readonly AffectedTunnel[]): Promise<boolean> {
      const title = texts.deleteTitle(tunnels.length, nameOf(tunnels));
      const body = <p>{texts.deleteText(connectionsOf(tunnels))}</p>;
      return await ask({ title, body, action: texts.deleteAction(tunnels.length) }) && await forAll(tunnels, 'delete');
    },
    async copy(id: string): Promise<boolean> {
      const { error } = await run(copy, { id });
      if (error === undefined) toast(texts.copied);
      return error === undefined;
    },
    async resetTraffic(id: string): Promise<void> {
      const { error } = await run(reset, { id });
      if (error === undefined) toast(t.form.saved);
    },
  };
}
