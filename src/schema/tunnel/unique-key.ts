import { keyedModes } from '../../rules/tunnel-mode.ts';
import type { Tunnel } from '../../store/generated/sqlite/client.ts';
import type { Caller } from '../../rules/caller.ts';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';
import { uniqueOr } from '../unique.ts';

/** What a tunnel is found by, if visitors have to prove its password. */
type Keyed = Pick<Tunnel, 'mode' | 'password'>;

/**
 * Stores a tunnel whose password no other secret or p2p tunnel may have; an index of the database decides (contract 2.4, 4.6, D21). That a
 * password is in use tells that it opens somebody else's tunnel, so asking for one is a guess and is slowed like any other: who has to wait
 * gets the same answer for every password. Guesses count for the caller, so that nobody else behind the same address has to wait. Administrators may see
 * all passwords, and are not slowed.
 * @param before what the caller knows already, or did not choose: the tunnel as it was, the one that is copied, a generated password
 * @throws {AditError} TUNNEL_KEY_DUPLICATE
 */
export async function withUniqueKey<T>(context: Context, tunnel: Keyed, before: Keyed | undefined, write: () => Promise<T>): Promise<T> {
  const { caller, attempts } = context;
  const { mode, password } = tunnel;
  const duplicate = new AditError('TUNNEL_KEY_DUPLICATE', { password });
  const isKnown = before !== undefined && keyedModes.includes(before.mode) && before.password === password;
  if (caller.kind === 'admin' || !keyedModes.includes(mode) || isKnown) return uniqueOr(duplicate, write);
  const attempt = attempts.begin('tunnelPassword', sourceOf(caller), nameOf(caller), context.now());
  if (attempt.wait > 0) throw duplicate;
  try {
    const stored = await uniqueOr(duplicate, write);
    attempt.succeeded();
    return stored;
  } catch (error) {
    if (error === duplicate) attempt.failed();
    else attempt.succeeded();
    throw error;
  }
}

/** The caller at one address. */
function sourceOf(caller: Caller): string {
  return `${caller.address ?? ''}#${nameOf(caller).replace(' ', '-')}`;
}

/** Nobody else's guesses count under it. */
function nameOf(caller: Caller): string {
  switch (caller.kind) {
    case 'user': return `user ${caller.userId}`;
    case 'client': return `client ${caller.clientId}`;
    case 'admin':
    case 'anonymous': return caller.kind;
  }
}
