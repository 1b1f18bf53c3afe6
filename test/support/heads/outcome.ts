import { createHash } from 'node:crypto';
import { requestFraming, responseFraming } from '../../../src/engine/http/body.ts';
import { HEAD_LIMITS, parseRequestHead, parseResponseHead, type RequestHead, type ResponseHead } from '../../../src/engine/http/head.ts';
import { PlainRequestHead, plainRequestHead, PlainResponseHead, plainResponseHead } from '../../../src/engine/http/plain-head.ts';
import { readProxyRequest } from '../../../src/engine/http/proxy-request.ts';
import { readProxyResponse } from '../../../src/engine/http/proxy-response.ts';
import { HttpSyntaxError } from '../../../src/engine/http/syntax-error.ts';
import { HeadsForTarget } from '../../../src/engine/vhost/target/head-for-target.ts';
import { headForVisitor, staysOpen } from '../../../src/engine/vhost/response/head-for-visitor.ts';
import { hostFields } from '../../../src/engine/vhost/target/host-fields.ts';
import { upgradeOf } from '../../../src/engine/vhost/target/request-fields.ts';
import { placeOf } from '../../../src/engine/vhost/request/request-place.ts';

/** Hosts that change nothing, the name of the host, and headers. */
const hosts = [
  hostFields({ headers: [], hostChange: '' }),
  hostFields({ headers: [], hostChange: 'inner.example' }),
  hostFields({ headers: ['Cookie: own=1', 'X-Real-IP: 1'], hostChange: '' }),
];

/** What a head says, and what is passed on of it: all that a target or visitor sees. */
function requestSays(head: RequestHead): string {
  const framing = head instanceof PlainRequestHead ? head.framing : requestFraming(head);
  const { host, path } = placeOf(head);
  const passed = hosts.flatMap((own) =>
    [false, true].map((trusted) => new HeadsForTarget().write(head, path, own, { address: '192.0.2.1', scheme: 'http', host, trusted }).toString('latin1'))
  );
  return JSON.stringify([head.method, head.target, head.minor, head.length, host, path, framing, upgradeOf(head), passed]);
}

function responseSays(head: ResponseHead): string {
  const ways = ['GET', 'HEAD'].map((method) => (head instanceof PlainResponseHead ? head.framing(method) : responseFraming(head, method)));
  const passed = ([0, 1] as const).flatMap((minor) =>
    [false, true].map((closes) => headForVisitor(head, { minor, closes, body: Buffer.from('body') }).toString('latin1'))
  );
  return JSON.stringify([head.status, head.reason, head.minor, head.length, staysOpen(head), ways, passed]);
}

/** What a forward proxy makes of a request; `own.example` is a host of the server. */
function proxyRequestSays(head: RequestHead): string {
  const request = readProxyRequest(head, (authority) => authority === 'own.example');
  return JSON.stringify([head.length, request.kind === 'forward' ? { ...request, head: request.head.toString('latin1') } : request]);
}

/** What it makes of a response, to each kind of request. */
function proxyResponseSays(head: ResponseHead): string {
  return JSON.stringify(
    (['GET', 'HEAD'] as const).flatMap((method) =>
      ([0, 1] as const).flatMap((minor) =>
        [false, true].flatMap((last) =>
          [false, true].map((own) =>
            outcome(
              () => readProxyResponse(head, { method, minor, last, own }),
              (response) => JSON.stringify({ ...response, head: response.head.toString('latin1') }),
            )
          )
        )
      )
    ),
  );
}

/** undefined = its end is missing. */
function outcome<T>(read: () => T | undefined, says: (head: T) => string): string {
  try {
    const head = read();
    return head === undefined ? 'incomplete' : says(head);
  } catch (error) {
    if (!(error instanceof HttpSyntaxError)) throw error;
    return `refused: ${error.status}`;
  }
}

/** What becomes of a request, as the strict parser reads it. */
export function strictRequest(bytes: Buffer, limits = HEAD_LIMITS): string {
  return outcome(() => parseRequestHead(bytes, limits), requestSays);
}

/** The same as its bytes are read; undefined = it is not plain. */
export function plainRequest(bytes: Buffer, limits = HEAD_LIMITS): string | undefined {
  const head = plainRequestHead(bytes, limits);
  return head && outcome(() => head, requestSays);
}

/** What a forward proxy makes of a request, as the strict parser reads it. */
export function strictProxyRequest(bytes: Buffer, limits = HEAD_LIMITS): string {
  return outcome(() => parseRequestHead(bytes, limits), proxyRequestSays);
}

/** The same as its bytes are read; undefined = it is not plain. */
export function plainProxyRequest(bytes: Buffer, limits = HEAD_LIMITS): string | undefined {
  const head = plainRequestHead(bytes, limits, 'absolute');
  return head && outcome(() => head, proxyRequestSays);
}

/** What becomes of a response, as the strict parser reads it. */
export function strictResponse(bytes: Buffer): string {
  return outcome(() => parseResponseHead(bytes), responseSays);
}

/** The same as its bytes are read; undefined = it is not plain. */
export function plainResponse(bytes: Buffer): string | undefined {
  const head = plainResponseHead(bytes);
  return head && outcome(() => head, responseSays);
}

/** What a forward proxy makes of a response, as the strict parser reads it. */
export function strictProxyResponse(bytes: Buffer): string {
  return outcome(() => parseResponseHead(bytes), proxyResponseSays);
}

/** The same as its bytes are read; undefined = it is not plain. */
export function plainProxyResponse(bytes: Buffer): string | undefined {
  const head = plainResponseHead(bytes);
  return head && outcome(() => head, proxyResponseSays);
}

/** An outcome in a few characters. */
export function briefly(says: string): string {
  return says.startsWith('[') ? createHash('sha256').update(says).digest('base64url').slice(0, 10) : says;
}
