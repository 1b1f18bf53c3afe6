import type { PortLease } from '../../engine/face.ts';
import type { Prisma, Tunnel } from '../../store/generated/sqlite/client.ts';
import { usableClient, usableTunnel } from '../access.ts';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';
import { uniqueOr } from '../unique.ts';
import { tunnelColumns, type TunnelValues } from './input.ts';
import { leasePort, releasePort } from './listener.ts';
import { checkKey, checkMode, keyDuplicate, requireKey, takeSlot } from './quota.ts';

/** The columns of a tunnel that isn't stored yet; its port is settled when it is. */
type NewTunnel = Omit<Prisma.TunnelUncheckedCreateInput, 'id' | 'port'> & Pick<Tunnel, 'mode' | 'serverIp' | 'password'>;

/** Spec /index/add/. In the order of contract 2.4: mode, port, client, quotas, key. @param noStore an agent brings it along */
export async function createTunnel(context: Context, input: TunnelValues, noStore = false): Promise<Tunnel> {
  const { mode, clientId, port } = input;
  if (mode === null || mode === undefined) throw new AditError('UNSUPPORTED_MODE');
  checkMode(context, mode);
  const { serverIp = '', password = '', ...columns } = tunnelColumns(input, context.settings);
  requireKey({ mode, password });
  return context.change(() => addTunnel(context, { ...columns, mode, serverIp, password, clientId: clientId ?? 0, noStore }, port ?? 0));
}

/** Spec /index/copy/: a port of its own, all other settings as the source has them (contract 2.4, D21). */
export async function copyTunnel(context: Context, id: number): Promise<Tunnel> {
  return context.change(async () => {
    const source = await usableTunnel(context, context.store.db, id);
    checkMode(context, source.mode);
    const { clientId, mode, remark, serverIp, target, localProxy, password, localPath, stripPrefix, proxyProtocol } = source;
    return addTunnel(context, { clientId, mode, remark, serverIp, target, localProxy, password, localPath, stripPrefix, proxyProtocol }, 0);
  });
}

async function addTunnel(context: Context, data: NewTunnel, port: number): Promise<Tunnel> {
  const lease = await leasePort(context, { ...data, port });
  try {
    const after = await storeTunnel(context, data, lease);
    await context.publish({ resource: 'tunnel', action: 'create', after, lease });
    return after;
  } finally {
    await releasePort(context, lease);
  }
}

function storeTunnel(context: Context, data: NewTunnel, lease: PortLease | undefined): Promise<Tunnel> {
  return uniqueOr(keyDuplicate(data), () => context.store.transaction(async (tx) => {
    await usableClient(context, tx, data.clientId);
    await takeSlot(tx, data.clientId, data.mode);
    await checkKey(tx, data);
    return tx.tunnel.create({ data: { ...data, port: lease?.port ?? 0 } });
  }));
}
