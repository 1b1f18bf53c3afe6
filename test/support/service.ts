import { once } from 'node:events';
import http from 'node:http';
import { afterEach } from '@jest/globals';

const open: http.Server[] = [];

afterEach(() => {
  for (const server of open.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

/** An address of this machine that nothing else uses: a port that is given up for a while is not another's meanwhile. */
let lastAddress = 10 + process.pid % 200;

/** A service that tests take down and bring back. It answers every request with its name. */
export interface Service {
  /** host:port */
  readonly address: string;
  /** URLs of the requests it has got. */
  readonly requests: string[];
  /** Connections it has accepted. */
  readonly connections: number;
  /** Answers with this status from now on. */
  answer(status: number): void;
  /** Takes connections and requests, and answers none. */
  hang(): void;
  /** Refuses connections from now on, and cuts those that are open. */
  goDown(): Promise<void>;
  /** Is back, and answers with 200. */
  comeBack(): Promise<void>;
}

/** Starts a service that answers with 200 and `name`. */
export async function startService(name: string): Promise<Service> {
  const host = `127.0.${lastAddress++ % 250}.77`;
  const requests: string[] = [];
  let status = 200;
  let hanging = false;
  let connections = 0;
  const server = http.createServer((request, response) => {
    requests.push(request.url ?? '');
    if (!hanging) response.writeHead(status, { 'content-length': name.length }).end(name);
  }).on('connection', () => connections++).listen(0, host);
  open.push(server);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  const { port } = address;
  return {
    address: `${host}:${port}`,
    requests,
    get connections() {
      return connections;
    },
    answer: (next) => {
      status = next;
    },
    hang: () => {
      hanging = true;
    },
    goDown: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
    comeBack: async () => {
      status = 200;
      hanging = false;
      if (server.listening) return;
      server.listen(port, host);
      await once(server, 'listening');
    },
  };
}
