import http from 'node:http';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach } from '@jest/globals';
import { WebSocketServer } from 'ws';
import { hashOf, payload } from '../payload.ts';
import { scratchDirectory } from '../scratch.ts';
import { startEcho } from '../target.ts';
import { udpEcho } from '../udp.ts';

/** A file that is served. */
export interface ServedFile {
  readonly name: string;
  readonly content: Buffer;
  readonly hash: string;
}

/** Everything that the tunnels and hosts of a soak lead to; gone when the test is done. */
export interface Targets {
  /** host:port of what sends back what it gets. */
  readonly tcp: string;
  readonly udp: string;
  /** Sends back the body of every request, and every message of a WebSocket. */
  readonly http: string;
  readonly directory: string;
  readonly files: readonly ServedFile[];
}

const open: http.Server[] = [];

afterEach(() => {
  for (const server of open.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

/** Starts all of them on this machine. */
export async function startTargets(): Promise<Targets> {
  const directory = scratchDirectory();
  const files = [1000, 50_000, 1_500_000].map((bytes, seed): ServedFile => {
    const file = { name: `${bytes}.bin`, content: Buffer.concat([...payload(bytes, seed)]), hash: hashOf(bytes, seed) };
    writeFileSync(path.join(directory, file.name), file.content);
    return file;
  });
  const [tcp, udp, web] = await Promise.all([startEcho(), udpEcho(), startHttpEcho()]);
  return { tcp: tcp.address, udp: udp.address, http: web, directory, files };
}

async function startHttpEcho(): Promise<string> {
  const server = http.createServer((request, response) => {
    request.on('error', () => undefined); // a visitor that was cut off
    request.pipe(response);
  });
  // On a busy machine two requests of one connection may be more than Node's 5 s apart; who closes in between makes the second one fail.
  server.keepAliveTimeout = 60_000;
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    socket.on('error', () => undefined).on('message', (data, binary) => socket.send(data, { binary }));
  });
  server.listen(0, '127.0.0.1');
  open.push(server);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  return `127.0.0.1:${address.port}`;
}
