import { graphql } from '../../generated/index.ts';
import { useRun } from '../../api/use.ts';
import { useLanguage } from '../../language/language.tsx';
import { runForAll } from '../../parts/bulk.tsx';
import { useConfirm } from '../../parts/confirm.tsx';
import { useToast } from '../../parts/toast.tsx';

const setEnabled = graphql(`
  mutation SetClientEnabled($id: ID!, $enabled: Boolean!) { setClientEnabled(id: $id, enabled: $enabled) { id ...ClientState } }
`);
const remove = graphql(`
  mutation DeleteClient($id: ID!) { deleteClient(id: $id) }
`);
const reset = graphql(`
  mutation ResetClientTraffic($id: ID!) { resetClientTraffic(id: $id) { id runtime { inletBytes exportBytes } } }
`);

/** What a question about a client names. */
export interface AffectedClient {
  readonly id: string;
  readonly remark: string;
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

/** The actions on clients. Each resolves with whether something was done. */
export function useClientActions() {
  const { t } = useLanguage();
  const run = useRun();
  const ask = useConfirm();
  const toast = useToast();
  const nameOf = (clients: readonly AffectedClient[]): string => {
    const [first] = clients;
    return clients.length === 1 && first !== undefined ? first.remark || t.clients.nameless(first.id) : t.list.selected(clients.length);
  };

  async function forAll(clients: readonly AffectedClient[], kind: 'start' | 'stop' | 'delete'): Promise<boolean> {
    const { done, failed } = await runForAll(
      clients.map(({ id }) => id),
      (id) => kind === 'delete' ? run(remove, { id }) : run(setEnabled, { id, enabled: kind === 'start' }),
      t,
    );
    toast([t.clients.done[kind](done.length), ...[...failed].map(([reason, ids]) => t.clients.notDone(ids.length, reason))].join('; '));
    return done.length > 0;
  }

  return {
    start: (clients: readonly AffectedClient[]) => forAll(clients, 'start'),
    async stop(clients: readonly AffectedClient[]): Promise<boolean> {
      const body = <Affected clients={clients} text={t.clients.stopText} />;
      const isYes = await ask({ title: t.clients.stopTitle(nameOf(clients)), body, action: t.clients.stopAll });
      return isYes && await forAll(clients, 'stop');
    },
    async remove(clients: readonly AffectedClient[]): Promise<boolean> {
      const body = <Affected clients={clients} text={t.clients.deleteText} more={t.clients.stopMilder} />;
      const title = t.clients.deleteTitle(clients.length, nameOf(clients));
      const isYes = await ask({ title, body, action: t.clients.deleteAll(clients.length) });
      return isYes && await forAll(clients, 'delete');
    },
    async resetTraffic(id: string): Promise<void> {
      const { error } = await run(reset, { id });
      if (error === undefined) toast(t.form.saved);
    },
  };
}
