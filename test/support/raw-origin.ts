import { once } from 'node:events';
import net from 'node:net';
import { RecordedSocket } from './recorded-socket.ts';

/** An origin that sends nothing by itself, and keeps everything that it receives. It accepts any input. */
export interface RawOrigin {
  readonly target: string;
  /** In the order in which they came. */
  readonly connections: readonly RecordedSocket[];
  /** The connection of that index, when it is there. */
  connection(index: number): Promise<RecordedSocket>;
  close(): void;
}

/** Starts one on a port of its own. */
export async function startRawOrigin(): Promise<RawOrigin> {
  const connections: RecordedSocket[] = [];
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    connections.push(new RecordedSocket(socket));
    server.emit('recorded');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    target: `127.0.0.1:${portOf(server)}`,
    connections,
    async connection(index) {
      for (;;) {
        const found = connections[index];
        if (found) return found;
        await once(server, 'recorded');
      }
    },
    close() {
      for (const { socket } of connections) socket.destroy();
      server.close();
    },
  };
}

/** The port of a listening server. */
export function portOf(server: net.Server): number {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  return address.port;
}
