import * as z from 'zod';
import type { Login } from './login.ts';

/** Maximum number of accounts of a proxy. */
export const MAX_ACCOUNTS = 1000;
/** Maximum length of a name or password in bytes: SOCKS5 (RFC 1929) has one byte for it. */
const partBytes = 255;

/** What is wrong with an account; "" = nothing. HTTP Basic ends the user name at the first colon. */
export function accountFault({ user, password }: Login): string {
  if (user === '') return 'the user name is empty';
  if (user.includes(':')) return 'the user name holds a colon';
  if (Buffer.byteLength(user) > partBytes) return `the user name is longer than ${partBytes} bytes`;
  if (Buffer.byteLength(password) > partBytes) return `the password is longer than ${partBytes} bytes`;
  return `${user}${password}`.includes('\0') ? 'it holds a NUL character' : '';
}

const storedAccounts = z.array(z.tuple([z.string(), z.string()]));

/** Accounts in their stored form: JSON; "" = none. */
export function joinAccounts(accounts: readonly Login[]): string {
  return accounts.length === 0 ? '' : JSON.stringify(accounts.map(({ user, password }) => [user, password]));
}

/** The inverse of {@link joinAccounts}. @throws if the text is not what it returns */
export function splitAccounts(stored: string): Login[] {
  return stored === '' ? [] : storedAccounts.parse(JSON.parse(stored)).map(([user, password]) => ({ user, password }));
}
