import type { Prisma, Tunnel } from '../../store/generated/sqlite/client.ts';
import type { Transaction } from '../../store/transaction.ts';
import { usableTunnel } from '../access.ts';
import type { Context } from '../context.ts';
import { Problems } from '../problems.ts';
import { clientWithRoom } from '../slot.ts';
import { tunnelColumns, type TunnelValues } from './input.ts';
import { writeWithPort } from './listener.ts';
import { checkMode, keyOf } from './mode.ts';
import { withUniqueKey } from './unique-key.ts';

/** A tunnel that isn't stored yet. */
interface NewTunnel {
  readonly columns: Omit<Prisma.TunnelUncheckedCreateInput, 'id' | 'port'> & Pick<Tunnel, 'mode' | 'serverIp' | 'password'>;
  /** 0 = one is assigned. */
  readonly port: number;
  /** Whose password is no guess: the tunnel that is copied, or this one with a generated password. */
  readonly known?: Pick<Tunnel, 'mode' | 'password'>;
}

/** /index/add/ (contract 2.4). In the order of contract 2.4: mode, port, client, quotas, key. @param noStore an agent brings it along */
export async function createTunnel(context: Context, input: TunnelValues, noStore = false): Promise<Tunnel> {
  const { mode, clientId, port } = input;
  const problems = new Problems();
  return problems.during(async () => {
    problems.check(() => checkMode(context, mode ?? ''), 'mode');
    const { serverIp = '', password: given = '', ...columns } = tunnelColumns(problems, input, context.settings);
    const wanted = { mode: mode ?? '', password: given };
    const password = problems.check(() => keyOf(wanted)) ?? '';
    const made = { columns: { ...columns, mode: wanted.mode, serverIp, password, clientId: clientId ?? 0, noStore }, port: port ?? 0, known: password === given ? undefined : { mode: wanted.mode, password } };
    return addTunnel(context, problems, async () => made);
  });
}

/** /index/copy/ (contract 2.4): a port of its own, all other settings as the source has them (contract 2.4, D21). */
export function copyTunnel(context: Context, id: number): Promise<Tunnel> {
  const problems = new Problems(null);
  return problems.during(() => addTunnel(context, problems, async (tx) => {
    const source = await usableTunnel(context, tx, id);
    checkMode(context, source.mode);
    const { clientId, mode, remark, serverIp, target, localProxy, password, localPath, stripPrefix, proxyProtocol } = source;
    return { columns: { clientId, mode, remark, serverIp, target, localProxy, password, localPath, stripPrefix, proxyProtocol }, port: 0, known: source };
  }));
}

function addTunnel(context: Context, problems: Problems, plan: (tx: Transaction) => Promise<NewTunnel>): Promise<Tunnel> {
  return writeWithPort(context, async (tx, changed, leasePort) => {
    const { columns, port, known } = await plan(tx);
    const lease = await problems.later(() => leasePort({ ...columns, port }), 'port');
    const client = problems.required(await problems.later(() => clientWithRoom(context, tx, columns.clientId), 'clientId'));
    const after = problems.required(await problems.later(() => withUniqueKey(context, client, columns, known, () => tx.tunnel.create({ data: { ...columns, port: lease?.port ?? 0 } })), 'password'));
    changed({ resource: 'tunnel', action: 'create', after, lease });
    return after;
  });
}
