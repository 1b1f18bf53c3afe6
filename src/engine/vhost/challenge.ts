import { Field } from '../http/field.ts';
import { formatHead } from '../http/head.ts';

const WHERE = '/.well-known/acme-challenge/';

/** The token that a certificate authority asks for (RFC 8555, 8.3); undefined = the path is another. */
export function challengeToken(path: string): string | undefined {
  return path.startsWith(WHERE) ? path.slice(WHERE.length) : undefined;
}

/** Shows a certificate authority that the name leads here. @param close the connection ends with it */
export function challengeResponse(answer: string, close: boolean): Buffer {
  const body = Buffer.from(answer);
  return formatHead('HTTP/1.1 200 OK', [
    Field.of('Content-Type', 'application/octet-stream'),
    Field.of('Content-Length', String(body.length)),
    Field.of('Cache-Control', 'no-store'),
    ...(close ? [Field.of('Connection', 'close')] : []),
  ], body);
}
