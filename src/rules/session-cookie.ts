/** The session cookie's name over plain HTTP, and below a base path: the one that callers of this API's family know. */
const plainName = 'beegosessionID';

/**
 * Its name over HTTPS at the root. Browsers accept `__Host-` only over HTTPS, from this very host, for the path `/`: no other host of
 * the domain can plant a session.
 */
const hostName = `__Host-${plainName}`;

/** Every name that a session cookie of this server can have; the one that no other host can plant comes first. */
export const sessionCookieNames: readonly string[] = [hostName, plainName];

/**
 * The name that a new session's cookie gets.
 * @param secure the request came over HTTPS
 * @param basePath the path that every route is below; "" = none
 */
export function sessionCookieName(secure: boolean, basePath: string): string {
  return secure && basePath === '' ? hostName : plainName;
}
