import * as z from 'zod/mini';
import { base } from '../base.ts';
import { createStore } from './store.ts';

/** Whether the page needs a login: at its start, or because the session ended. */
export const loggedOut = createStore(false);

/** Called when the server refused the session. */
export function reportLoggedOut(): void {
  loggedOut.set(true);
}

const Answer = z.object({ status: z.number() });

/** The outcome of a login. */
export type LoginOutcome = 'ok' | 'wrong' | 'unreachable';

/** Logs in; the server sets the session cookie. */
export async function logIn(username: string, password: string): Promise<LoginOutcome> {
  try {
    const response = await fetch(`${base}/login/verify`, { method: 'POST', body: new URLSearchParams({ username, password }) });
    const { status } = Answer.parse(await response.json());
    return status === 1 ? 'ok' : 'wrong';
  } catch {
    return 'unreachable';
  }
}

/** Ends the session, and opens the login page. */
export function logOut(): void {
  location.assign(`${base}/login/out`);
}
