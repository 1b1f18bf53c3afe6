import type { Request } from 'express';

/**
 * Whether a browser sent the request on behalf of another site (contract 3.1). Programs that send no origin are not affected:
 * they don't attach cookies automatically.
 */
export function isForeign(request: Request): boolean {
  const site = request.get('sec-fetch-site');
  if (site !== undefined) return site === 'cross-site' || site === 'same-site';
  const origin = request.get('origin') ?? request.get('referer');
  return origin !== undefined && !isOwn(origin, request);
}

/**
 * Whether a request was sent to this origin. A trusted proxy reports the host and scheme; forwarded.ts has removed the reports of other
 * peers. Without a report the scheme is unknown, since a proxy that the settings don't name may have terminated TLS.
 */
function isOwn(origin: string, request: Request): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, host } = new URL(origin);
  if (protocol !== 'http:' && protocol !== 'https:') return false;
  // A host with or without the default port of its scheme is the same host.
  const called = `${protocol}//${request.host}`;
  if (!URL.canParse(called) || new URL(called).host !== host) return false;
  return request.get('x-forwarded-proto') === undefined || protocol === `${request.protocol}:`;
}
