import type { RequestScheme } from '../../generated/graphql.ts';

/** A request to diagnose. */
export interface VisitorRequest {
  readonly host: string;
  readonly path: string;
  readonly scheme: RequestScheme;
}

/** The request that a browser sends for a URL; undefined = it is none. Without a scheme, it is HTTP. */
export function requestOf(url: string): VisitorRequest | undefined {
  const text = url.trim();
  if (text === '') return undefined;
  const parsed = URL.parse(/^[a-z][\w+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  if (parsed === null || parsed.hostname === '' || !['http:', 'https:'].includes(parsed.protocol)) return undefined;
  return { host: parsed.host, path: parsed.pathname, scheme: parsed.protocol === 'https:' ? 'HTTPS' : 'HTTP' };
}
