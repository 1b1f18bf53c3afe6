import type { PortLease, PortRequest } from '../../engine/face.ts';
import { transportOf } from '../../rules/tunnel-mode.ts';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';

/** Whether two settings mean the same listener, which can stay open then. */
export function sameListener(a: PortRequest, b: PortRequest): boolean {
  return transportOf(a.mode) === transportOf(b.mode) && a.port === b.port && a.serverIp === b.serverIp;
}

/**
 * Binds the port that a tunnel is to have, before anything is stored (contract 4.4). The caller releases the lease in any
 * case; once a tunnel has taken it over, that does nothing.
 * @returns undefined = the mode listens on no port
 * @throws {AditError} PORT_UNAVAILABLE
 */
export async function leasePort({ engine, log }: Context, { mode, port, serverIp, replaces }: PortRequest): Promise<PortLease | undefined> {
  if (transportOf(mode) === undefined) return undefined;
  const lease = await engine.reservePort({ mode, port, serverIp, replaces });
  if (!('unavailable' in lease)) return lease;
  // The answer has the contract's text; which of its reasons it was is for the operator.
  log.info({ port, serverIp, reason: lease.unavailable }, 'a port was refused');
  throw new AditError('PORT_UNAVAILABLE');
}

/** Gives the port of a lease back, unless a tunnel has taken it over. */
export async function releasePort({ engine }: Context, lease: PortLease | undefined): Promise<void> {
  if (lease) await engine.releasePort(lease.id);
}
