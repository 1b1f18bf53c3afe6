import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import process from 'node:process';
import { Child } from '../test/support/child.ts';
import { programPath } from '../test/support/find-program.ts';
import { freePort } from '../test/support/free-port.ts';
import { scratchDirectory } from '../test/support/scratch.ts';
import { answering } from './answering.ts';

/** Bytes of the file that is sent again and again as bulk. */
export const BULK_FILE_BYTES = 64 * 1024 * 1024;

/** What every side leads to. */
export interface Targets {
  /** nginx: a small answer at /, BULK_FILE_BYTES at /bulk */
  readonly http: number;
  /** Sends back what it gets, and keeps connections open. */
  readonly echo: number;
  /** The same for datagrams. */
  readonly udp: number;
}

/** Starts the targets, cheap ones, so that they are never the bottleneck; all sides lead to the same. */
export async function startTargets(): Promise<Targets> {
  return { http: await startNginx(), echo: await startEcho(), udp: await startUdpEcho() };
}

async function startNginx(): Promise<number> {
  const directory = scratchDirectory();
  const port = await freePort();
  writeFileSync(path.join(directory, 'bulk'), randomBytes(BULK_FILE_BYTES), { mode: 0o644 });
  const config = path.join(directory, 'nginx.conf');
  writeFileSync(
    config,
    `
    daemon off; master_process off; pid ${directory}/pid; error_log stderr notice; worker_rlimit_nofile 16384;
    events { worker_connections 8192; }
    http {
      access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000; keepalive_timeout 300s;
      client_body_temp_path ${directory}; proxy_temp_path ${directory}; fastcgi_temp_path ${directory}; uwsgi_temp_path ${directory}; scgi_temp_path ${directory};
      server {
        listen 127.0.0.1:${port} backlog=4096; root ${directory};
        location = / { default_type text/plain; return 200 "Hello through the tunnel\\n"; }
      }
    }`,
  );
  await answering(port, new Child(programPath('nginx'), ['-c', config, '-e', path.join(directory, 'errors')]));
  return port;
}

async function startEcho(): Promise<number> {
  const server = net.createServer({ noDelay: true }, (socket) => socket.on('error', () => socket.destroy()).pipe(socket));
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }).unref();
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  return address.port;
}

async function startUdpEcho(): Promise<number> {
  const [, port] = await new Child(process.execPath, [path.join(import.meta.dirname, 'udp-echo.mjs')]).says(/listening on (\d+)/);
  return Number(port);
}
