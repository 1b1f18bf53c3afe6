import { once } from 'node:events';
import net from 'node:net';
import { SocksClient } from 'socks';
import { parseTarget } from '../../../src/rules/targets.ts';
import { echoThrough, type Traffic } from './transfer.ts';

/** The longest that a connection may take to be made, in ms. */
const TIMEOUT_MS = 15_000;

/** Connections to a port at whose other end everything is sent back: a tcp tunnel's, or the local port of a visitor program. */
export function streams(name: string, port: number, host?: string): Traffic {
  return { name, run: async (bytes, seed) => echoThrough(await connect(port, host), bytes, seed) };
}

/** CONNECT through a forward proxy. */
export function connectStreams(port: number, target: string, host?: string): Traffic {
  return {
    name: 'httpProxy CONNECT',
    run: async (bytes, seed) => {
      const socket = await connect(port, host);
      socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
      const status = await answer(socket);
      if (status === 'HTTP/1.1 200') return echoThrough(socket, bytes, seed);
      socket.destroy();
      throw new Error(`CONNECT was answered ${status}`);
    },
  };
}

/** The first characters of the answer to CONNECT, whose head comes at once and is followed by nothing that was not asked for. */
async function answer(socket: net.Socket): Promise<string> {
  let head = '';
  while (!head.includes('\r\n\r\n')) {
    const chunk: unknown = socket.read();
    if (Buffer.isBuffer(chunk)) head += chunk.toString('latin1');
    else if (socket.readableEnded || socket.destroyed) throw new Error('the proxy closed the connection without an answer');
    else await Promise.race([once(socket, 'readable'), once(socket, 'close')]);
  }
  socket.removeAllListeners('readable');
  return head.slice(0, 12);
}

/** CONNECT of SOCKS5. */
export function socksStreams(port: number, target: string, host = '127.0.0.1'): Traffic {
  return {
    name: 'socks5 CONNECT',
    run: async (bytes, seed) => {
      const { socket } = await SocksClient.createConnection({
        proxy: { host, port, type: 5 },
        command: 'connect',
        destination: parseTarget(target) ?? { host: '', port: 0 },
        timeout: TIMEOUT_MS,
      });
      return echoThrough(socket, bytes, seed);
    },
  };
}

/** @throws the system's error */
export async function connect(port: number, host = '127.0.0.1'): Promise<net.Socket> {
  const socket = net.connect({ port, host, allowHalfOpen: true });
  await once(socket, 'connect');
  socket.on('error', () => undefined); // readers get the error
  return socket;
}
