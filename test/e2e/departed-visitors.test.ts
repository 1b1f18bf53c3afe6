import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import { afterEach, describe, expect, test } from '@jest/globals';
import { SocksClient } from 'socks';
import { parseTarget } from '../../src/rules/targets.ts';
import { BACKEND_NAMES } from '../../src/wire/backends.ts';
import { covering } from '../support/certificates.ts';
import { endChildren, type Child } from '../support/child.ts';
import { eventually, eventuallyAsync } from '../support/eventually.ts';
import { descriptors } from '../support/observe.ts';
import { getClient, openTunnel, type ServerProcess, startVisitorProcess, write } from '../support/processes.ts';
import { describeWith } from '../support/programs.ts';
import { serve } from '../support/served.ts';
import { startTarget, type Target, visit } from '../support/target.ts';
import { VanishingNetwork } from '../support/vanishing-network.ts';

/** With these all of a client's connections are taken. */
const VISITORS = 200;
/** Descriptors that the programs open for themselves now and then: to their databases, or data connections ahead of use. */
const SPARE = 10;
const host = 'x.p.example.com';
const password = 'what every visitor proves';

/** A server, an agent and a target that says nothing and reads nothing, reached in every way there is. */
async function start(sockets: string, halfClosedSeconds: number) {
  const target = await startTarget((socket) => { socket.pause(); });
  const environment = { ADIT_SOCKETS: sockets, ADIT_HALF_CLOSED_SECONDS: String(halfClosedSeconds) };
  const { server, agent, clientId, tunnel } = await serve(target.address, { environment, client: { max_conn: VISITORS } });
  const open = async (type: 'httpProxy' | 'socks5') => (await openTunnel(server, clientId, '', type)).port;
  const [httpProxy, socks5] = [await open('httpProxy'), await open('socks5')];
  await write(server, '/index/add/', { client_id: clientId, type: 'secret', target: target.address, password });
  await write(server, '/index/addhost/', { client_id: clientId, host, scheme: 'all', target: target.address, cert_file_path: covering.certificate, key_file_path: covering.key });
  const secret = await startVisitorProcess(server, 'secret', password, environment);
  const request = `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 100000000\r\n\r\n`;
  const asked = async (port: number, text: string): Promise<net.Socket> => {
    const socket = await visit(port);
    socket.write(text);
    return socket;
  };
  const ways: ReadonlyArray<readonly [name: string, come: () => Promise<net.Socket>]> = [
    ['tcp', () => asked(tunnel.port, 'hello')],
    ['secret', () => asked(secret.port, 'hello')],
    ['host', () => asked(server.hostsPort, request)],
    ['host over TLS', async () => {
      const socket = tls.connect({ socket: await visit(server.secureHostsPort), servername: host, rejectUnauthorized: false });
      socket.on('error', () => undefined);
      await once(socket, 'secureConnect');
      socket.write(request);
      return socket;
    }],
    ['httpProxy, forwarding', () => asked(httpProxy, `POST http://${target.address}/ HTTP/1.1\r\nHost: ${target.address}\r\nContent-Length: 100000000\r\n\r\n`)],
    ['httpProxy, CONNECT', async () => {
      const socket = await asked(httpProxy, `CONNECT ${target.address} HTTP/1.1\r\nHost: ${target.address}\r\n\r\n`);
      await once(socket, 'data');
      return socket;
    }],
    ['socks5', async () => {
      const socket = await visit(socks5);
      const destination = parseTarget(target.address) ?? { host: '', port: 0 };
      await SocksClient.createConnection({ proxy: { host: '127.0.0.1', port: socks5, type: 5 }, existing_socket: socket, command: 'connect', destination });
      socket.write('hello');
      return socket;
    }],
  ];
  return { server, clientId, target, tunnel, ways, programs: [server.child, agent, secret.child] };
}

/** Every visitor's raw connection below TLS, if there is TLS. */
function reset(socket: net.Socket): void {
  const below: unknown = socket instanceof tls.TLSSocket ? Reflect.get(socket, '_parent') : socket;
  if (below instanceof net.Socket) below.resetAndDestroy();
}

/** Visitors come, as many as the client may have, and the target has taken their connections. */
async function crowd(ways: Awaited<ReturnType<typeof start>>['ways'], target: Target, count: number): Promise<net.Socket[]> {
  const had = target.connections.length;
  const sockets: net.Socket[] = [];
  // One of each way at a time.
  while (sockets.length < count) sockets.push(...await Promise.all(ways.slice(0, count - sockets.length).map(([, come]) => come())));
  await eventually(() => target.connections.length - had, (come) => come >= count);
  return sockets;
}

async function allGone(server: ServerProcess, clientId: number, programs: readonly Child[], before: readonly number[], ms = 10_000): Promise<void> {
  await eventuallyAsync(async () => (await getClient(server, clientId)).NowConn, (open) => open === 0, ms);
  await eventually(() => programs.map((program, index) => descriptors(program) - (before[index] ?? 0)), (more) => more.every((count) => count <= SPARE));
}

/** Lets visitors come and go twice: the first time server and agent open what they keep. */
async function twice({ server, clientId, programs }: Awaited<ReturnType<typeof start>>, visits: () => Promise<void>): Promise<void> {
  let before = programs.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < 2; round++) {
    await visits();
    await allGone(server, clientId, programs, before);
    before = programs.map(descriptors);
  }
}

describe.each(BACKEND_NAMES)('visitors of a silent target who are gone, with sockets by %s', (sockets) => {
  test.each([
    ['that reset their connections', async (socket: net.Socket) => reset(socket)],
    ['that ended their direction and then reset their connections', async (socket: net.Socket) => {
      await new Promise<void>((resolve) => { socket.end(() => resolve()); });
      reset(socket);
    }],
  ] as const)(`${VISITORS} %s leave every connection and descriptor free within 10 s`, async (_, leave) => {
    const rig = await start(sockets, 86_400);
    await twice(rig, async () => {
      const visitors = await crowd(rig.ways, rig.target, VISITORS);
      expect((await getClient(rig.server, rig.clientId)).NowConn).toBe(VISITORS);
      await Promise.all(visitors.map(leave));
    });
  }, 90_000);

  test('those that went while nothing more was read from them are gone, too', async () => {
    const rig = await start(sockets, 86_400);
    await twice(rig, async () => {
      const visitors = await crowd(rig.ways, rig.target, rig.ways.length);
      const block = Buffer.alloc(1024 * 1024);
      // Until nothing on the way to the target takes more.
      await Promise.all(visitors.map(async (visitor) => {
        for (let still = 0, waiting = 0; still < 10; await new Promise((resolve) => { setTimeout(resolve, 20); })) {
          if (visitor.writableLength < 4 * block.length) visitor.write(block);
          still = visitor.writableLength >= 4 * block.length && visitor.writableLength === waiting ? still + 1 : 0;
          waiting = visitor.writableLength;
        }
      }));
      expect((await getClient(rig.server, rig.clientId)).NowConn).toBe(rig.ways.length);
      for (const visitor of visitors) reset(visitor);
    });
  }, 90_000);

  test('those that ended their direction and stay lose their connection when nothing has moved for so long; one whose other direction is in use keeps it', async () => {
    const rig = await start(sockets, 4);
    const accepted = rig.target.accepted();
    const reader = await visit(rig.tunnel.port);
    let read = 0;
    reader.on('data', (chunk) => { read += chunk.length; }).end('and now you');
    const speaker = await accepted;
    const speaking = setInterval(() => speaker.write('x'), 500);
    const visitors = await crowd(rig.ways, rig.target, rig.ways.length * 2);
    const since = performance.now();
    for (const visitor of visitors) visitor.resume().end();
    await eventuallyAsync(async () => (await getClient(rig.server, rig.clientId)).NowConn, (open) => open === 1);
    expect(performance.now() - since).toBeGreaterThan(3500);
    const before = read;
    await eventually(() => read, (bytes) => bytes > before + 4);
    expect(reader.destroyed).toBe(false);
    clearInterval(speaking);
  }, 60_000);
});

describeWith('ip', 'visitors who vanish', () => {
  const mayMakeNetworks = spawnSync('unshare', ['--net', 'true']).status === 0;
  let network: VanishingNetwork | undefined;
  afterEach(async () => {
    await endChildren();
    network?.remove();
  });

  (mayMakeNetworks ? test : test.skip)('without a word, with every way of sockets: their connections are free after keep-alive has found nobody there', async () => {
    network = new VanishingNetwork();
    const target = await startTarget();
    const rigs = await Promise.all(BACKEND_NAMES.map(async (sockets) => {
      const { server, agent, clientId, tunnel } = await serve(target.address, { environment: { ADIT_SOCKETS: sockets }, client: { max_conn: VISITORS } });
      const programs = [server.child, agent];
      return { server, clientId, port: tunnel.port, programs, before: programs.map(descriptors) };
    }));
    await network.visit(rigs.map(({ port }) => port), VISITORS, 'hello');
    for (const { server, clientId } of rigs) await eventuallyAsync(async () => (await getClient(server, clientId)).NowConn, (open) => open === VISITORS);
    network.vanish();
    await Promise.all(rigs.map(({ server, clientId, programs, before }) => allGone(server, clientId, programs, before, 45_000)));
  }, 90_000);
});
