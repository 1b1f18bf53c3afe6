import type { Prisma, Tunnel } from '../../store/generated/sqlite/client.ts';
import type { Transaction } from '../../store/transaction.ts';
import { usableClient, usableTunnel } from '../access.ts';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';
import { checkSlot } from '../slot.ts';
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
  if (mode === null || mode === undefined) throw new AditError('UNSUPPORTED_MODE');
  checkMode(context, mode);
  const { serverIp = '', password: given = '', ...columns } = tunnelColumns(input, context.settings);
  const password = keyOf({ mode, password: given });
  const made = { columns: { ...columns, mode, serverIp, password, clientId: clientId ?? 0, noStore }, port: port ?? 0, known: password === given ? undefined : { mode, password } };
  return addTunnel(context, async () => made);
}

/** /index/copy/ (contract 2.4): a port of its own, all other settings as the source has them (contract 2.4, D21). */
export function copyTunnel(context: Context, id: number): Promise<Tunnel> {
  return addTunnel(context, async (tx) => {
    const source = await usableTunnel(context, tx, id);
    checkMode(context, source.mode);
    const { clientId, mode, remark, serverIp, target, localProxy, password, localPath, stripPrefix, proxyProtocol } = source;
    return { columns: { clientId, mode, remark, serverIp, target, localProxy, password, localPath, stripPrefix, proxyProtocol }, port: 0, known: source };
  });
}

function addTunnel(context: Context, plan: (tx: Transaction) => Promise<NewTunnel>): Promise<Tunnel> {
  return writeWithPort(context, async (tx, changed, leasePort) => {
    const { columns, port, known } = await plan(tx);
    const lease = await leasePort({ ...columns, port });
    const client = await usableClient(context, tx, columns.clientId);
    checkSlot(client);
    const after = await withUniqueKey(context, client, columns, known, () => tx.tunnel.create({ data: { ...columns, port: lease?.port ?? 0 } }));
    changed({ resource: 'tunnel', action: 'create', after, lease });
    return after;
  });
}
