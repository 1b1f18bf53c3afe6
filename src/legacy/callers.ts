import type { Request, Response } from 'express';
import type { Caller } from '../rules/caller.ts';
import type { Input } from './input.ts';

/** Who makes a call, or what the call is answered with instead. */
export type Identified = { readonly caller: Caller } | { readonly status: 401 | 403; readonly msg: string };

/** What the legacy API has to know of signatures, sessions and tokens. */
export interface Callers {
  /** Who makes a call (contract 3.1, D1, D27), as things stand now. */
  identify(request: Request, input: Input): Identified | Promise<Identified>;
  /**
   * Checks name and password, and gives the answer its cookie. @returns whether they are right
   * @throws {AditError} FOREIGN_ORIGIN
   */
  logIn(request: Request, response: Response, username: string, password: string): Promise<boolean>;
  /** Ends the session, if there is one. */
  logOut(request: Request, response: Response): Promise<void>;
}
