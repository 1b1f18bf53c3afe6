import http from 'node:http';
import { requestedHost } from '../rules/host-name.ts';
import { formatHostPort } from '../rules/host-port.ts';

/** The server that redirects every plain HTTP request to HTTPS. @param httpsPort the port of HTTPS */
export function createRedirectServer(httpsPort: () => number): http.Server {
  const limits = { maxHeaderSize: 16 * 1024, headersTimeout: 10_000, requestTimeout: 15_000, keepAliveTimeout: 5000 };
  return http.createServer(limits, (request, response) => {
    const host = requestedHost(request.headers.host ?? '');
    const path = request.url ?? '';
    response.setHeader('Connection', 'close');
    if (host === undefined || !path.startsWith('/')) {
      response.writeHead(400).end();
      return;
    }
    const port = httpsPort();
    // Other methods keep their method and body with 308, but a secret in the body was sent in the clear already.
    response.writeHead(308, { Location: `https://${formatHostPort({ host, port }).replace(/:443$/, '')}${path}`, 'Content-Length': 0 }).end();
  });
}
