import type http2 from 'node:http2';
import { Field } from '../../http/field.ts';
import type { HeadLimits, RequestHead } from '../../http/head.ts';
import { HttpSyntaxError } from '../../http/syntax-error.ts';

/** Fields that are not allowed in HTTP/2 (RFC 9113, 8.2.2); a request that has one is malformed. */
const connectionSpecific = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'http2-settings']);
const CHUNKED = Field.of('Transfer-Encoding', 'chunked');

/**
 * The head of a request over HTTP/2 in the form of HTTP/1.1, in which it goes on to the target.
 * @param ended it has no body
 * @returns undefined = HTTP/1.1 can't express it without changing its meaning: a stream error
 */
export function requestHead(headers: http2.IncomingHttpHeaders, ended: boolean): RequestHead | undefined {
  const { ':method': method, ':path': target, ':authority': authority, host, 'content-length': length } = headers;
  const name = authority ?? host;
  if (method === undefined || method === 'CONNECT' || target === undefined || name === undefined || !/^(\/|\*$)/.test(target)) return undefined;
  if (authority !== undefined && host !== undefined && authority.toLowerCase() !== host.toLowerCase()) return undefined;
  // A method uses the characters of names, a path those of values.
  const named = Field.received('Host', name);
  const came = receivedFields(headers);
  if (!named || !came || !Field.received(method, target)) return undefined;
  // Announced trailers can only follow chunks.
  const chunked = !ended && (length === undefined || headers.trailer !== undefined);
  const fields = [named];
  for (const field of came) {
    const { lower } = field;
    if (lower === 'host' || (chunked && lower === 'content-length')) continue;
    if (connectionSpecific.has(lower)) return undefined;
    fields.push(field);
  }
  if (chunked) fields.push(CHUNKED);
  // ' ' and ' HTTP/1.1', two line ends.
  return { method, target, minor: 1, fields, length: method.length + target.length + 14 + bytesOf(fields) };
}

/** Applies the limits and rules of HTTP/1.1 heads to such a head. @throws {HttpSyntaxError} */
export function checkRequestHead({ target, fields, length }: RequestHead, limits: HeadLimits): void {
  if (!/^[\x21-\x7e\x80-\xff]+$/.test(target)) throw new HttpSyntaxError('the path is malformed');
  if (length > limits.bytes) throw new HttpSyntaxError(`the head is longer than ${limits.bytes} bytes`, 431);
  if (fields.length > limits.fields) throw new HttpSyntaxError(`there are more than ${limits.fields} header fields`, 431);
}

/** The size of the fields in HTTP/1.1, in bytes. */
export function bytesOf(fields: readonly Field[]): number {
  let length = 0;
  for (const { name, value } of fields) length += name.length + value.length + 4;
  return length;
}

/** The fields of a head or a trailer, without the pseudo-fields; undefined = one is invalid. */
export function receivedFields(headers: http2.IncomingHttpHeaders): Field[] | undefined {
  const fields: Field[] = [];
  for (const name of Object.keys(headers)) {
    if (name.startsWith(':')) continue;
    const values = headers[name];
    for (const value of Array.isArray(values) ? values : [values ?? '']) {
      const field = Field.received(name, value);
      if (!field) return undefined;
      fields.push(field);
    }
  }
  return fields;
}

/** A response's head for a visitor over HTTP/2. */
export function responseHeaders(status: number, fields: readonly Field[]): http2.OutgoingHttpHeaders {
  return { ':status': status, ...sentHeaders(fields) };
}

/** Node refuses to send some fields twice. These two must not be joined: their values contain commas. */
const repeated = new Set(['set-cookie', 'www-authenticate']);

/** The fields of a response or its trailer for a visitor over HTTP/2. */
export function sentHeaders(fields: readonly Field[]): http2.OutgoingHttpHeaders {
  // A Map, since a field's name may be that of an inherited property.
  const headers = new Map<string, string | string[]>();
  for (const { lower, value } of fields) {
    if (connectionSpecific.has(lower)) continue;
    const before = headers.get(lower);
    if (before === undefined) headers.set(lower, repeated.has(lower) ? [value] : value);
    else headers.set(lower, Array.isArray(before) ? [...before, value] : `${before}, ${value}`);
  }
  return Object.fromEntries(headers);
}
