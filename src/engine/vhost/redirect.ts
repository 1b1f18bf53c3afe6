import { formatHead } from '../http/head.ts';
import type { RequestPlace } from './request-place.ts';

/** Sends a request for HTTP to HTTPS: the same host, path and query (contract 4.7). @param close the connection ends with it */
export function httpsRedirect({ host, path }: RequestPlace, httpsPort: number, close: boolean): Buffer {
  const name = host.replace(/:\d*$/, '');
  const port = httpsPort === 443 ? '' : `:${httpsPort}`;
  return formatHead('HTTP/1.1 301 Moved Permanently', [
    { name: 'Location', value: `https://${name}${port}${path}` },
    { name: 'Content-Length', value: '0' },
    ...(close ? [{ name: 'Connection', value: 'close' }] : []),
  ]);
}
