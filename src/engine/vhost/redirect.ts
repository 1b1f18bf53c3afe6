import { Field } from '../http/field.ts';
import type { OwnResponse } from './own-response.ts';
import type { RequestPlace } from './request-place.ts';

/** Sends a request for HTTP to HTTPS: the same host, path and query (contract 4.7). */
export function httpsRedirect({ host, path }: RequestPlace, httpsPort: number): OwnResponse {
  const name = host.replace(/:\d*$/, '');
  const port = httpsPort === 443 ? '' : `:${httpsPort}`;
  return { status: 301, fields: [Field.of('Location', `https://${name}${port}${path}`), Field.of('Content-Length', '0')] };
}
