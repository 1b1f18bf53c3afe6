import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import { expect, test } from '@jest/globals';
import { SocksClient } from 'socks';
import { parseTarget } from '../../src/rules/targets.ts';
import { BACKEND_NAMES } from '../../src/wire/backends.ts';
import { covering } from '../support/certificates.ts';
import { sized } from '../support/endurance.ts';
import { eventually, eventuallyAsync } from '../support/eventually.ts';
import { descriptors } from '../support/observe.ts';
import { getClient, openTunnel, startVisitorProcess, write } from '../support/processes.ts';
import { serve } from '../support/served.ts';
import { startTarget, type Target, visit } from '../support/target.ts';

// Short form: test/engine/leaks.test.ts

/** With these all of a client's connections are taken: of each of the seven ways more than {@link SPARE}, so that one way that leaves something shows. */
const VISITORS = sized(77, 203);
/** Descriptors that the programs open for themselves now and then: to their databases, or data connections ahead of use. */
const SPARE = 10;
/** What connections are counted by is above the ways of sockets, each of which has its own suites (`test/wire`, `test/e2e/connections`). */
const backends = sized<readonly string[]>(['captured'], BACKEND_NAMES);
const host = 'x.p.example.com';
const password = 'what every visitor proves';

/** A server, an agent and a target that says nothing and reads nothing, reached in every way there is. */
async function start(sockets: string, halfClosedSeconds: number) {
  const target = await startTarget((socket) => {
    socket.pause();
  });
  const environment = { ADIT_SOCKETS: sockets, ADIT_HALF_CLOSED_SECONDS: String(halfClosedSeconds) };
  const { server, agent, clientId, tunnel } = await serve(target.address, { environment, client: { max_conn: VISITORS } });
  const open = async (type: 'httpProxy' | 'socks5') => (await openTunnel(server, clientId, '', type)).port;
  const [httpProxy, socks5] = [await open('httpProxy'), await open('socks5')];
  await write(server, '/index/add/', { client_id: clientId, type: 'secret', target: target.address, password });
  await write(server, '/index/addhost/', {
    client_id: clientId,
    host,
    scheme: 'all',
    target: target.address,
    cert_file_path: covering.certificate,
    key_file_path: covering.key,
  });
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
    [
      'httpProxy, forwarding',
      () => asked(httpProxy, `POST http://${target.address}/ HTTP/1.1\r\nHost: ${target.address}\r\nContent-Length: 100000000\r\n\r\n`),
    ],
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

async function allGone({ server, clientId, programs }: Awaited<ReturnType<typeof start>>, before: readonly number[]): Promise<void> {
  await eventuallyAsync(async () => (await getClient(server, clientId)).NowConn, (open) => open === 0);
  await eventually(() => programs.map((program, index) => descriptors(program) - (before[index] ?? 0)), (more) => more.every((count) => count <= SPARE));
}

/** Has every visitor send until nothing on the way to the target takes more. */
async function fill(visitors: readonly net.Socket[]): Promise<void> {
  const block = Buffer.alloc(1024 * 1024);
  await Promise.all(visitors.map(async (visitor) => {
    for (
      let still = 0, waiting = 0;
      still < 10;
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      })
    ) {
      if (visitor.writableLength < 4 * block.length) visitor.write(block);
      still = visitor.writableLength >= 4 * block.length && visitor.writableLength === waiting ? still + 1 : 0;
      waiting = visitor.writableLength;
    }
  }));
}

/** How visitors leave, and how many of them. */
const departures: ReadonlyArray<readonly [name: string, count: (ways: number) => number, leave: (visitors: readonly net.Socket[]) => Promise<unknown> | void]> =
  [
    ['reset their connections', () => VISITORS, (visitors) => visitors.forEach(reset)],
    ['ended their direction and then reset their connections', () => VISITORS, (visitors) =>
      Promise.all(visitors.map(async (visitor) => {
        await new Promise<void>((resolve) => {
          visitor.end(() => resolve());
        });
        reset(visitor);
      }))],
    ['went while nothing more was read from them', (ways) => ways, async (visitors) => {
      await fill(visitors);
      visitors.forEach(reset);
    }],
  ];

/** Lets visitors come and go in all ways, with sockets of this kind. */
async function comeAndGo(sockets: string): Promise<void> {
  const rig = await start(sockets, 86_400);
  let before = rig.programs.map(() => Number.POSITIVE_INFINITY);
  // Once first: then server and agent open what they keep.
  for (const [name, count, leave] of [...departures.slice(0, 1), ...departures]) {
    const visitors = await crowd(rig.ways, rig.target, count(rig.ways.length));
    expect([name, (await getClient(rig.server, rig.clientId)).NowConn]).toEqual([name, visitors.length]);
    await leave(visitors);
    await allGone(rig, before).catch((cause: unknown) => {
      throw new Error(`after visitors who ${name}, with sockets by ${sockets}`, { cause });
    });
    if (before.includes(Number.POSITIVE_INFINITY)) before = rig.programs.map(descriptors);
  }
}

test(
  `visitors of a silent target who are gone, with sockets by ${
    backends.join(', ')
  }: ${VISITORS} of them leave every connection and descriptor free within 10 s, however they went`,
  // At the same time: each waits most of the time until a program has noticed.
  () => Promise.all(backends.map(comeAndGo)),
);

test(
  'visitors who ended their direction and stay lose their connection when nothing has moved for so long; one whose other direction is in use keeps it',
  async () => {
    await Promise.all(
      backends.map(async (sockets) => {
        const rig = await start(sockets, 4);
        const accepted = rig.target.accepted();
        const reader = await visit(rig.tunnel.port);
        let read = 0;
        reader.on('data', (chunk) => {
          read += chunk.length;
        }).end('and now you');
        const speaker = await accepted;
        const speaking = setInterval(() => speaker.write('x'), 500);
        const visitors = await crowd(rig.ways, rig.target, rig.ways.length * 2);
        const since = performance.now();
        for (const visitor of visitors) visitor.resume().end();
        await eventuallyAsync(async () => (await getClient(rig.server, rig.clientId)).NowConn, (open) => open === 1, 30_000);
        expect(performance.now() - since).toBeGreaterThan(3500);
        const before = read;
        await eventually(() => read, (bytes) => bytes > before + 4);
        expect(reader.destroyed).toBe(false);
        clearInterval(speaking);
      }),
    );
  },
);
