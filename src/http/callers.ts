import type { Request } from 'express';
import type { Callers, Identified } from '../legacy/callers.ts';
import type { Input } from '../legacy/input.ts';
import { createSignatureCheck } from '../legacy/signature.ts';
import { identify, isAdministrator, type LoginSettings } from '../schema/access/login.ts';
import { Sessions } from '../schema/access/sessions.ts';
import { tokenCaller } from '../schema/access/tokens.ts';
import type { Services } from '../schema/services.ts';
import { errorCodes } from '../schema/error-codes.ts';
import { AditError } from '../schema/errors.ts';
import { isForeign } from './origin.ts';
import { SessionCookie } from './session-cookie.ts';

/** The dependencies of authentication. */
export interface CallerOptions {
  readonly services: Services;
  readonly settings: LoginSettings & { readonly authKey: string; readonly basePath: string };
}

/** Authenticates the callers of both APIs. */
export interface HttpCallers extends Callers {
  /** Checks the administrator's name and password. @returns whether they are correct, or the ms to wait after too many failures */
  checkAdministrator(request: Request, username: string, password: string): number | boolean;
}

/**
 * Authenticates callers (contract 3.1, 3.3, D27). A token takes precedence over everything else, since it never has more permissions than a
 * signature. A valid signature takes precedence over a session; with an invalid signature, the session is used.
 */
export function createCallers({ services, settings }: CallerOptions): HttpCallers {
  const { attempts, now } = services;
  const signatureFault = createSignatureCheck(settings.authKey, now);
  const sessions = new Sessions(services, settings);
  const cookies = new SessionCookie(settings.basePath);

  async function byToken(token: string, address: string): Promise<Identified> {
    const caller = await tokenCaller(services, token, now());
    return caller === undefined ? { status: 401, msg: 'invalid token' } : { caller: { ...caller, address } };
  }

  async function bySession(request: Request, cookie: string, fault: string): Promise<Identified> {
    const caller = await sessions.caller(cookie);
    if (caller === undefined) return { status: 401, msg: fault };
    if (isForeignWrite(request)) return { status: 403, msg: errorCodes.FOREIGN_ORIGIN.message };
    return { caller: { ...caller, address: addressOf(request) } };
  }

  return {
    identify(request, input: Input) {
      const token = bearerOf(request);
      if (token !== undefined) return byToken(token, addressOf(request));
      const fault = signatureFault(input);
      if (fault === undefined) return { caller: { kind: 'admin', by: 'signature', address: addressOf(request) } };
      const cookie = cookies.read(request);
      return cookie === undefined ? { status: 401, msg: fault } : bySession(request, cookie, fault);
    },

    async logIn(request, response, username, password) {
      if (isForeignWrite(request)) throw new AditError('FOREIGN_ORIGIN');
      const address = addressOf(request);
      const attempt = attempts.begin('login', address, username, now());
      if (attempt.wait > 0) return false;
      const identity = await identify(services, settings, username, password);
      if (identity === undefined) {
        services.log.info({ address }, 'a login failed');
        attempt.failed();
        return false;
      }
      attempt.succeeded();
      // Starts a new session, since an attacker could have planted the current one (session fixation).
      await closePresent(request);
      cookies.set(request, response, await sessions.open(identity, address));
      return true;
    },

    async logOut(request, response) {
      await closePresent(request);
      cookies.clear(request, response);
    },

    checkAdministrator(request, username, password) {
      const address = addressOf(request);
      const attempt = attempts.begin('login', address, username, now());
      if (attempt.wait > 0) return attempt.wait;
      const right = isAdministrator(settings, username, password);
      if (right) attempt.succeeded();
      else attempt.failed();
      return right;
    },
  };

  async function closePresent(request: Request): Promise<void> {
    const cookie = cookies.read(request);
    if (cookie !== undefined) await sessions.close(cookie, addressOf(request));
  }
}

function isForeignWrite(request: Request): boolean {
  return request.method !== 'GET' && request.method !== 'HEAD' && isForeign(request);
}

function addressOf(request: Request): string {
  return request.ip ?? '';
}

function bearerOf(request: Request): string | undefined {
  return /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
}
