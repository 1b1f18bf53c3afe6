import { Field } from '../http/field.ts';
import { formatHead } from '../http/head.ts';
import type { RequestPlace } from './request-place.ts';

/** Sends a request for HTTP to HTTPS: the same host, path and query (contract 4.7). @param close the connection ends with it */
export function httpsRedirect({ host, path }: RequestPlace, httpsPort: number, close: boolean): Buffer {
  const name = host.replace(/:\d*$/, '');
  const port = httpsPort === 443 ? '' : `:${httpsPort}`;
  return formatHead('HTTP/1.1 301 Moved Permanently', [
    Field.of('Location', `https://${name}${port}${path}`),
    Field.of('Content-Length', '0'),
    ...(close ? [Field.of('Connection', 'close')] : []),
  ]);
}
