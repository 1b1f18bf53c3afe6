import { type Framing, responseFraming } from './body.ts';
import { endToEndOfResponse } from './end-to-end.ts';
import { Field, listOf } from './field.ts';
import { formatHead, formatTrailer, type ResponseHead } from './head.ts';
import { PlainResponseHead } from './plain-head.ts';
import { checkConnection } from './proxy-request.ts';
import { plantsSession } from './session-fields.ts';
import { HttpSyntaxError } from './syntax-error.ts';

/** A target's response. */
export interface ProxyResponse {
  /** The head for the visitor. */
  readonly head: Buffer;
  readonly body: Framing;
  /** 1xx: the final response follows later. */
  readonly interim: boolean;
  /** The target takes no further request on this connection. */
  readonly last: boolean;
  /** The visitor's connection ends with this response. */
  readonly closes: boolean;
}

const NOTHING = Buffer.alloc(0);
const CONNECTION_CLOSE = Field.of('Connection', 'close');
const [END, CLOSING_END] = [formatTrailer([]), formatTrailer([CONNECTION_CLOSE])];

/**
 * Reads the response to a request of a visitor.
 * @throws {HttpSyntaxError} also for responses that the visitor cannot understand: chunks in HTTP/1.0, another protocol
 */
export function readProxyResponse(
  head: ResponseHead,
  request: { readonly method: string; readonly minor: 0 | 1; readonly last: boolean; readonly own: boolean },
): ProxyResponse {
  if (head instanceof PlainResponseHead && request.minor === 1) return readPlainResponse(head, request);
  if (head.status === 101) throw new HttpSyntaxError('the target switches the protocol without a request for it');
  const body = responseFraming(head, request.method);
  if (body.kind === 'chunked' && request.minor === 0) throw new HttpSyntaxError('chunks for a visitor that speaks HTTP/1.0');
  const interim = head.status < 200;
  const closes = !interim && (request.last || body.kind === 'close');
  checkConnection(head.fields);
  const passed = endToEndOfResponse(head.fields, { status: head.status, minor: request.minor });
  const fields = request.own ? passed.filter((field) => !plantsSession(field)) : passed;
  if (closes) fields.push(CONNECTION_CLOSE);
  return {
    head: formatHead(`HTTP/1.1 ${head.status} ${head.reason}`, fields),
    body,
    interim,
    closes,
    last: !interim && (head.minor === 0 || body.kind === 'close' || listOf(head.fields, 'connection').includes('close')),
  };
}

/** A plain head sets no session cookie, and its status allows a body. */
function readPlainResponse(head: PlainResponseHead, request: { readonly method: string; readonly last: boolean }): ProxyResponse {
  const body = head.framing(request.method);
  const closes = request.last || body.kind === 'close';
  return { head: head.passedOn(NOTHING, closes ? CLOSING_END : END), body, interim: false, closes, last: head.closes || body.kind === 'close' };
}
