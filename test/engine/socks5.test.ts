import { once } from 'node:events';
import net from 'node:net';
import { expect, jest, test } from '@jest/globals';
import { SocksClient } from 'socks';
import { netBackend } from '../../src/wire/net-socket.ts';
import { PullSocket } from '../../src/wire/pull-socket.ts';
import { curl } from '../support/curl.ts';
import { eventually } from '../support/eventually.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { hashOf, receive, sendPayload } from '../support/payload.ts';
import { describeWith, describeWithIpv6 } from '../support/programs.ts';
import { closed, readAll, refusedPort, startTarget, visit } from '../support/target.ts';
import { CLIENT, openTunnel, startAgent, startEngine, type TestEngine } from '../support/tunnel.ts';
import type { WantedTunnel } from '../../src/engine/face.ts';

const LOGIN = { ...CLIENT, basicUser: 'me', basicPassword: 'wörd' };
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');

async function startProxy(
  options: Parameters<typeof startEngine>[0] = {},
  tunnel: Partial<WantedTunnel> = {},
  agent: Parameters<typeof startAgent>[1] = {},
): Promise<{ server: TestEngine; port: number; id: number }> {
  const server = await startEngine(options);
  await startAgent(server, agent);
  return { server, ...await openTunnel(server, { mode: 'socks5', ...tunnel }) };
}

/** Says `bytes` and ends; everything that the proxy answers, in hex. */
async function ask(port: number, bytes: string): Promise<string> {
  const visitor = await visit(port);
  visitor.end(hex(bytes));
  return (await readAll(visitor)).toString('hex');
}

/** CONNECT to an IPv4 address of this machine, in hex. */
const connectTo = (port: number): string => `05010001 7f000001 ${port.toString(16).padStart(4, '0')}`;

describeWith('curl', 'curl through socks5', () => {
  test('fetches by name, which the agent resolves, and by address', async () => {
    const { port } = await startProxy();
    const target = await startHttpTarget();
    for (const [scheme, host] of [['socks5h', 'localhost'], ['socks5', '127.0.0.1']] as const) {
      const url = `http://${host}:${target.port}/${scheme}`;
      expect(await curl(['-x', `${scheme}://127.0.0.1:${port}`, url])).toMatchObject({ code: 0, stdout: `GET /${scheme} ` });
    }
  });

  test('has to log in where the client has user name and password', async () => {
    const { server, port, id } = await startProxy();
    await server.engine.apply({ kind: 'client', client: LOGIN });
    const target = await startHttpTarget();
    const code = async (login: string) => (await curl(['-x', `socks5h://${login}127.0.0.1:${port}`, `http://127.0.0.1:${target.port}/`])).code;
    expect(await code('me:w%C3%B6rd@')).toBe(0);
    expect(await code('me:wrong@')).toBe(97);
    expect(await code('')).toBe(97);
    expect(server.engine.tunnelState(id)?.refusals).toEqual({ login: 2 });
    await server.engine.apply({ kind: 'client', client: { ...LOGIN, basicUser: '' } });
    expect(await code('')).toBe(0);
    expect(target.requests).toHaveLength(2);
  });

  test('has to log in with one of the accounts of the proxy, which replace the login of the client', async () => {
    const { server, port, id } = await startProxy({}, { accounts: [{ user: 'alice', password: 'hers' }, { user: 'bob', password: '' }] });
    await server.engine.apply({ kind: 'client', client: LOGIN });
    const target = await startHttpTarget();
    const code = async (login: string) => (await curl(['-x', `socks5h://${login}127.0.0.1:${port}`, `http://127.0.0.1:${target.port}/`])).code;
    expect(await code('alice:hers@')).toBe(0);
    for (const login of ['alice:wrong@', 'me:w%C3%B6rd@', 'carol:hers@', '']) expect(await code(login)).toBe(97);
    expect(server.engine.tunnelState(id)?.refusals).toEqual({ login: 4 });
    expect(target.requests).toHaveLength(1);
  });

  test('gets an error with the reason if a target cannot be reached', async () => {
    const { port } = await startProxy();
    const { code, stderr } = await curl(['-x', `socks5h://127.0.0.1:${port}`, `http://127.0.0.1:${await refusedPort()}/`]);
    expect(code).toBe(97);
    expect(stderr).toMatch(/\(5\)/);
    expect((await curl(['-x', `socks5h://127.0.0.1:${port}`, 'http://no-such-name.invalid/'])).stderr).toMatch(/\(4\)/);
  });
});

describeWith('curl', 'curl over IPv6', () =>
  describeWithIpv6('through socks5', () => {
    test('reaches targets, from a listener on one address', async () => {
      const { port } = await startProxy({}, { serverIp: '::1' });
      const target = await startHttpTarget({ host: '::1' });
      expect(await curl(['-x', `socks5://[::1]:${port}`, `http://[::1]:${target.port}/six`])).toMatchObject({ code: 0, stdout: 'GET /six ' });
      expect((await curl(['-x', `socks5://127.0.0.1:${port}`, `http://[::1]:${target.port}/`])).code).not.toBe(0);
    });
  }));

test('a connection carries bytes both ways, also those that came early, and each direction ends by itself', async () => {
  const { server, port, id } = await startProxy();
  const target = await startTarget((socket) => {
    void (async () => {
      const got = await receive(socket);
      socket.write(`${got.bytes} ${got.hash} `);
      await sendPayload(socket, 3_000_000, 2);
    })();
  });
  const visitor = await visit(port);
  visitor.write(hex(`050100 ${connectTo(target.port)}`));
  const received = receive(visitor);
  await sendPayload(visitor, 3_000_000, 1);
  const summary = `3000000 ${hashOf(3_000_000, 1)} `;
  expect((await received).bytes).toBe(2 + 10 + summary.length + 3_000_000);
  await eventually(() => server.engine.tunnelState(id)?.connections, (open) => open === 0);
  // The agent's word on the dial is a byte, too.
  expect(server.engine.tunnelState(id)).toMatchObject({ inletBytes: 3_000_000, exportBytes: summary.length + 3_000_001 });
});

test('a client library connects, and the target may end first', async () => {
  const { port } = await startProxy();
  const target = await startTarget((socket) => {
    socket.write('hello');
    socket.end();
  });
  const { socket } = await SocksClient.createConnection({
    proxy: { host: '127.0.0.1', port, type: 5 },
    command: 'connect',
    destination: { host: 'localhost', port: target.port },
  });
  expect((await readAll(socket)).toString()).toBe('hello');
  socket.destroy();
});

test.each([
  ['ECONNREFUSED', 5],
  ['EHOSTUNREACH', 4],
  ['ENETUNREACH', 3],
  ['ETIMEDOUT', 6],
  ['ENOTFOUND', 4],
  ['EACCES', 2],
  ['EMFILE', 1],
])('an agent that fails to dial with %s makes reply %i', async (code, reply) => {
  const sockets: typeof netBackend = {
    ...netBackend,
    dial: (options, onDialled) => {
      if (options.host === '192.0.2.1') setImmediate(onDialled, Object.assign(new Error('no'), { code }));
      else netBackend.dial(options, onDialled);
    },
  };
  const { port } = await startProxy({}, {}, { sockets });
  expect(await ask(port, '050100 05010001 c0000201 0050')).toBe(`0500050${reply}0001000000000000`);
});

test("a target that never answers times out after the server's timeout", async () => {
  const sockets: typeof netBackend = {
    ...netBackend,
    dial: (options, onDialled) => {
      if (options.host === '192.0.2.1') setTimeout(onDialled, options.timeoutMs, Object.assign(new Error('no'), { code: 'ETIMEDOUT' }));
      else netBackend.dial(options, onDialled);
    },
  };
  const { port } = await startProxy({ proxyTiming: { dialMs: 50 } }, {}, { sockets });
  expect(await ask(port, '050100 05010001 c0000201 0050')).toBe('05000506000100000000'.padEnd(24, '0'));
});

test.each([
  ['SOCKS4', '04 01 0050 7f000001 00', '05ff'],
  ['HTTP', '474554202f', '05ff'],
  ['another version of the request', '050100 04010001 7f000001 0050', '050005010001000000000000'],
  ['an address of unknown type', '050100 05010002', '050005080001000000000000'],
  ['port 0', '050100 05010001 7f000001 0000', '050005010001000000000000'],
  ['BIND', '050100 05020001 7f000001 0050', '050005070001000000000000'],
])('%s is refused in the words of the protocol, and counted', async (_, said, answer) => {
  const { server, port, id } = await startProxy();
  expect(await ask(port, said)).toBe(answer);
  expect(server.engine.tunnelState(id)).toMatchObject({ refusals: { malformed: 1 }, connections: 0 });
});

test('a visitor that supports no accepted authentication method gets an error', async () => {
  const { server, port, id } = await startProxy();
  expect(await ask(port, '050102')).toBe('05ff');
  await server.engine.apply({ kind: 'client', client: LOGIN });
  expect(await ask(port, '050100')).toBe('05ff');
  expect(await ask(port, '050102 05026d65')).toBe('05020101');
  expect(server.engine.tunnelState(id)?.refusals).toEqual({ login: 2, malformed: 1 });
});

test('an incomplete request is closed after the timeout; stopping the tunnel closes its visitors', async () => {
  const { server, port, id } = await startProxy({ proxyTiming: { headMs: 300 } });
  const visitors = [await visit(port), await visit(port)];
  visitors[1]?.write(hex('050100 0501'));
  const said = await Promise.all(visitors.map(readAll));
  expect(said.map((bytes) => bytes.toString('hex'))).toEqual(['', '0500']);
  const waiting = net.connect({ port, host: '127.0.0.1' });
  await once(waiting, 'connect');
  await server.engine.apply({ kind: 'client', client: { ...CLIENT, enabled: false } });
  await closed(waiting.on('error', () => undefined));
  expect(server.engine.tunnelState(id)?.connections).toBe(0);
});

test('a visitor that leaves before a request gives its place back', async () => {
  const { port } = await startProxy();
  // One address has 256 places.
  for (let turn = 0; turn < 9; turn++) await Promise.all(Array.from({ length: 30 }, () => ask(port, '05')));
  expect(await ask(port, '050100')).toBe('0500');
});

test('if the visitor disconnects while the agent dials, the dial is canceled', async () => {
  let dialed = 0;
  const sockets: typeof netBackend = {
    ...netBackend,
    dial: (options, onDialled) => {
      if (options.host === '192.0.2.1') dialed++;
      else netBackend.dial(options, onDialled);
    },
  };
  const { server, port, id } = await startProxy({ proxyTiming: { dialMs: 600_000 } }, {}, { sockets });
  const visitor = await visit(port);
  visitor.write(hex('050100 05010001 c0000201 0050'));
  await eventually(() => dialed, (count) => count === 1);
  expect(server.engine.tunnelState(id)?.connections).toBe(1);
  visitor.resetAndDestroy();
  await eventually(() => server.engine.tunnelState(id)?.connections, (open) => open === 0);
});

test('a visitor who is no longer admitted when the request comes is refused by the general reply', async () => {
  const { server, port, id } = await startProxy();
  const visitors = [await visit(port), await visit(port)];
  for (const visitor of visitors) {
    visitor.write(hex('050100'));
    await once(visitor, 'data');
  }
  await server.engine.apply({ kind: 'blackIpList', list: ['127.0.0.1'] });
  for (const [index, command] of ['01', '03'].entries()) {
    visitors[index]?.end(hex(`05${command}0001 7f000001 0050`));
    const visitor = visitors[index];
    expect(visitor && (await readAll(visitor)).toString('hex')).toBe('05010001000000000000');
  }
  expect(server.engine.tunnelState(id)?.refusals).toEqual({ globalBlackList: 2 });
});

test('the messages of a visitor have one limit of time, which ends with the request', async () => {
  const deadline = jest.spyOn(PullSocket.prototype, 'deadline');
  const { port } = await startProxy({ proxyTiming: { headMs: 600_001 } });
  const limits = () => {
    const own = deadline.mock.contexts[deadline.mock.calls.findIndex(([ms]) => ms === 600_001)];
    return deadline.mock.calls.filter((_, index) => deadline.mock.contexts[index] === own).map(([ms]) => ms);
  };
  const visitor = await visit(port);
  visitor.write(hex('050100 05030001 00000000 0000'));
  await eventually(limits, ({ length }) => length === 2);
  expect(limits()).toEqual([600_001, undefined]);
  deadline.mockRestore();
});
