import type { Request, Response } from 'express';
import { sessionCookieName, sessionCookieNames } from '../rules/session-cookie.ts';

/** The session's cookie in requests and responses, by the base path that it is for. */
export class SessionCookie {
  readonly #basePath: string;

  /** @param basePath the path that every route is below; "" = none */
  constructor(basePath: string) {
    this.#basePath = basePath;
  }

  /** The session that a request brings. Where only the name that no other host can plant is ever set, no other name counts. */
  read(request: Request): string | undefined {
    const names = request.secure ? [sessionCookieName(true, this.#basePath)] : sessionCookieNames;
    return names.map((name) => cookieOf(request, name)).find((value) => value !== undefined);
  }

  /** Gives the response a session. */
  set(request: Request, response: Response, value: string): void {
    const secure = cameOverHttps(request);
    response.cookie(sessionCookieName(secure, this.#basePath), value, this.#options(secure));
  }

  /** Makes the browser forget its session, under every name that the request brought it. */
  clear(request: Request, response: Response): void {
    const usual = sessionCookieName(request.secure, this.#basePath);
    for (const name of sessionCookieNames) {
      if (name === usual || cookieOf(request, name) !== undefined) response.clearCookie(name, this.#options(name.startsWith('__Host-') || request.secure));
    }
  }

  #options(secure: boolean) {
    return { path: this.#basePath === '' ? '/' : this.#basePath, httpOnly: true, sameSite: 'lax', secure } as const;
  }
}

/**
 * Whether a browser sent the request over HTTPS: a trusted proxy says so, or the browser names a page of HTTPS as its origin, which also
 * holds behind a proxy that the settings don't name. A caller who forges it only changes a cookie of their own.
 */
function cameOverHttps(request: Request): boolean {
  return request.secure || /^https:/i.test(request.get('origin') ?? '');
}

function cookieOf(request: Request, name: string): string | undefined {
  for (const pair of (request.headers.cookie ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}
