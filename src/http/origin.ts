import type { Request } from 'express';

/**
 * Whether a browser sends a request for another site (contract 3.1). Programs that say nothing of where they come from are not
 * meant: they have no cookie by accident.
 */
export function isForeign(request: Request): boolean {
  const site = request.get('sec-fetch-site');
  if (site !== undefined) return site === 'cross-site' || site === 'same-site';
  const origin = request.get('origin') ?? request.get('referer');
  return origin !== undefined && !isOwn(origin, request);
}

/**
 * Whether an origin is the one that the request was sent to. Host and scheme are those that a trusted proxy reports; what others say
 * forwarded.ts has removed. Without a report nothing is known of the scheme: a proxy that the settings don't name may have taken off TLS.
 */
function isOwn(origin: string, request: Request): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, host } = new URL(origin);
  if (protocol !== 'http:' && protocol !== 'https:') return false;
  // With the default port of the scheme or without, it is the same host.
  const called = `${protocol}//${request.host}`;
  if (!URL.canParse(called) || new URL(called).host !== host) return false;
  return request.get('x-forwarded-proto') === undefined || protocol === `${request.protocol}:`;
}
