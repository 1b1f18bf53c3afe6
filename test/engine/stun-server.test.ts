import dgram from 'node:dgram';
import { once } from 'node:events';
import { afterEach, expect, jest, test } from '@jest/globals';
import pino from 'pino';
import { StunServer, type StunServerOptions } from '../../src/engine/stun-server.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import type { ByteSocket, SocketBackend } from '../../src/wire/socket.ts';
import type { OwnedPorts } from '../../src/wire/shared-ports.ts';
import { stunRequest } from '../../src/wire/stun.ts';
import { EmptySocket } from '../support/empty-socket.ts';
import { freePortRange } from '../support/free-port.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { refusal } from '../support/target.ts';
import { udpPeer } from '../support/udp.ts';

const servers: StunServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

function serverOf(options: Partial<StunServerOptions>): StunServer {
  const server = new StunServer({ sockets: netBackend, log: pino({ level: 'silent' }), host: '127.0.0.1', port: 0, ...options });
  servers.push(server);
  return server;
}

/** Connections that nobody makes: the test brings them. */
function broughtSockets() {
  let accept: (socket: ByteSocket) => void = () => undefined;
  const sockets: SocketBackend = {
    ...netBackend,
    listen: async ({ onSocket }) => {
      accept = onSocket;
      return { host: '127.0.0.1', port: 0, renew: () => undefined, close: async () => undefined };
    },
  };
  const bring = (remoteAddress: string): EmptySocket => {
    class Socket extends EmptySocket {
      override readonly remoteAddress = remoteAddress;
      override readonly remotePort = 1000;
    }
    const socket = new Socket();
    accept(socket);
    return socket;
  };
  return { sockets, bring };
}

test('of several processes, one has the ports of STUN, and another one when it ends', async () => {
  const asked: string[] = [];
  const grants: Array<() => void> = [];
  let owner = 'first';
  const owned = (name: string): OwnedPorts => ({
    claim: async (port, onGranted) => {
      asked.push(`${name} claims ${port}`);
      grants.push(onGranted);
      return name === owner;
    },
    claimNow: async () => false,
    release: (port) => asked.push(`${name} releases ${port}`),
  });
  const port = await freePortRange(2);
  const [first, second] = [serverOf({ port, owned: owned('first') }), serverOf({ port, owned: owned('second') })];
  for (const server of [first, second, second]) expect(await server.ports()).toEqual([port, port + 1]);
  expect(asked).toEqual(['first claims stun', 'second claims stun']);
  const request = stunRequest();
  const peer = await udpPeer();
  expect((await peer.ask(request, port + 1)).length).toBeGreaterThan(0);
  await first.close();
  expect([asked.at(-1), await first.ports()]).toEqual(['first releases stun', []]);
  owner = 'second';
  grants[1]?.();
  expect(await second.ports()).toEqual([port, port + 1]);
  expect((await peer.ask(request, port + 1)).length).toBeGreaterThan(0);
  // Any free ports are not those of another process.
  expect(await serverOf({ owned: owned('third') }).ports()).toEqual([expect.any(Number), expect.any(Number)]);
  expect(asked.filter((event) => event.startsWith('third'))).toEqual([]);
});

test('a connection may send one request, in pieces, within ten seconds', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate'] });
  try {
    const { sockets, bring } = broughtSockets();
    await serverOf({ sockets }).ports();
    const request = stunRequest();
    const socket = bring('192.0.2.1');
    socket.sink?.onData(request.subarray(0, 10));
    expect(socket.received).toBe('');
    socket.sink?.onData(request.subarray(10));
    expect(socket.received).not.toBe('');
    jest.advanceTimersByTime(9999);
    expect(socket.destroyed).toBe(false);
    jest.advanceTimersByTime(1);
    expect(socket.destroyed).toBe(true);
    const [long, ended, silent] = [bring('192.0.2.1'), bring('192.0.2.1'), bring('192.0.2.1')];
    long.sink?.onData(Buffer.concat([request, Buffer.alloc(1)]));
    ended.sink?.onEnd();
    expect([long, ended, silent].map(({ destroyed }) => destroyed)).toEqual([true, true, false]);
    expect(long.received).toBe('');
    silent.destroy();
  } finally {
    jest.useRealTimers();
  }
});

test('if the second port is taken, the log says so, and the first one is free until both are', async () => {
  const port = await freePortRange(2);
  const taken = dgram.createSocket('udp4').bind(port + 1, '127.0.0.1');
  await once(taken, 'listening');
  const log = new LogRecorder();
  const server = serverOf({ port, log: log.logger });
  expect(await server.ports()).toEqual([]);
  const msg = expect.stringMatching(new RegExp(String.raw`^no direct paths for p2p tunnels \(--p2p-port\): .*\b${port + 1}\b`));
  expect(log.entries).toMatchObject([{ level: 50, msg }]);
  expect(await refusal(port)).toBe('ECONNREFUSED');
  taken.close();
  await once(taken, 'close');
  expect(await server.ports()).toEqual([port, port + 1]);
});

test('256 connections are open at once, 32 of one address', async () => {
  const { sockets, bring } = broughtSockets();
  await serverOf({ sockets }).ports();
  const accepted = (address: string) => Array.from({ length: 33 }, () => bring(address)).filter(({ destroyed }) => !destroyed).length;
  expect([1, 2, 3, 4, 5, 6, 7, 8, 9].map((last) => accepted(`192.0.2.${last}`))).toEqual([32, 32, 32, 32, 32, 32, 32, 32, 0]);
});

test('its end closes the connections that are open', async () => {
  const { sockets, bring } = broughtSockets();
  const server = serverOf({ sockets });
  await server.ports();
  const open = [bring('192.0.2.1'), bring('192.0.2.2')];
  await server.close();
  expect(open.map(({ destroyed }) => destroyed)).toEqual([true, true]);
});

test('a second has 100 answers for an address, or a network of IPv6, and 5,000 for all', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'setTimeout', 'clearTimeout'] });
  try {
    const { sockets, bring } = broughtSockets();
    await serverOf({ sockets }).ports();
    const request = stunRequest();
    const answers = (address: (nth: number) => string, times: number) => {
      let count = 0;
      for (let nth = 0; nth < times; nth++) {
        const socket = bring(address(nth));
        socket.sink?.onData(request);
        if (socket.received !== '') count++;
        socket.destroy();
      }
      return count;
    };
    jest.advanceTimersByTime(1000 - performance.now() % 1000);
    expect([answers(() => '192.0.2.1', 101), answers(() => '::ffff:192.0.2.1', 1), answers(() => '192.0.2.2', 1)]).toEqual([100, 0, 1]);
    expect([answers((nth) => `2001:db8::${nth}`, 101), answers(() => '2001:db8:0:1::1', 1)]).toEqual([100, 1]);
    expect(answers((nth) => `10.0.${nth >> 8}.${nth & 255}`, 5000)).toBe(5000 - 202);
    jest.advanceTimersByTime(999);
    expect(answers(() => '192.0.2.3', 1)).toBe(0);
    jest.advanceTimersByTime(1);
    expect(answers(() => '192.0.2.1', 101)).toBe(100);
  } finally {
    jest.useRealTimers();
  }
});
