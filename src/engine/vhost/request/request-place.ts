import { resolvedPath } from '../../../rules/request-path.ts';
import { valuesOf } from '../../http/field.ts';
import type { RequestHead } from '../../http/head.ts';
import { PlainRequestHead } from '../../http/plain-head.ts';
import { HttpSyntaxError } from '../../http/syntax-error.ts';

/** The host and path of a request. */
export interface RequestPlace {
  /** As it was sent, with its port if it had one. */
  readonly host: string;
  /** With its query; `*` for OPTIONS of the whole server. Dot segments are resolved (rules/request-path.ts). */
  readonly path: string;
}

/** The host and path of a request: by its target in absolute form, else by its Host field. @throws {HttpSyntaxError} */
export function placeOf(head: RequestHead): RequestPlace {
  if (head instanceof PlainRequestHead) return { host: head.host, path: pathOf(head.target) };
  const { target, minor, fields, method } = head;
  const [host, ...more] = valuesOf(fields, 'host');
  if (more.length > 0) throw new HttpSyntaxError('more than one Host');
  if (host === undefined && minor === 1) throw new HttpSyntaxError('no Host');
  if (method === 'CONNECT') throw new HttpSyntaxError('this server is not a proxy', 501);
  if (target.startsWith('/')) return placeAt(host ?? '', target);
  if (target === '*' && method === 'OPTIONS') return placeAt(host ?? '', '*');
  const absolute = /^https?:\/\/([^/?#@]+)(\/[^#]*|\?[^#]*)?$/i.exec(target);
  if (!absolute) throw new HttpSyntaxError('the target of the request is malformed');
  const [, authority = '', path = '/'] = absolute;
  return placeAt(authority, path.startsWith('/') ? path : `/${path}`);
}

function placeAt(host: string, sent: string): RequestPlace {
  // No character that a target could interpret as the end of the host.
  if (/[^\x21-\x7e]|[/\\?#@]/.test(host)) throw new HttpSyntaxError('the Host is malformed');
  return { host, path: pathOf(sent) };
}

function pathOf(sent: string): string {
  const path = resolvedPath(sent);
  if (path === undefined) throw new HttpSyntaxError('the path is ambiguous: programs interpret it in different ways');
  return path;
}
