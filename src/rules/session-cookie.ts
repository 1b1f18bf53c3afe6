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

/**
 * A Cookie header without this server's sessions, everything else as it was; "" = nothing is left. Pairs end at each `;`, also within
 * quotes: a browser puts our pair behind whatever another site has planted (`x="`).
 */
export function withoutSessionCookies(header: string): string {
  if (!mentionsSession(header)) return header;
  return header.split(';').filter((pair) => !sessionCookieNames.includes(pair.split('=', 1)[0]?.trim() ?? '')).join(';').trim();
}

/**
 * Whether a Set-Cookie header sets one of our names: as its name, or in a cookie without a name (`=beegosessionID=x`), which browsers send
 * back as if that were the name.
 */
export function setsSessionCookie(header: string): boolean {
  if (!mentionsSession(header)) return false;
  const pair = header.split(';', 1)[0]?.trim() ?? '';
  return sessionCookieNames.includes(pair.replace(/^[=\s]+/, '').split('=', 1)[0]?.trim() ?? '');
}

/** Whether a header could name a session cookie of this server: every name ends in this one. */
export function mentionsSession(header: string): boolean {
  return header.includes(plainName);
}
