import type { IncomingMessage } from 'node:http';

/** The host the caller used: the Host header without port and brackets (contract 2.1, `ip`). */
export function requestHost(request: IncomingMessage): string {
  const host = request.headers.host ?? '';
  if (host.startsWith('[')) return host.slice(1, host.includes(']') ? host.indexOf(']') : undefined);
  const port = host.lastIndexOf(':');
  return port < 0 ? host : host.slice(0, port);
}
