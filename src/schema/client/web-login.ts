import type { Client } from '../../store/generated/sqlite/client.ts';
import { hashPassword } from '../access/password.ts';
import { AditError } from '../errors.ts';
import { secretOf } from '../input.ts';
import type { Problems } from '../problems.ts';
import type { ClientValues } from './input.ts';

/** The columns of a client's web login. */
export type WebLogin = Pick<Client, 'webUsername' | 'webPasswordHash'>;

/** A client without a web login. */
export const noWebLogin: WebLogin = { webUsername: '', webPasswordHash: '' };

/**
 * Prepares what an input makes of a web login: hashing takes its time, so it is done before anything is read or locked.
 * @param problems where a half that can't be stored is noted
 * @returns the login that follows from the present one (contract 2.2: a blank half is kept, `clearWebLogin` removes both);
 *   it throws AditError WEB_LOGIN_INCOMPLETE when one half would stand alone
 */
export async function nextWebLogin(problems: Problems, input: ClientValues): Promise<(present: WebLogin) => WebLogin> {
  const username = problems.check(() => secretOf('webUsername', input.webUsername));
  const password = problems.check(() => secretOf('webPassword', input.webPassword));
  const passwordHash = password === undefined ? undefined : await hashPassword(password);
  return (present) => {
    const kept = input.clearWebLogin === true ? noWebLogin : present;
    const next = { webUsername: username ?? kept.webUsername, webPasswordHash: passwordHash ?? kept.webPasswordHash };
    if ((next.webUsername === '') !== (next.webPasswordHash === '')) throw new AditError('WEB_LOGIN_INCOMPLETE', { field: next.webUsername === '' ? 'webUsername' : 'webPassword' });
    return next;
  };
}
