import { once } from 'node:events';
import net from 'node:net';
import type { WrkResult } from './wrk.ts';

/** How a connection to a port comes to lead to the target: it does so by itself, or a proxy is asked for it. */
export type Opening = 'direct' | 'socks5' | 'connect';

/** What is asked, and where. */
export interface RequestLoad {
  /** Of this machine. */
  readonly port: number;
  /** The port that a proxy is asked for. */
  readonly target: number;
  readonly opening: Opening;
  readonly connections: number;
  readonly seconds: number;
}

const REQUEST = Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');

/** Makes small requests over connections that stay open, as wrk does, but through proxies too, which wrk can't. @throws when a connection is not opened */
export async function requests({ port, target, opening, connections, seconds }: RequestLoad): Promise<Pick<WrkResult, 'perSecond' | 'requests' | 'errors'>> {
  const sockets = await Promise.all(Array.from({ length: connections }, () => opened(port, target, opening)));
  // All answers are as long as the first one.
  sockets[0]?.write(REQUEST);
  const length = sockets[0] ? (await chunk(sockets[0])).length : 0;
  let [bytes, lost] = [0, 0];
  for (const socket of sockets) {
    let part = 0;
    socket.on('data', (data) => {
      bytes += data.length;
      part += data.length;
      if (part < length) return;
      part -= length;
      socket.write(REQUEST);
    }).on('close', () => lost++).resume().write(REQUEST);
  }
  const start = performance.now();
  await new Promise((resolve) => {
    setTimeout(resolve, seconds * 1000);
  });
  const [answers, took, errors] = [Math.floor(bytes / length), (performance.now() - start) / 1000, lost === 0 ? '' : `${lost} connections were lost`];
  for (const socket of sockets) socket.destroy();
  return { requests: answers, perSecond: answers / took, errors };
}

/** A connection that leads to the target. */
async function opened(port: number, target: number, opening: Opening): Promise<net.Socket> {
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true }).on('error', () => socket.destroy());
  await once(socket, 'connect');
  if (opening === 'socks5') {
    await said(socket, Buffer.from([5, 1, 0]), (answer) => answer.equals(Buffer.from([5, 0])));
    await said(socket, Buffer.from([5, 1, 0, 1, 127, 0, 0, 1, target >> 8, target & 255]), (answer) => answer.length === 10 && answer[1] === 0);
  } else if (opening === 'connect') {
    await said(
      socket,
      Buffer.from(`CONNECT 127.0.0.1:${target} HTTP/1.1\r\nHost: 127.0.0.1:${target}\r\n\r\n`),
      (answer) => answer.toString('latin1').startsWith('HTTP/1.1 200'),
    );
  }
  return socket;
}

/** Says something to a proxy. @throws when it refuses */
async function said(socket: net.Socket, bytes: Buffer, granted: (answer: Buffer) => boolean): Promise<void> {
  socket.write(bytes);
  const answer = await chunk(socket);
  if (!granted(answer)) throw new Error(`a proxy answered ${answer.toString('latin1')}`);
}

/** What comes next; small answers of this machine come whole. */
async function chunk(socket: net.Socket): Promise<Buffer> {
  const gone = new AbortController();
  socket.once('close', () => gone.abort());
  const next = once(socket, 'data', { signal: gone.signal });
  socket.resume();
  const [data]: unknown[] = await next;
  socket.pause();
  if (!Buffer.isBuffer(data)) throw new Error('a socket without an encoding gives buffers');
  return data;
}
