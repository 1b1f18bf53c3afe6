import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';
import { afterEach } from '@jest/globals';
import { covering } from './certificates.ts';

const open: Array<http.Server | https.Server> = [];

afterEach(() => {
  for (const server of open.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

/** A request as a target saw it. */
interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

/** An HTTP server that answers every request with what it saw of it, and where it listens. */
export interface HttpTarget {
  readonly port: number;
  readonly requests: SeenRequest[];
  /** Connections that it accepted. */
  readonly connections: number;
}

/** Starts a target that answers `METHOD URL BODY`. */
export async function startHttpTarget({ host = '127.0.0.1', tls = false }: { readonly host?: string; readonly tls?: boolean } = {}): Promise<HttpTarget> {
  const requests: SeenRequest[] = [];
  const answer: http.RequestListener = (request, response) => {
    text(request).then((body) => {
      const { method = '', url = '', headers } = request;
      requests.push({ method, url, headers, body });
      response.end(`${method} ${url} ${body}`);
    }, () => response.destroy());
  };
  const server = tls ? https.createServer({ cert: covering.certificate, key: covering.key }, answer) : http.createServer(answer);
  let connections = 0;
  server.on('connection', () => connections++);
  server.listen(0, host);
  open.push(server);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  return {
    port: address.port,
    requests,
    get connections() {
      return connections;
    },
  };
}
