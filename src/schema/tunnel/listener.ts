import type { PortLease, PortRequest } from '../../engine/face.ts';
import { mayUseClient } from '../../rules/ownership.ts';
import { transportOf } from '../../rules/tunnel-mode.ts';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';
import type { Reading } from '../../store/reading.ts';
import type { Work } from '../writes.ts';

/** Whether two settings mean the same listener, which can stay open then. */
export function sameListener(a: PortRequest, b: PortRequest): boolean {
  return transportOf(a.mode) === transportOf(b.mode) && a.port === b.port && a.serverIp === b.serverIp;
}

/** A write's work that binds a port with `leasePort`. */
type PortWork<T> = (...given: [...Parameters<Work<T>>, leasePort: (request: PortRequest) => Promise<PortLease | undefined>]) => Promise<T>;

/**
 * A write that binds the port of a tunnel, before it stores anything (contract 4.4). `leasePort` returns undefined for a mode that listens
 * on no port, and throws AditError PORT_UNAVAILABLE, or with `starts` PORT_IN_USE where that is why. A port that no tunnel has taken over in the end is given back before the next write.
 */
export function writeWithPort<T>(context: Context, work: PortWork<T>, { starts = false, ...options }: { readonly alone?: boolean; readonly starts?: boolean } = {}): Promise<T> {
  let lease: PortLease | undefined;
  return context.write((tx, changed) => work(tx, changed, async (request) => lease = await leasePort(context, request, starts ? tx : undefined)), { ...options, ended: async () => lease && context.engine.releasePort(lease.id) });
}

/** @param naming where a tunnel that is in the way is looked up, to name it; undefined = the contract's text is enough */
async function leasePort(context: Context, { mode, port, serverIp, replaces }: PortRequest, naming: Reading | undefined): Promise<PortLease | undefined> {
  const { engine, log } = context;
  if (transportOf(mode) === undefined) return undefined;
  const lease = await engine.reservePort({ mode, port, serverIp, replaces });
  if (!('unavailable' in lease)) return lease;
  // The answer has the contract's text; which of its reasons it was is for the operator.
  log.info({ port, serverIp, reason: lease.unavailable }, 'a port was refused');
  if (naming && lease.holder !== undefined) throw new AditError('PORT_IN_USE', { port, by: lease.holder === null ? '' : await nameOf(context, naming, lease.holder) });
  throw new AditError('PORT_UNAVAILABLE');
}

/** Names a tunnel to callers who may see it. */
async function nameOf({ caller }: Context, tx: Reading, id: number): Promise<string> {
  const row = await tx.tunnel.findUnique({ where: { id }, include: { client: true } });
  if (row === null || !mayUseClient(caller, row.client)) return '';
  return ` by tunnel ${id}${row.remark === '' ? '' : ` (${row.remark})`}`;
}
