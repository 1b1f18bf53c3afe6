import { Field, listOf } from './field.ts';

/** Fields that concern one connection only (RFC 9110, 7.6.1), and those for a proxy. In the spelling of `Field.variable`. */
const hopByHop = new Set(['connection', 'keep-alive', 'proxy-connection', 'proxy-authorization', 'proxy-authenticate', 'te', 'upgrade', 'http2-settings']);

/** Fields that `Connection` must not remove: the body would end elsewhere, the request be routed elsewhere, or seem to come from another client. */
const needed = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'trailer',
  'x-forwarded-for',
  'x-real-ip',
  'x-forwarded-proto',
  'x-forwarded-host',
  'authorization',
  'cookie',
]);

const CHUNKED = Field.of('Transfer-Encoding', 'chunked');

/**
 * The fields of a message that are passed on to the next connection, in an unambiguous form: without hop-by-hop fields,
 * without `Proxy` (CGI programs mistake it for the proxy to use), and with canonical framing.
 * @param fields of a message whose framing was read (requestFraming, responseFraming)
 */
export function endToEnd(fields: readonly Field[]): Field[] {
  const named = listOf(fields, 'connection').filter((name) => !needed.has(name) && !hopByHop.has(name));
  const passed: Field[] = [];
  for (const field of fields) {
    const name = field.variable;
    if (hopByHop.has(name) || name === 'proxy' || (named.length > 0 && named.includes(field.lower))) continue;
    if (name === 'transfer-encoding' || name === 'content-length') {
      // `Content_Length` is not a length, but some programs treat it as one.
      if (field.lower === name) passed.push(name === 'content-length' ? lengthOf(field) : codingOf(field));
    } else {
      passed.push(field);
    }
  }
  return passed;
}

function lengthOf(field: Field): Field {
  const digits = String(Number(field.value));
  return field.name === 'Content-Length' && field.value === digits ? field : Field.of('Content-Length', digits);
}

function codingOf(field: Field): Field {
  const codings = listOf([field], 'transfer-encoding').join(', ');
  if (codings === CHUNKED.value) return CHUNKED;
  return Field.of('Transfer-Encoding', codings);
}

/**
 * The fields of a response that go on to a visitor. A response without a body has no fields that describe one: 1xx and 204 no length, 304 no coding
 * (RFC 9110, 8.6; RFC 9112, 6.1); and HTTP/1.0 has no transfer codings.
 * @param minor the y of HTTP/1.y that the visitor speaks
 */
export function endToEndOfResponse(fields: readonly Field[], { status, minor }: { readonly status: number; readonly minor: 0 | 1 }): Field[] {
  const passed = endToEnd(fields);
  const bodyless = status < 200 || status === 204;
  if (!bodyless && status !== 304 && minor === 1) return passed;
  return passed.filter(({ lower }) => !(lower === 'transfer-encoding' || lower === 'trailer' || (bodyless && lower === 'content-length')));
}
