import { parseTarget } from '../../rules/targets.ts';
import { type Framing, requestFraming } from './body.ts';
import { endToEnd } from './end-to-end.ts';
import { Field, listOf, valuesOf } from './field.ts';
import { formatHead, formatStart, formatTrailer, type RequestHead } from './head.ts';
import { PlainRequestHead } from './plain-head.ts';
import { withoutSession } from './session-fields.ts';
import { HttpSyntaxError } from './syntax-error.ts';
import { formatHostPort } from '../../rules/host-port.ts';

/** A request of a visitor to a forward proxy. */
export type ProxyRequest =
  /** A tunnel. */
  | { readonly kind: 'connect'; /** host:port */ readonly target: string }
  | {
    readonly kind: 'forward';
    /** host:port */
    readonly target: string;
    readonly method: string;
    readonly minor: 0 | 1;
    /** The target is this server, or one of its hosts: session cookies of the panel are removed in both directions. */
    readonly own: boolean;
    /** The head for the target. */
    readonly head: Buffer;
    readonly body: Framing;
    /** No further request comes on this connection. */
    readonly last: boolean;
  };

/** Fields that Connection must not remove: without them the message has another length, or another host. */
const indispensable = new Set(['host', 'content-length', 'transfer-encoding']);

const CONNECTION_CLOSE = Field.of('Connection', 'close');
const [END, CLOSING_END] = [formatTrailer([]), formatTrailer([CONNECTION_CLOSE])];

/** Reads a request to a forward proxy. @param isOwn whether a host is this server, or one of its hosts @throws {HttpSyntaxError} */
export function readProxyRequest(head: RequestHead, isOwn: (host: string) => boolean): ProxyRequest {
  if (head instanceof PlainRequestHead) return readPlainRequest(head, isOwn);
  const hosts = valuesOf(head.fields, 'host');
  if (hosts.length > 1) throw new HttpSyntaxError('there are several Host fields');
  if (hosts.length === 0 && head.minor === 1) throw new HttpSyntaxError('the Host field is missing');
  const body = requestFraming(head);
  if (head.method === 'CONNECT') return { kind: 'connect', target: connectTarget(head, body) };
  const { authority, path } = splitUrl(head);
  checkConnection(head.fields);
  const last = head.minor === 0 || [...listOf(head.fields, 'connection'), ...listOf(head.fields, 'proxy-connection')].includes('close');
  const own = isOwn(authority);
  const passed = endToEnd(head.fields).filter(({ lower }) => lower !== 'host');
  const fields = [Field.of('Host', authority), ...own ? passed.flatMap((field) => withoutSession(field) ?? []) : passed];
  if (last) fields.push(CONNECTION_CLOSE);
  return {
    kind: 'forward',
    target: targetOfUrl(authority),
    method: head.method,
    minor: head.minor,
    own,
    head: formatHead(`${head.method} ${path} HTTP/1.${head.minor}`, fields),
    body,
    last,
  };
}

/** A plain head contains no session cookie, and no field that concerns the proxy. */
function readPlainRequest(head: PlainRequestHead, isOwn: (host: string) => boolean): ProxyRequest {
  const { method, closes } = head;
  const { authority, path } = splitUrl(head);
  const before = formatStart(`${method} ${path} HTTP/1.1`, [Field.of('Host', authority)]);
  return {
    kind: 'forward',
    target: targetOfUrl(authority),
    method,
    minor: 1,
    own: isOwn(authority),
    head: head.passedOnBehind(before, closes ? CLOSING_END : END),
    body: head.framing,
    last: closes,
  };
}

/** @throws {HttpSyntaxError} when Connection would remove an indispensable field */
export function checkConnection(fields: readonly Field[]): void {
  const named = listOf(fields, 'connection').find((name) => indispensable.has(name));
  if (named !== undefined) throw new HttpSyntaxError(`Connection names ${named}`);
}

function connectTarget({ target }: RequestHead, body: Framing): string {
  if (body.kind !== 'length' || body.bytes > 0) throw new HttpSyntaxError('CONNECT has no body');
  return targetOf(target);
}

/** Splits the absolute form: its authority as it was sent, and the path that the target sees. */
function splitUrl({ method, target }: RequestHead): { readonly authority: string; readonly path: string } {
  if (target.startsWith('/') || target === '*') throw new HttpSyntaxError('this is a proxy: request an absolute URL');
  const [, authority, rest] = /^http:\/\/([^/?#]+)([^#]*)$/i.exec(target) ?? [];
  if (authority === undefined || rest === undefined) {
    throw new HttpSyntaxError('this proxy only forwards requests for http:// URLs: use CONNECT for anything else');
  }
  if (rest === '') return { authority, path: method === 'OPTIONS' ? '*' : '/' };
  return { authority, path: rest.startsWith('/') ? rest : `/${rest}` };
}

/** The target of an `http` URL, whose port is 80 unless it has one. */
function targetOfUrl(authority: string): string {
  return targetOf(/:\d+$/.test(authority) ? authority : `${authority}:80`);
}

function targetOf(authority: string): string {
  const target = authority.includes(':') ? parseTarget(authority) : undefined;
  if (!target) throw new HttpSyntaxError('the target is not a host with a port');
  return formatHostPort(target);
}
