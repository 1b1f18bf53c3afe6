import type { CountedBytes } from '../../engine/face.ts';
import type { Client, Host, Tunnel } from '../../store/generated/sqlite/client.ts';
import type { Transaction } from '../../store/transaction.ts';
import { usableClient, usableHost, usableTunnel } from '../access/records.ts';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';

/** The counters of the rows after a reset. */
const none = { inletBytes: 0, exportBytes: 0 };

/*
 * A reset has its own transaction, so that counters collected before the reset are not written in it or after it (StateSaver.trafficReset).
 * The home is asked for the totals within it, for up to 1 s, while other writes wait. Before it, two resets of a record at a time would get the same totals: each would
 * subtract them, and add what is not stored yet to the traffic series.
 */

/**
 * Sets a client's counters to 0. If the client has a flow limit, which uses the counters, only administrators may do this.
 * @throws {AditError} as {@link usableClient}
 */
export function resetClientTraffic(context: Context, id: number): Promise<Client> {
  return context.write(async (tx, changed) => {
    const before = await usableClient(context, tx, id);
    if (before.flowLimit > 0 && context.caller.kind !== 'admin') throw new AditError('FORBIDDEN');
    const [state] = await context.engine.clientStates([id]);
    const reset = await settle(context, tx, 'client', before, state);
    const after = await tx.client.update({ where: { id }, data: none, include: { user: true } });
    changed({ resource: 'client', action: 'update', before, after, reset });
    return after;
  }, { alone: true });
}

/** Sets a tunnel's counters to 0; those of its client stay. @throws {AditError} as {@link usableTunnel} */
export function resetTunnelTraffic(context: Context, id: number): Promise<Tunnel> {
  return context.write(async (tx, changed) => {
    const { client: _, ...before } = await usableTunnel(context, tx, id);
    const [state] = await context.engine.tunnelStates([id]);
    const reset = await settle(context, tx, 'tunnel', before, state);
    const after = await tx.tunnel.update({ where: { id }, data: none });
    changed({ resource: 'tunnel', action: 'update', before, after, reset });
    return after;
  }, { alone: true });
}

/** Sets a host's counters to 0; those of its client stay. @throws {AditError} as {@link usableHost} */
export function resetHostTraffic(context: Context, id: number): Promise<Host> {
  return context.write(async (tx, changed) => {
    const { client: _, ...before } = await usableHost(context, tx, id);
    const [state] = await context.engine.hostStates([id]);
    const reset = await settle(context, tx, 'host', before, state);
    const after = await tx.host.update({ where: { id }, data: none });
    changed({ resource: 'host', action: 'update', before, after, reset });
    return after;
  }, { alone: true });
}

/** Updates the traffic series. @returns the current totals, which the reset removes from engine and row */
async function settle(
  { store }: Context,
  tx: Transaction,
  resource: 'client' | 'tunnel' | 'host',
  row: { readonly id: number; readonly inletBytes: bigint; readonly exportBytes: bigint },
  state: CountedBytes | undefined,
): Promise<CountedBytes> {
  const { inletBytes, exportBytes } = state ?? { inletBytes: Number(row.inletBytes), exportBytes: Number(row.exportBytes) };
  await store.resetTraffic(tx, resource, { id: row.id, inletBytes, exportBytes });
  return { inletBytes, exportBytes };
}
