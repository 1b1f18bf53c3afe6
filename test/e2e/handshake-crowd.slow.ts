import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { endChildren } from '../support/child.ts';
import { sized } from '../support/endurance.ts';
import { startServer, write, type ServerProcess } from '../support/processes.ts';
import { LoopHold, watchedLoop } from '../support/loop-hold.ts';
import { removeScratchDirectories } from '../support/scratch.ts';
import { slowest, tooLarge } from '../support/unusual-keys.ts';

// Short form: test/engine/handshake-places.test.ts

afterEach(endChildren);
afterAll(removeScratchDirectories);

/**
 * Fewer than one address may have unfinished. Each takes 2 to 5 ms: without a queue, they held the event loop for hundreds. All must be done within the 10 s that a
 * handshake may take, also on a busy machine.
 */
const CROWD = sized(100, 300);

/** The first bytes of a TLS client. */
async function clientHello(servername: string): Promise<Buffer> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port');
  const client = tls.connect({ port: address.port, host: '127.0.0.1', servername, rejectUnauthorized: false }).on('error', () => undefined);
  const [peer]: net.Socket[] = await once(server, 'connection');
  const [hello]: Buffer[] = peer === undefined ? [] : await once(peer, 'data');
  client.destroy();
  peer?.destroy();
  server.close();
  if (hello === undefined) throw new Error('the client said nothing');
  return hello;
}

async function addHost(server: ServerProcess, host: string, { certificate, key }: typeof slowest): Promise<void> {
  const client = await write(server, '/client/add/', { remark: host });
  await write(server, '/index/addhost/', { client_id: client, host, target: '127.0.0.1:1', cert_file_path: certificate, key_file_path: key });
}

/** The first bytes that arrive. @throws if the connection is closed before */
function answerTo(socket: net.Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    socket.once('data', resolve).once('close', () => reject(new Error('the server closed a connection whose handshake it had not answered')));
  });
}

test('many TLS handshakes at the same time are started some at a time: none is lost, and the event loop is not held', async () => {
  const server = await startServer({ environment: watchedLoop });
  await addHost(server, 'a.p.example.com', slowest);
  const hello = await clientHello('a.p.example.com');
  const hold = new LoopHold(server);
  for (const round of ['first', 'second']) {
    const sockets = await Promise.all(Array.from({ length: CROWD }, async () => {
      const socket = net.connect(server.secureHostsPort, '127.0.0.1').on('error', () => undefined);
      await once(socket, 'connect');
      return socket;
    }));
    await hold.most();
    const answers = Promise.all(sockets.map(answerTo));
    for (const socket of sockets) socket.write(hello);
    // A record of the type "handshake" with a message of the type "server hello".
    expect((await answers).map((answer) => [answer[0], answer[5]])).toEqual(Array.from({ length: CROWD }, () => [22, 2]));
    const longest = await hold.most();
    for (const socket of sockets) socket.destroy();
    // The first round compiles code.
    if (round === 'second') expect(longest).toBeLessThan(50);
  }
});

test('a host whose key is too large gets no handshakes, and its certificate says why', async () => {
  const server = await startServer();
  await addHost(server, 'b.p.example.com', tooLarge);
  const client = tls.connect({ port: server.secureHostsPort, host: '127.0.0.1', servername: 'b.p.example.com', rejectUnauthorized: false });
  const [error]: Error[] = await once(client, 'error');
  expect(String(error)).toMatch(/handshake failure/i);
  await server.child.says(/the RSA key has 4104 bits, the maximum is 4096/);
});
