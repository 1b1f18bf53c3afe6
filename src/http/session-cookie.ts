import type { Request, Response } from 'express';
import { sessionCookieName, sessionCookieNames } from '../rules/session-cookie.ts';

/** The session cookie in requests and responses, for a base path. */
export class SessionCookie {
  readonly #basePath: string;

  /** @param basePath path prefix of every route; "" = none */
  constructor(basePath: string) {
    this.#basePath = basePath;
  }

  /** The session of a request. Over HTTPS, only the cookie name that no other host can set is read. */
  read(request: Request): string | undefined {
    const names = request.secure ? [sessionCookieName(true, this.#basePath)] : sessionCookieNames;
    return names.map((name) => cookieOf(request, name)).find((value) => value !== undefined);
  }

  /** Adds a session to the response. */
  set(request: Request, response: Response, value: string): void {
    const secure = cameOverHttps(request);
    response.cookie(sessionCookieName(secure, this.#basePath), value, this.#options(secure));
  }

  /** Deletes the session cookie in the browser, under every name that the request contained. */
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
 * Whether a browser sent the request over HTTPS: a trusted proxy reports it, or the browser's origin is an HTTPS page, which also
 * works behind a proxy that the settings don't name. A caller who forges either only affects their own cookie.
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
