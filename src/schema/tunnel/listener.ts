import type { PortLease, PortRequest } from '../../engine/face.ts';
import { transportOf } from '../../rules/tunnel-mode.ts';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';
import type { Work } from '../writes.ts';

/** Whether two settings mean the same listener, which can stay open then. */
export function sameListener(a: PortRequest, b: PortRequest): boolean {
  return transportOf(a.mode) === transportOf(b.mode) && a.port === b.port && a.serverIp === b.serverIp;
}

/** A write's work that binds a port with `leasePort`. */
type PortWork<T> = (...given: [...Parameters<Work<T>>, leasePort: (request: PortRequest) => Promise<PortLease | undefined>]) => Promise<T>;

/**
 * A write that binds the port of a tunnel, before it stores anything (contract 4.4). `leasePort` returns undefined for a mode that listens
 * on no port, and throws AditError PORT_UNAVAILABLE. A port that no tunnel has taken over in the end is given back before the next write.
 */
export function writeWithPort<T>(context: Context, work: PortWork<T>, options: { readonly alone?: boolean } = {}): Promise<T> {
  let lease: PortLease | undefined;
  const leaseIt = async (request: PortRequest) => lease = await leasePort(context, request);
  return context.write((tx, changed) => work(tx, changed, leaseIt), { ...options, ended: async () => lease && context.engine.releasePort(lease.id) });
}

async function leasePort({ engine, log }: Context, { mode, port, serverIp, replaces }: PortRequest): Promise<PortLease | undefined> {
  if (transportOf(mode) === undefined) return undefined;
  const lease = await engine.reservePort({ mode, port, serverIp, replaces });
  if (!('unavailable' in lease)) return lease;
  // The answer has the contract's text; which of its reasons it was is for the operator.
  log.info({ port, serverIp, reason: lease.unavailable }, 'a port was refused');
  throw new AditError('PORT_UNAVAILABLE');
}
