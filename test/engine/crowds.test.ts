import { once } from 'node:events';
import net from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import pino from 'pino';
import { StunServer } from '../../src/engine/stun-server.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import { stunMapped, stunRequest } from '../../src/wire/stun.ts';
import { eventually } from '../support/eventually.ts';
import { closed, startEcho } from '../support/target.ts';
import { openTunnel, startAgent, startEngine } from '../support/tunnel.ts';
import { udpPeer } from '../support/udp.ts';

const open = new Set<net.Socket>();
afterEach(() => {
  for (const socket of open) socket.destroy();
  open.clear();
});

/** A connection from an address of this machine. */
function from(localAddress: string, port: number): net.Socket {
  const socket = net.connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined);
  open.add(socket);
  return socket;
}

/** What the other end says first; undefined = it closes the connection without a word. */
async function firstOf(socket: net.Socket): Promise<Buffer | undefined> {
  return Promise.race([once(socket, 'data').then(([bytes]: Buffer[]) => bytes), closed(socket).then(() => undefined)]);
}

const socksHello = Buffer.from([5, 1, 0]);
const socksAssociate = Buffer.from([5, 3, 0, 1, 0, 0, 0, 0, 0, 0]);

test.each(
  [
    ['httpProxy', (target: number) => `CONNECT 127.0.0.1:${target} HTTP/1.1\r\nHost: x\r\n\r\n`, 'HTTP/1.1 200 '],
    ['socks5', () => socksHello, '\x05\x00'],
  ] as const,
)('256 visitors of one address who say nothing to an %s leave the others theirs; a trusted proxy has no share', async (mode, hello, answer) => {
  const server = await startEngine({ trustedProxies: ['127.0.0.9'] });
  await startAgent(server);
  const { port, id } = await openTunnel(server, { mode });
  const { port: target } = await startEcho();
  const crowd = Array.from({ length: 256 }, () => from('127.0.0.2', port));
  await Promise.all(crowd.map((socket) => once(socket, 'connect')));
  await closed(from('127.0.0.2', port));
  expect(server.engine.tunnelState(id)?.refusals).toEqual({ capacity: 1 });
  expect(crowd.filter((socket) => socket.destroyed)).toHaveLength(0);
  const other = from('127.0.0.3', port);
  other.write(hello(target));
  expect(String(await firstOf(other)).startsWith(answer)).toBe(true);
  await Promise.all(Array.from({ length: 256 }, () => once(from('127.0.0.9', port), 'connect')));
  const proxied = from('127.0.0.9', port);
  proxied.write(hello(target));
  expect(String(await firstOf(proxied)).startsWith(answer)).toBe(true);
  crowd[0]?.destroy();
  for (;;) {
    const again = from('127.0.0.2', port);
    again.write(hello(target));
    const said = await firstOf(again);
    if (said !== undefined) return;
  }
});

test('64 UDP associations of one address leave the others theirs', async () => {
  const server = await startEngine();
  await startAgent(server);
  const { port } = await openTunnel(server, { mode: 'socks5' });
  /** The code of the answer: 0 = it was made. */
  const associate = async (address: string): Promise<number | undefined> => {
    const socket = from(address, port);
    socket.write(socksHello);
    await firstOf(socket);
    socket.write(socksAssociate);
    return (await firstOf(socket))?.[1];
  };
  const codes: Array<number | undefined> = [];
  for (let count = 0; count < 64; count++) codes.push(await associate('127.0.0.2'));
  expect(codes.filter((code) => code !== 0)).toEqual([]);
  expect(await associate('127.0.0.2')).toBe(1);
  expect(await associate('127.0.0.3')).toBe(0);
});

test('a crowd of one address at the p2p port, over TCP and UDP, leaves the others their answers', async () => {
  const stunServer = new StunServer({ sockets: netBackend, log: pino({ level: 'silent' }), host: '127.0.0.1', port: 0 });
  try {
    const [port = 0] = await stunServer.ports();
    const crowd = Array.from({ length: 32 }, () => from('127.0.0.2', port));
    await Promise.all(crowd.map((socket) => once(socket, 'connect')));
    await closed(from('127.0.0.2', port));
    const other = from('127.0.0.3', port);
    const request = stunRequest();
    other.write(request);
    expect(stunMapped(await firstOf(other) ?? Buffer.alloc(0), request)).toEqual({ host: '127.0.0.3', port: other.localPort });

    // Answers are counted by the second: a flood that falls into two may have those of both.
    for (let round = 1, whole = false; !whole; round++) {
      const flood = await udpPeer(`127.0.1.${round}`);
      const visitor = await udpPeer('127.0.0.3');
      const second = Math.floor(performance.now() / 1000);
      // Not more than the system keeps for a socket; those of one machine arrive in their order.
      for (let count = 0; count < 200; count++) flood.send(request, port);
      expect(stunMapped(await visitor.ask(request, port), request)).toEqual({ host: '127.0.0.3', port: visitor.port });
      whole = Math.floor(performance.now() / 1000) === second;
      await eventually(() => flood.received.length, (count) => count >= 100);
      if (whole) expect(flood.received).toHaveLength(100);
    }
  } finally {
    await stunServer.close();
  }
});
