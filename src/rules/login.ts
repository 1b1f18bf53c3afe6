import { hash, timingSafeEqual } from 'node:crypto';

/** A user name and password in clear text. Never logged. */
export interface Login {
  readonly user: string;
  readonly password: string;
}

/** Whether name and password are equal, compared in constant time. */
export function sameLogin(given: Login, wanted: Login): boolean {
  const [user, password] = [sameSecret(given.user, wanted.user), sameSecret(given.password, wanted.password)];
  return user && password;
}

/** Whether two texts are equal, compared in constant time. */
export function sameSecret(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other));
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

/** Parses `Basic` credentials (RFC 7617, UTF-8); undefined = invalid. */
export function parseBasic(text: string): Login | undefined {
  const [, encoded] = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(text) ?? [];
  if (encoded === undefined) return undefined;
  const decoded = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = decoded.indexOf(':');
  return colon < 0 ? undefined : { user: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
}
