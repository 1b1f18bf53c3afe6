import type { Request } from 'express';
import type { Caller } from '../rules/caller.ts';
import type { HttpCallers } from './callers.ts';

/** The result of authenticating a GraphQL request. */
export type Authentication =
  | { readonly kind: 'known'; readonly caller: Caller }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'tooManyFailures'; readonly retrySeconds: number };

/**
 * Authenticates a GraphQL request: by signature (`auth_key` and `timestamp` as query parameters, or the headers
 * `x-adit-auth-key` and `x-adit-timestamp`), by Bearer token or session as in the legacy API, or by the administrator's name and
 * password with HTTP Basic.
 */
export async function authenticate(callers: HttpCallers, request: Request): Promise<Authentication> {
  const signature = signatureOf(request);
  const basic = signature.size === 0 ? basicCredentials(request.get('authorization')) : undefined;
  if (basic !== undefined) {
    const outcome = callers.checkAdministrator(request, basic.username, basic.password);
    if (outcome === true) return { kind: 'known', caller: { kind: 'admin', by: 'password', address: request.ip ?? '' } };
    if (outcome === false) return { kind: 'refused', reason: 'wrong user name or password' };
    return { kind: 'tooManyFailures', retrySeconds: Math.ceil(outcome / 1000) };
  }
  const identified = await callers.identify(request, signature);
  if ('caller' in identified) return { kind: 'known', caller: identified.caller };
  const asked = signature.size > 0 || request.get('authorization') !== undefined;
  return { kind: 'refused', reason: asked ? identified.msg : 'authentication required' };
}

function signatureOf(request: Request): ReadonlyMap<string, string> {
  const query = new URLSearchParams(request.url.split('?')[1]);
  const parts = new Map<string, string>();
  for (const [name, header] of [['auth_key', 'x-adit-auth-key'], ['timestamp', 'x-adit-timestamp']] as const) {
    const value = request.get(header) ?? query.get(name);
    if (value !== null) parts.set(name, value);
  }
  return parts;
}

/** The name and password in a Basic header; undefined = no such header. */
function basicCredentials(header: string | undefined): { readonly username: string; readonly password: string } | undefined {
  const encoded = /^basic +([a-z0-9+/=]+)$/i.exec(header ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  return colon < 0 ? { username: text, password: '' } : { username: text.slice(0, colon), password: text.slice(colon + 1) };
}
