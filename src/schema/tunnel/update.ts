import { transportOf } from '../../rules/tunnel-mode.ts';
import type { Tunnel } from '../../store/generated/sqlite/client.ts';
import { usableClient, usableTunnel } from '../access.ts';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';
import { Problems } from '../problems.ts';
import { checkSlot } from '../slot.ts';
import { tunnelColumns, type TunnelValues } from './input.ts';
import { sameListener, writeWithPort } from './listener.ts';
import { checkMode, keyOf } from './mode.ts';
import { withUniqueKey } from './unique-key.ts';

/** /index/edit/ (contract 2.4, D7 to D10, D23). @param noStore the agent that brought it along changes it */
export async function updateTunnel(context: Context, id: number, input: TunnelValues, noStore = false): Promise<Tunnel> {
  const problems = new Problems();
  const columns = tunnelColumns(problems, input, context.settings);
  return problems.during(() => writeWithPort(context, async (tx, changed, leasePort) => {
    const { client: from, ...before } = await usableTunnel(context, tx, id);
    if (before.noStore && !noStore) throw new AditError('AGENTS_OWN', { resource: 'tunnel' });
    const wanted = nextTunnel(before, input, columns);
    const next = { ...wanted, password: problems.check(() => keyOf(wanted)) ?? '' };
    if (next.mode !== before.mode) problems.check(() => checkMode(context, next.mode), 'mode');
    const to = next.clientId === before.clientId ? undefined : await problems.later(() => usableClient(context, tx, next.clientId), 'clientId');
    const lease = input.port === 0 || !sameListener(before, next) ? await problems.later(() => leasePort({ ...next, replaces: id }), 'port') : undefined;
    if (to !== undefined) problems.check(() => checkSlot(to, from.userId), 'clientId');
    problems.end();
    const data = { ...columns, ...next, port: lease?.port ?? next.port };
    const after = problems.required(await problems.later(() => withUniqueKey(context, to ?? from, next, before, () => tx.tunnel.update({ where: { id }, data })), 'password'));
    changed({ resource: 'tunnel', action: 'update', before, after, lease });
    return after;
  }, { alone: true }));
}

/** /index/del/ (contract 2.4, D5). */
export function deleteTunnel(context: Context, id: number): Promise<number> {
  return context.write(async (tx, changed) => {
    const { client: _, ...before } = await usableTunnel(context, tx, id);
    await tx.tunnel.delete({ where: { id } });
    changed({ resource: 'tunnel', action: 'delete', before });
    return id;
  });
}

/** What the rules decide on of the tunnel as it is to be; the port is 0 when one has to be picked. */
function nextTunnel(before: Tunnel, input: TunnelValues, columns: ReturnType<typeof tunnelColumns>) {
  const mode = input.mode ?? before.mode;
  return {
    clientId: input.clientId || before.clientId,
    mode,
    port: transportOf(mode) === undefined ? 0 : input.port ?? before.port,
    serverIp: columns.serverIp ?? before.serverIp,
    password: columns.password ?? before.password,
  };
}
