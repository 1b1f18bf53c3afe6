/** The session cookie's name over plain HTTP, and below a base path: the name that callers of the NPS API know. */
const plainName = 'beegosessionID';

/**
 * The name over HTTPS at the root. Browsers only accept the prefix `__Host-` over HTTPS, from this exact host, for the path `/`: no other host of
 * the domain can plant a session.
 */
const hostName = `__Host-${plainName}`;

/** All names that a session cookie of this server can have; the one that no other host can plant comes first. */
export const sessionCookieNames: readonly string[] = [hostName, plainName];

/**
 * The cookie name for a new session.
 * @param secure the request came over HTTPS
 * @param basePath path prefix of every route; "" = none
 */
export function sessionCookieName(secure: boolean, basePath: string): string {
  return secure && basePath === '' ? hostName : plainName;
}

/**
 * Removes this server's sessions from a Cookie header; "" = nothing is left. Pairs end at each `;`, even within
 * quotes: a browser may send our pair after one that another site has planted (`x="`).
 */
export function withoutSessionCookies(header: string): string {
  if (!mentionsSession(header)) return header;
  return header.split(';').filter((pair) => !sessionCookieNames.includes(pair.split('=', 1)[0]?.trim() ?? '')).join(';').trim();
}

/**
 * Whether a Set-Cookie header sets one of our names: as its name, or in a cookie without a name (`=beegosessionID=x`), which browsers send
 * back as if it were the name.
 */
export function setsSessionCookie(header: string): boolean {
  if (!mentionsSession(header)) return false;
  const pair = header.split(';', 1)[0]?.trim() ?? '';
  return sessionCookieNames.includes(pair.replace(/^[=\s]+/, '').split('=', 1)[0]?.trim() ?? '');
}

/** Whether a header could contain a session cookie of this server: all names end with this one. */
export function mentionsSession(header: string): boolean {
  return header.includes(plainName);
}
