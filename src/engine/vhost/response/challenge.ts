import { Field } from '../../http/field.ts';
import type { OwnResponse } from './own-response.ts';

const WHERE = '/.well-known/acme-challenge/';

/** The token that a certificate authority requests (RFC 8555, 8.3); undefined = another path. */
export function challengeToken(path: string): string | undefined {
  return path.startsWith(WHERE) ? path.slice(WHERE.length) : undefined;
}

/** Proves to a certificate authority that the name points to this server. */
export function challengeResponse(answer: string): OwnResponse {
  const body = Buffer.from(answer);
  const fields = [
    Field.of('Content-Type', 'application/octet-stream'),
    Field.of('Content-Length', String(body.length)),
    Field.of('Cache-Control', 'no-store'),
  ];
  return { status: 200, fields, body };
}
