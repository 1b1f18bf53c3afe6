import type { Request } from 'express';

/**
 * Whether a browser sends a request for another site (contract 3.1). Programs that say nothing of where they come from are not
 * meant: they have no cookie by accident.
 */
export function isForeign(request: Request): boolean {
  const site = request.get('sec-fetch-site');
  if (site !== undefined) return site === 'cross-site' || site === 'same-site';
  const origin = request.get('origin') ?? request.get('referer');
  return origin !== undefined && !(URL.canParse(origin) && new URL(origin).host === request.host);
}
