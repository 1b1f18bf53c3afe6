import { once } from 'node:events';
import net from 'node:net';
import { portOf } from '../sides/side.ts';
import { residentBytes } from '../usage.ts';
import type { Work } from './work.ts';

const BEFORE = 4000;
const CONNECTIONS = 5000;
/** Opened at once: within every backlog. */
const AT_ONCE = 100;
/** For what a program does after the last connection, in ms. */
const SETTLE_MS = 2000;

/**
 * What an open connection costs that carries nothing: growth of memory from 4,000 of them to 9,000. Not from none: the first traffic makes the heap of a
 * runtime grow by tens of MB, once, however few connections follow.
 */
export const idle: Work = {
  name: 'idle',
  title: `Memory of an idle connection, from ${BEFORE} to ${BEFORE + CONNECTIONS}`,
  programs: [],
  fresh: true,
  way: 'echo',
  metrics: [{ name: 'KB/connection', digits: 1, more: false, limit: 6, goals: { 'OpenSSH -R': 0.25 } }],
  async measure(side) {
    const [port, { pids }] = [portOf(side, 'echo'), side];
    const sockets = await open(port, BEFORE);
    await settle();
    const before = residentBytes(pids);
    sockets.push(...await open(port, CONNECTIONS));
    await settle();
    const grown = residentBytes(pids) - before;
    const lost = sockets.filter((socket) => socket.destroyed).length;
    for (const socket of sockets) socket.destroy();
    return { figures: { 'KB/connection': grown / 1024 / CONNECTIONS }, errors: lost === 0 ? '' : `${lost} connections were lost` };
  },
};

/** Opens connections that have each carried one byte there and back. */
async function open(port: number, count: number): Promise<net.Socket[]> {
  const sockets: net.Socket[] = [];
  while (sockets.length < count) {
    sockets.push(
      ...await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - sockets.length) }, async () => {
        const socket = net.connect(port, '127.0.0.1');
        socket.write('x');
        await once(socket, 'data');
        return socket.on('error', () => socket.destroy());
      })),
    );
  }
  return sockets;
}

function settle(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, SETTLE_MS);
  });
}
