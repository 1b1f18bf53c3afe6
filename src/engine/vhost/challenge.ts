import { formatHead } from '../http/head.ts';

const WHERE = '/.well-known/acme-challenge/';

/** The token that a certificate authority asks for (RFC 8555, 8.3); undefined = the path is another. */
export function challengeToken(path: string): string | undefined {
  return path.startsWith(WHERE) ? path.slice(WHERE.length) : undefined;
}

/** Shows a certificate authority that the name leads here. @param close the connection ends with it */
export function challengeResponse(answer: string, close: boolean): Buffer {
  return Buffer.concat([formatHead('HTTP/1.1 200 OK', [
    { name: 'Content-Type', value: 'application/octet-stream' },
    { name: 'Content-Length', value: String(answer.length) },
    { name: 'Cache-Control', value: 'no-store' },
    ...(close ? [{ name: 'Connection', value: 'close' }] : []),
  ]), Buffer.from(answer, 'latin1')]);
}
