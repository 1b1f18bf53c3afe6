import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { VisitorTrace } from '../../src/engine/limits/visitor-trace.ts';
import { holdToShares } from '../../src/http/server.ts';
import { covering } from '../support/certificates.ts';
import { clientHello } from '../support/client-hello.ts';
import { eventually, eventuallyAsync } from '../support/eventually.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { closed, roundTrip, startEcho } from '../support/target.ts';
import { openTunnel, startAgent, startEngine } from '../support/tunnel.ts';
import { hostOf, startVhost } from '../support/vhost.ts';

const open = new Set<net.Socket>();
afterEach(() => {
  for (const socket of open) socket.destroy();
  open.clear();
});

/** A connection from an address of this machine. */
async function from(localAddress: string, port: number): Promise<net.Socket> {
  const socket = net.connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined);
  open.add(socket);
  // One that is refused may never hear that it was connected.
  await new Promise<void>((resolve) => {
    socket.once('connect', () => resolve()).once('close', () => resolve());
  });
  return socket;
}

/** Whether a connection stays that says nothing. */
async function stays(socket: net.Socket, count: () => number, expected: number): Promise<boolean> {
  return Promise.race([closed(socket).then(() => false), eventually(count, (now) => now === expected).then(() => true)]);
}

test('one address has its share of a tunnel port, and the others the rest', async () => {
  const server = await startEngine({ visitorShares: { total: 3, perAddress: 2 } });
  await startAgent(server);
  const { port } = await openTunnel(server, { targets: [(await startEcho()).address] });
  const [one, two] = [await from('127.0.0.1', port), await from('127.0.0.1', port)];
  expect([await roundTrip(one, 'a'), await roundTrip(two, 'b')]).toEqual(['a', 'b']);
  await closed(await from('127.0.0.1', port));
  const other = await from('127.0.0.2', port);
  expect(await roundTrip(other, 'c')).toBe('c');
  await closed(await from('127.0.0.3', port));
  one.destroy();
  await eventually(() => server.engine.counts.visitors, (count) => count === 2);
  expect(await roundTrip(await from('127.0.0.1', port), 'd')).toBe('d');
});

test.each(['httpPort', 'httpsPort'] as const)(
  'one address has its share of the %s of the hosts, before and after what it has said; a trusted proxy has none',
  async (which) => {
    const log = new LogRecorder();
    const vhost = await startVhost([hostOf({ host: '*.p.example.com', certificate: covering.certificate, privateKey: covering.key })], {
      shares: { total: 600, perAddress: 10 },
      trusts: (address) => address === '127.0.0.9',
      trace: VisitorTrace.of(log.logger),
    });
    const refused = (): unknown[] => log.entries.filter(({ msg }) => msg === 'refused').map(({ cause, visitor }) => [cause, typeof visitor]);
    const port = vhost[which];
    const connections = (): number => vhost.server.connections;
    if (which === 'httpPort') {
      for (let count = 1; count <= 10; count++) expect(await stays(await from('127.0.0.1', port), connections, count)).toBe(true);
      await closed(await from('127.0.0.1', port));
      expect(refused()).toEqual([['capacity', 'number']]);
      expect(await stays(await from('127.0.0.2', port), connections, 11)).toBe(true);
      // Behind a proxy the visitor's address counts, once it is known.
      const named = async () => {
        const socket = await from('127.0.0.9', port);
        socket.write('PROXY TCP4 127.0.0.2 127.0.0.1 1000 80\r\nG');
        return socket;
      };
      for (let count = 12; count <= 20; count++) expect(await stays(await named(), connections, count)).toBe(true);
      await closed(await named());
      for (let count = 21; count <= 40; count++) {
        const socket = await from('127.0.0.9', port);
        socket.write('G');
        expect(await stays(socket, connections, count)).toBe(true);
      }
      return;
    }
    // Before the handshake: half a hello, which may take 10 s.
    const idle = await Promise.all(Array.from({ length: 512 }, () => from('127.0.0.1', port)));
    await closed(await from('127.0.0.1', port));
    expect(idle.filter((socket) => socket.destroyed)).toHaveLength(0);
    expect(refused()).toEqual([['capacity', 'number']]);
    const other = await from('127.0.0.2', port);
    other.write('no TLS at all');
    await closed(other);
    const hello = await clientHello({ servername: 'x.p.example.com' });
    // The hello of a name of ours is read: from there on it is the visitor's connection, and he has too many.
    const proxied = await from('127.0.0.9', port);
    proxied.write(Buffer.concat([Buffer.from('PROXY TCP4 127.0.0.1 127.0.0.1 1000 80\r\n'), hello]));
    await closed(proxied);
    expect(refused()).toEqual([['capacity', 'number'], ['capacity', 'number']]);
    const [socket] = idle;
    socket?.destroy();
    await eventuallyAsync(async () => {
      const again = await from('127.0.0.9', port);
      again.write(Buffer.concat([Buffer.from('PROXY TCP4 127.0.0.1 127.0.0.1 1000 80\r\n'), hello]));
      return Promise.race([once(again, 'data').then(() => true), closed(again).then(() => false)]);
    }, (answered) => answered);
  },
);

test('one address has its share of the API; a trusted proxy has none', async () => {
  const server = http.createServer((_request, response) => response.end('ok')).listen(0, '127.0.0.1');
  holdToShares(server, { total: 5, perAddress: 2 }, ['127.0.0.9']);
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  const answers = async (localAddress: string): Promise<boolean> => {
    const socket = await from(localAddress, address.port);
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    return Promise.race([once(socket, 'data').then(() => true), once(socket, 'close').then(() => false)]);
  };
  expect([await answers('127.0.0.1'), await answers('127.0.0.1'), await answers('127.0.0.1')]).toEqual([true, true, false]);
  expect([await answers('127.0.0.9'), await answers('127.0.0.9'), await answers('127.0.0.9'), await answers('127.0.0.2')]).toEqual([true, true, true, false]);
  server.closeAllConnections();
  await eventuallyAsync(() => answers('127.0.0.1'), (answered) => answered);
  server.closeAllConnections();
  server.close();
});
