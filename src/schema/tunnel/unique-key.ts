import { keyedModes } from '../../rules/tunnel-mode.ts';
import type { Client, Tunnel } from '../../store/generated/sqlite/client.ts';
import type { Context } from '../context.ts';
import { AditError } from '../errors.ts';
import { uniqueOr } from '../unique.ts';

/** What a tunnel is found by, if visitors have to prove its password. */
type Keyed = Pick<Tunnel, 'mode' | 'password'>;

/** Whose tunnel it is to be: a client, and its owner. */
export type KeyOwner = Pick<Client, 'id' | 'userId'>;

/**
 * Stores a tunnel whose password no other secret or p2p tunnel may have; an index of the database decides (contract 2.4, 4.6, D21). That a
 * password is in use tells that it opens somebody else's tunnel, so asking for one is a guess and is slowed like any other: who has to wait
 * gets the same answer for every password. One that is in use counts as a found secret, one that is not as a try (rules/chosen-keys.ts). Both count for the
 * tunnel's owner, so that nobody else behind the same address has to wait. Administrators may see all passwords, and are not slowed.
 * @param before what the caller knows already, or did not choose: the tunnel as it was, the one that is copied, a generated password
 * @throws {AditError} TUNNEL_KEY_DUPLICATE
 */
export async function withUniqueKey<T>(context: Context, owner: KeyOwner, tunnel: Keyed, before: Keyed | undefined, write: () => Promise<T>): Promise<T> {
  const { caller, attempts } = context;
  const { mode, password } = tunnel;
  const duplicate = new AditError('TUNNEL_KEY_DUPLICATE', { password });
  const isKnown = before !== undefined && keyedModes.includes(before.mode) && before.password === password;
  if (caller.kind === 'admin' || !keyedModes.includes(mode) || isKnown) return uniqueOr(duplicate, write);
  const name = nameOf(owner);
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

/** Users count as one, whichever of their clients they call by. */
function nameOf({ id, userId }: KeyOwner): string {
  return userId === null ? `client ${id}` : `user ${userId}`;
}
