import { execFile } from 'node:child_process';
import { once } from 'node:events';
import type net from 'node:net';
import { promisify } from 'node:util';
import { expect, jest, test } from '@jest/globals';
import pino from 'pino';
import { SocksClient, type SocksRemoteHost } from 'socks';
import type { WantedTunnel } from '../../src/engine/face.ts';
import { UdpPort } from '../../src/engine/ports/udp-port.ts';
import { UdpAssociations } from '../../src/engine/socks/udp-associations.ts';
import { dnsAnswer } from '../support/dns.ts';
import { eventually } from '../support/eventually.ts';
import { programPath } from '../support/find-program.ts';
import { freePortRange } from '../support/free-port.ts';
import { describeWith, describeWithIpv6 } from '../support/programs.ts';
import { closed, visit } from '../support/target.ts';
import { CLIENT, openTunnel, startAgent, startEngine, type TestEngine } from '../support/tunnel.ts';
import { udpEcho, type UdpPeer, udpPeer } from '../support/udp.ts';

async function startProxy(
  options: Parameters<typeof startEngine>[0] = {},
  tunnel: Partial<WantedTunnel> = {},
): Promise<{ server: TestEngine; port: number; id: number }> {
  const server = await startEngine(options);
  await startAgent(server);
  return { server, ...await openTunnel(server, { mode: 'socks5', ...tunnel }) };
}

/** A visitor's association: the TCP connection, and the port for datagrams. */
interface Association {
  readonly control: net.Socket;
  readonly host: string;
  readonly port: number;
}

async function associate(port: number, host = '127.0.0.1', login: { userId?: string; password?: string } = {}): Promise<Association> {
  const control = await visit(port, host);
  const client = new SocksClient({
    proxy: { host, port, type: 5, ...login },
    command: 'associate',
    destination: { host: '0.0.0.0', port: 0 },
  });
  const established = new Promise<SocksRemoteHost | undefined>((resolve, reject) => {
    client.once('established', ({ remoteHost }) => resolve(remoteHost)).once('error', reject);
  });
  client.connect(control);
  const remoteHost = await established;
  return { control, host: remoteHost?.host ?? '', port: remoteHost?.port ?? 0 };
}

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

function frame(target: Pick<UdpPeer, 'port'>, text: string | Buffer, host = '127.0.0.1', frameNumber = 0): Buffer {
  return SocksClient.createUDPFrame({ remoteHost: { host, port: target.port }, data: Buffer.from(text), frameNumber });
}

/** Sends a text to a target through the proxy; what came back, and from where. */
async function ask(visitor: UdpPeer, association: Association, target: UdpPeer, text: string, host?: string): Promise<string> {
  const answer = SocksClient.parseUDPFrame(await visitor.ask(frame(target, text, host), association.port, association.host));
  return `${answer.remoteHost.host}:${answer.remoteHost.port} ${answer.data.toString()}`;
}

test('datagrams go to the address or name that the visitor gives, and answers contain their source', async () => {
  const { server, port, id } = await startProxy();
  const [one, two] = [await udpEcho('one '), await udpEcho('two ')];
  const association = await associate(port);
  expect(association.host).toBe('127.0.0.1');
  const visitor = await udpPeer();
  expect(await ask(visitor, association, one, 'a')).toBe(`${one.address} one a`);
  expect(await ask(visitor, association, two, 'b')).toBe(`${two.address} two b`);
  expect(await ask(visitor, association, one, 'c', 'localhost')).toBe(`${one.address} one c`);
  expect(one.received.map(String)).toEqual(['a', 'c']);
  expect(one.senders).toEqual(two.senders);
  expect(server.engine.tunnelState(id)).toMatchObject({ connections: 1, dropped: 0 });
});

test('the association ends with its TCP connection, cleanly or not, and its port is free again', async () => {
  const { server, port, id } = await startProxy();
  for (const end of [(socket: net.Socket) => socket.end(), (socket: net.Socket) => socket.resetAndDestroy()]) {
    const association = await associate(port);
    expect(server.engine.tunnelState(id)?.connections).toBe(1);
    end(association.control);
    await eventually(() => server.engine.tunnelState(id)?.connections, (open) => open === 0);
    await (await udpPeer('127.0.0.1', association.port)).close();
  }
});

test('only the visitor may use it: other addresses and ports, fragments and malformed datagrams go nowhere', async () => {
  const { server, port, id } = await startProxy();
  const target = await udpEcho();
  const association = await associate(port);
  const [outsider, visitor, other] = [await udpPeer('127.0.0.2'), await udpPeer(), await udpPeer()];
  outsider.send(frame(target, 'from another address'), association.port);
  expect(await ask(visitor, association, target, 'first')).toBe(`${target.address} first`);
  other.send(frame(target, 'from another port'), association.port);
  visitor.send(frame(target, 'a fragment', undefined, 1), association.port);
  visitor.send(Buffer.from('00000009', 'hex'), association.port);
  expect(await ask(visitor, association, target, 'last')).toBe(`${target.address} last`);
  expect(target.received.map(String)).toEqual(['first', 'last']);
  expect([outsider.received, other.received]).toEqual([[], []]);
  await eventually(() => server.engine.tunnelState(id)?.dropped, (dropped) => dropped === 3);
});

test('the association uses an allowed port, and the visitor is refused if none is free', async () => {
  const allowed = await freePortRange(1);
  const { server, port, id } = await startProxy({ allowPorts: [{ from: allowed, to: allowed }] });
  expect(port).toBe(allowed);
  const association = await associate(port);
  expect(association.port).toBe(allowed);
  await expect(associate(port)).rejects.toThrow(/Failure/);
  expect(server.engine.tunnelState(id)?.refusals).toEqual({ capacity: 1 });
});

test('loss of the agent, disabling the client and the connection limit end an association or prevent it', async () => {
  const { server, port, id } = await startProxy();
  await server.engine.apply({ kind: 'client', client: { ...CLIENT, maxConnections: 1 } });
  const { control } = await associate(port);
  expect(await associate(port).catch(() => 'refused')).toBe('refused');
  expect(server.engine.tunnelState(id)).toMatchObject({ connections: 1, refusals: { connections: 1 } });
  await server.engine.apply({ kind: 'client', client: { ...CLIENT, enabled: false } });
  await closed(control);
  expect(server.engine.tunnelState(id)?.connections).toBe(0);
});

test('an association whose port cannot be bound gives its place back; all addresses together have 1,024', async () => {
  const associations = new UdpAssociations();
  const open = (address: number, bind: () => Promise<never>) =>
    associations.open({ remoteAddress: `192.0.2.${address}`, remotePort: 1 }, bind, () => undefined);
  for (let times = 0; times < 65; times++) await expect(open(1, () => Promise.reject(new Error('no port')))).rejects.toThrow('no port');
  let bound = 0;
  const bind = () => {
    bound++;
    return new Promise<never>(() => undefined);
  };
  for (let n = 0; n < 1024; n++) void open(n % 16, bind);
  expect(await open(16, bind)).toBeUndefined();
  expect(bound).toBe(1024);
});

/** An association whose datagrams the test delivers. */
async function associationOf(associations: UdpAssociations) {
  const port = await UdpPort.bind({ host: '127.0.0.1', port: 0 }, pino({ level: 'silent' }), '');
  let handlers: Parameters<UdpPort['serve']>[0] | undefined;
  jest.spyOn(port, 'serve').mockImplementation((given) => {
    handlers = given;
  });
  const association = await associations.open({ remoteAddress: '127.0.0.1', remotePort: 7 }, () => Promise.resolve(port), () => undefined);
  if (!association) throw new Error('there is room');
  const { session } = association;
  session.attach({ onData: () => undefined, onEnd: () => undefined, onDrain: () => undefined, onClose: () => undefined });
  return {
    session,
    says: (bytes: number) => handlers?.onDatagram(frame({ port: 9 }, Buffer.alloc(bytes)), { address: '127.0.0.1', port: 8 }),
    drop: () => handlers?.onDropped?.(),
  };
}

test('datagrams that are dropped at any place are counted for the proxy; what waits of all associations has one limit', async () => {
  const associations = new UdpAssociations();
  const [one, other] = [await associationOf(associations), await associationOf(associations)];
  expect([one.session.remoteAddress, one.session.remotePort]).toEqual(['127.0.0.1', 7]);
  const dropped = (work: () => unknown): number => {
    const before = associations.dropped;
    work();
    return associations.dropped - before;
  };
  expect(dropped(() => one.drop())).toBe(1);
  expect(dropped(() => one.session.write(hex('ffff 00000005')))).toBe(5);
  // An answer for a visitor who has not sent anything.
  expect(dropped(() => one.session.write(hex('0001 78')))).toBe(1);
  for (const { session } of [one, other]) session.pause();
  for (let count = 1; count <= 4; count++) expect(dropped(() => one.says(60_000))).toBe(0);
  expect(dropped(() => other.says(60_000))).toBe(1);
  for (const { session } of [one, other]) session.destroy();
});

test('the associations of one address are limited', async () => {
  const { port } = await startProxy();
  const associations = await Promise.all(Array.from({ length: 64 }, () => associate(port)));
  await expect(associate(port)).rejects.toThrow(/Failure/);
  const [first] = associations;
  first?.control.end();
  if (first) await closed(first.control);
  expect((await associate(port)).port).toBeGreaterThan(0);
});

describeWithIpv6('UDP ASSOCIATE over IPv6', () => {
  test('binds the address that the visitor connected to', async () => {
    const { server, port } = await startProxy({}, { serverIp: '' });
    await server.engine.apply({ kind: 'client', client: { ...CLIENT, basicUser: 'me', basicPassword: 'pw' } });
    const target = await udpEcho('', '::1');
    const association = await associate(port, '::1', { userId: 'me', password: 'pw' });
    expect(association.host).toBe('0000:0000:0000:0000:0000:0000:0000:0001');
    const visitor = await udpPeer('::1');
    expect(await ask(visitor, association, target, 'six', '::1')).toMatch(/ six$/);
    const four = await associate(port, '127.0.0.1', { userId: 'me', password: 'pw' });
    expect(four.host).toBe('127.0.0.1');
  });
});

describeWith('dig', 'DNS through UDP ASSOCIATE', () => {
  test('dig gets its answers by way of a program that frames its datagrams', async () => {
    const { port } = await startProxy();
    const target = await udpPeer();
    target.onDatagram((query, reply) => reply(dnsAnswer(query)));
    const association = await associate(port);
    const [inner, outer] = [await udpPeer(), await udpPeer()];
    inner.onDatagram((query, reply) => {
      outer.send(frame(target, query), association.port);
      void outer.next().then((answer) => reply(SocksClient.parseUDPFrame(answer).data));
    });
    const asked = await promisify(execFile)(programPath('dig'), [
      '@127.0.0.1',
      '-p',
      String(inner.port),
      '+tries=1',
      '+time=5',
      '+noedns',
      '+short',
      'www.example.com',
    ]);
    expect(asked.stdout).toBe('192.0.2.7\n');
    association.control.destroy();
    await once(association.control, 'close');
  });
});
