import type { Request, Response } from 'express';
import type { Caller } from '../rules/caller.ts';
import type { Input } from './input.ts';

/** The caller of a request, or the error response. */
export type Identified = { readonly caller: Caller } | { readonly status: 401 | 403; readonly msg: string };

/** How the legacy API uses signatures, sessions and tokens. */
export interface Callers {
  /** Authenticates a request (contract 3.1, D1, D27). */
  identify(request: Request, input: Input): Identified | Promise<Identified>;
  /**
   * Checks name and password, and sets the session cookie on success. @returns whether they are correct
   * @throws {AditError} FOREIGN_ORIGIN
   */
  logIn(request: Request, response: Response, username: string, password: string): Promise<boolean>;
  /** Ends the session, if any. */
  logOut(request: Request, response: Response): Promise<void>;
}
