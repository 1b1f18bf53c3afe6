import dgram from 'node:dgram';
import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { covering } from '../support/certificates.ts';
import type { DevelopmentTargets } from '../support/development-data.ts';

/** More than the traffic of a client that may use 1 MB. */
const LARGE = Buffer.alloc(2 * 1024 * 1024, 'large ');

/** Targets of each kind, on this machine. They end with the process, and do not keep it. @param firstPort they get this one and those after it; 0 = free ones */
export async function startTargets(firstPort: number): Promise<Omit<DevelopmentTargets, 'files'>> {
  const port = (index: number) => firstPort === 0 ? 0 : firstPort + index;
  const answer: http.RequestListener = (request, response) => {
    if (request.url === '/large') response.end(LARGE);
    else response.end(`You asked for ${request.method} ${request.url} of ${request.headers.host}\n`);
  };
  const echo = net.createServer((socket) => socket.on('error', () => socket.destroy()).pipe(socket));
  const udp = dgram.createSocket('udp4');
  udp.on('message', (bytes, { address, port: from }) => udp.send(bytes, from, address));
  udp.bind(port(2), '127.0.0.1').unref();
  const silent = net.createServer();
  const [web, tcpEcho, , secure, unused] = await Promise.all([
    listening(http.createServer(answer), port(0)),
    listening(echo, port(1)),
    once(udp, 'listening'),
    listening(https.createServer({ cert: covering.certificate, key: covering.key }, answer), port(3)),
    listening(silent, port(4)),
  ]);
  silent.close(); // a port that was just ours: nothing listens there now
  return { web, tcpEcho, udpEcho: `127.0.0.1:${udp.address().port}`, https: secure, silent: unused };
}

async function listening(server: net.Server, port: number): Promise<string> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
