import { keyedModes, transportOf } from '../../rules/tunnel-mode.ts';
import { newVerifyKey } from '../../rules/vkey.ts';
import type { Tunnel, Client } from '../../store/generated/sqlite/client.ts';
import type { PortLease, PortRequest } from '../../engine/face.ts';
import { mayUseClient } from '../../rules/ownership.ts';
import type { Reading } from '../../store/reading.ts';
import type { Transaction } from '../../store/transaction.ts';
import { seesSecrets } from '../access/secret-field.ts';
import type { Context } from '../context.ts';
import { AditError, invalidInput } from '../errors.ts';
import { uniqueOr } from '../writes/unique.ts';
import type { Work } from '../writes/writes.ts';

/** @throws {AditError} UNSUPPORTED_MODE: otherwise a tunnel could be stored that doesn't work */
export function checkMode({ engine }: Context, mode: string): void {
  if (!engine.modes.includes(mode)) throw new AditError('UNSUPPORTED_MODE');
}

/** The columns by which visitors find a tunnel with a password. */
type Keyed = Pick<Tunnel, 'mode' | 'password'>;

/**
 * The new password of a tunnel; a p2p tunnel without a password gets a generated one.
 * @throws {AditError} INVALID_INPUT: without a password no visitor could connect (contract 4.6)
 */
export function keyOf({ mode, password }: Keyed): string {
  if (password !== '' || !keyedModes.includes(mode)) return password;
  if (mode === 'p2p') return newVerifyKey();
  throw invalidInput('password', `a ${mode} tunnel needs one, so that visitors can connect`);
}

/** The client of the tunnel and its owner. */
export type KeyOwner = Pick<Client, 'id' | 'userId'>;

/**
 * Stores a tunnel whose password must be unique among secret and p2p tunnels, which a unique index enforces (contract 2.4, 4.6, D21). An error that the
 * password is in use reveals that it opens another owner's tunnel, so choosing a password counts as a guess and is throttled: a caller who has to wait
 * gets the same response for every password. A password in use counts as a successful guess, any other password as an attempt (rules/chosen-keys.ts).
 * Both count for the tunnel's owner, so that others behind the same address don't have to wait. Administrators may see all passwords and are not throttled.
 * @param before a password that is not a guess: the former password, the copied tunnel's, or a generated one
 * @throws {AditError} TUNNEL_KEY_DUPLICATE
 */
export async function withUniqueKey<T>(context: Context, owner: KeyOwner, tunnel: Keyed, before: Keyed | undefined, write: () => Promise<T>): Promise<T> {
  const { caller, attempts } = context;
  const { mode, password } = tunnel;
  // The password may be one that is stored, which a copy or another mode has to be unique with.
  const duplicate = new AditError('TUNNEL_KEY_DUPLICATE', { password: seesSecrets(caller) ? password : '***' });
  const isKnown = before !== undefined && keyedModes.includes(before.mode) && before.password === password;
  if (caller.kind === 'admin' || !keyedModes.includes(mode) || isKnown) return uniqueOr(duplicate, write);
  const name = guesserName(owner);
  const attempt = attempts.begin('tunnelPassword', `${caller.address ?? ''}#${name.replace(' ', '-')}`, name, context.now());
  if (attempt.wait > 0) throw duplicate;
  if (!attempts.chosenKeys.mayChoose(name, password, context.now())) {
    attempt.succeeded();
    throw duplicate;
  }
  try {
    const stored = await uniqueOr(duplicate, write);
    attempt.succeeded();
    attempts.chosenKeys.chosen(name, password);
    return stored;
  } catch (error) {
    if (error === duplicate) attempt.failed();
    else attempt.succeeded();
    throw error;
  }
}

/** All clients of a user count together. */
function guesserName({ id, userId }: KeyOwner): string {
  return userId === null ? `client ${id}` : `user ${userId}`;
}

/** Whether two settings mean the same listener, which can then stay open. */
export function sameListener(a: PortRequest, b: PortRequest): boolean {
  return transportOf(a.mode) === transportOf(b.mode) && a.port === b.port && a.serverIp === b.serverIp;
}

/** The work of a write that binds a port with `leasePort`. */
type PortWork<T> = (...given: [...Parameters<Work<T>>, leasePort: (request: PortRequest) => Promise<PortLease | undefined>]) => Promise<T>;

/**
 * A write that binds the port of a tunnel before it stores anything (contract 4.4). `leasePort` returns undefined for a mode without a
 * port. It throws AditError PORT_UNAVAILABLE, or, with `starts`, PORT_IN_USE if the port is in use. A port that no tunnel takes over is released before the next write.
 */
export function writeWithPort<T>(
  context: Context,
  work: PortWork<T>,
  { starts = false, ...options }: { readonly alone?: boolean; readonly starts?: boolean } = {},
): Promise<T> {
  let lease: PortLease | undefined;
  return context.write((tx, changed) => work(tx, changed, async (request) => lease = await leasePort(context, tx, request, starts)), {
    ...options,
    ended: async () => lease && context.engine.releasePort(lease.id),
  });
}

/** @param starts a stored tunnel is started: the message names what uses the port; otherwise, it is the contract's */
async function leasePort(
  context: Context,
  tx: Transaction,
  { mode, port, serverIp, replaces }: PortRequest,
  starts: boolean,
): Promise<PortLease | undefined> {
  const { engine, log } = context;
  if (transportOf(mode) === undefined) return undefined;
  // Another server may have used or freed the port, which the engine does not know yet.
  await context.catchUp(tx);
  const lease = await engine.reservePort({ mode, port, serverIp, replaces });
  if (!('unavailable' in lease)) return lease;
  // The response has the contract's text; the exact reason is for the operator.
  log.info({ port, serverIp, reason: lease.unavailable }, 'a port was refused');
  const holder = typeof lease.holder === 'number' ? await visibleTunnel(context, tx, lease.holder) : {};
  if (starts && lease.holder !== undefined) throw new AditError('PORT_IN_USE', { ...holder, port, by: nameOf(holder) });
  // Nobody reads it in an agent's configuration file, which may declare many tunnels.
  throw new AditError('PORT_UNAVAILABLE', context.caller.by === 'vkey' ? {} : { ...holder, ...await freePort(context, { mode, port, serverIp }) });
}

/** How many ports after a taken one are tried. */
const mostTried = 10;

/** The parameter `free` of an error: the next port that can be opened now, if one is near. */
async function freePort({ engine }: Context, { mode, port, serverIp }: PortRequest): Promise<{ readonly free?: number }> {
  if (port === 0) return {};
  for (let next = port + 1; next <= Math.min(port + mostTried, 65_535); next++) {
    const lease = await engine.reservePort({ mode, port: next, serverIp });
    if ('unavailable' in lease) continue;
    await engine.releasePort(lease.id);
    return { free: next };
  }
  return {};
}

/** The tunnel that is in the way. Empty if the caller may not see it. */
type Holder = { readonly tunnelId?: number; readonly tunnelRemark?: string };

async function visibleTunnel({ caller }: Context, tx: Reading, id: number): Promise<Holder> {
  const row = await tx.tunnel.findUnique({ where: { id }, include: { client: true } });
  return row !== null && mayUseClient(caller, row.client) ? { tunnelId: id, tunnelRemark: row.remark } : {};
}

function nameOf({ tunnelId, tunnelRemark = '' }: Holder): string {
  return tunnelId === undefined ? '' : ` by tunnel ${tunnelId}${tunnelRemark === '' ? '' : ` (${tunnelRemark})`}`;
}
