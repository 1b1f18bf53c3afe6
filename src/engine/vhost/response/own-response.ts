import type { RequestPlace } from '../request/request-place.ts';
import { STATUS_CODES } from 'node:http';
import { Field } from '../../http/field.ts';
import { formatHead } from '../../http/head.ts';

/** A response of this server itself, which no target sent. */
export interface OwnResponse {
  readonly status: number;
  /** Its length among them. */
  readonly fields: readonly Field[];
  /** Absent = none, which is right for HEAD too. */
  readonly body?: Buffer | undefined;
}

/** The same for a visitor over HTTP/1.x. @param close the connection ends with it */
export function formatOwnResponse({ status, fields, body }: OwnResponse, close: boolean): Buffer {
  return formatHead(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, close ? [...fields, Field.of('Connection', 'close')] : fields, body);
}

/** Redirects an HTTP request to HTTPS: the same host, path and query (contract 4.7). */
export function httpsRedirect({ host, path }: RequestPlace, httpsPort: number): OwnResponse {
  const name = host.replace(/:\d*$/, '');
  const port = httpsPort === 443 ? '' : `:${httpsPort}`;
  return { status: 301, fields: [Field.of('Location', `https://${name}${port}${path}`), Field.of('Content-Length', '0')] };
}
