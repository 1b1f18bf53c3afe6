import dgram from 'node:dgram';
import { once } from 'node:events';

/** A visitor without an answer after this many ms sends again: datagrams may be lost. */
const LOST_MS = 200;

/** Visitors, each with a few datagrams under way: every answer is followed by the next one. */
export interface UdpLoad {
  readonly port: number;
  readonly visitors: number;
  /** Datagrams under way, of each visitor. */
  readonly window: number;
  /** Bytes of each. */
  readonly size: number;
  readonly seconds: number;
}

/** What came of a load. */
export interface UdpResult {
  readonly answers: number;
  readonly perSecond: number;
  /** Datagrams without an answer. */
  readonly lost: number;
}

/** Sends datagrams to an echo at a port of this machine, as fast as the answers come. */
export async function loadUdp({ port, visitors, window, size, seconds }: UdpLoad): Promise<UdpResult> {
  const bytes = Buffer.alloc(size, 1);
  const sockets = await Promise.all(Array.from({ length: visitors }, () => connected(port)));
  const counts = { sent: 0, answers: 0 };
  const send = (socket: dgram.Socket): void => {
    counts.sent++;
    socket.send(bytes);
  };
  const watches = sockets.map((socket) => {
    let heard = true;
    socket.on('message', () => {
      heard = true;
      counts.answers++;
      send(socket);
    });
    for (let i = 0; i < window; i++) send(socket);
    return setInterval(() => {
      if (!heard) { for (let i = 0; i < window; i++) send(socket); }
      heard = false;
    }, LOST_MS);
  });
  const start = performance.now();
  await new Promise((resolve) => {
    setTimeout(resolve, seconds * 1000);
  });
  const took = (performance.now() - start) / 1000;
  const { answers, sent } = counts;
  for (const watch of watches) clearInterval(watch);
  for (const socket of sockets) socket.close();
  return { answers, perSecond: answers / took, lost: Math.max(0, sent - answers - visitors * window) };
}

async function connected(port: number): Promise<dgram.Socket> {
  const socket = dgram.createSocket({ type: 'udp4', recvBufferSize: 1024 * 1024 });
  socket.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  return socket.on('error', () => undefined); // what could not be sent counts as lost
}
