import { valuesOf } from '../http/field.ts';
import type { RequestHead } from '../http/head.ts';
import { HttpSyntaxError } from '../http/syntax-error.ts';

/** Where a request goes. */
export interface RequestPlace {
  /** As it was sent, with its port if it had one. */
  readonly host: string;
  /** With its query; `*` for OPTIONS of the whole server. */
  readonly path: string;
}

/** Where a request goes: by its target in absolute form, else by its Host field. @throws {HttpSyntaxError} */
export function placeOf({ target, minor, fields, method }: RequestHead): RequestPlace {
  const [host, ...more] = valuesOf(fields, 'host');
  if (more.length > 0) throw new HttpSyntaxError('more than one Host');
  if (host === undefined && minor === 1) throw new HttpSyntaxError('no Host');
  if (method === 'CONNECT') throw new HttpSyntaxError('this is no proxy', 501);
  if (target.startsWith('/')) return { host: host ?? '', path: target };
  if (target === '*' && method === 'OPTIONS') return { host: host ?? '', path: '*' };
  const absolute = /^https?:\/\/([^/?#@]+)(\/[^#]*|\?[^#]*)?$/i.exec(target);
  if (!absolute) throw new HttpSyntaxError('the target of the request is malformed');
  const [, authority = '', path = '/'] = absolute;
  return { host: authority, path: path.startsWith('/') ? path : `/${path}` };
}
