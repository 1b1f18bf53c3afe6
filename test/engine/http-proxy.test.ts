import { once } from 'node:events';
import type net from 'node:net';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { expect, jest, test } from '@jest/globals';
import { PullSocket } from '../../src/wire/pull-socket.ts';
import { eventually } from '../support/eventually.ts';
import { LOGIN, startProxy } from '../support/http-proxy.ts';
import { hashOf, receive, sendPayload } from '../support/payload.ts';
import { closed, occupyPort, readAll, refusal, startTarget, visit } from '../support/target.ts';
import { CLIENT, fresh, tunnelOf } from '../support/tunnel.ts';

const loginField = `Proxy-Authorization: Basic ${Buffer.from(`${LOGIN.basicUser}:${LOGIN.basicPassword}`).toString('base64')}\r\n`;

/** Says `request` and ends; everything that the proxy answers. */
async function ask(port: number, request: string): Promise<string> {
  const visitor = await visit(port);
  visitor.end(request, 'latin1');
  return (await readAll(visitor)).toString('latin1');
}

/** Reads until `end` was said. */
async function readUntil(socket: net.Socket, end: string): Promise<string> {
  let said = '';
  while (!said.includes(end)) {
    const [chunk]: Buffer[] = await once(socket, 'data');
    said += chunk?.toString('latin1');
  }
  return said;
}

/** A target that answers the requests (without body) with `answers`, one after another, whatever they are. Keeps the requests. */
async function startScript(answers: readonly string[]): Promise<{ port: number; asked: string[]; connections: net.Socket[] }> {
  const asked: string[] = [];
  const { port, connections } = await startTarget((socket) => {
    void (async () => {
      for (;;) {
        asked.push(await readUntil(socket, '\r\n\r\n'));
        socket.write(answers[asked.length - 1] ?? '', 'latin1');
      }
    })().catch(() => undefined);
  });
  return { port, asked, connections };
}

test('a tunnel by CONNECT carries bytes both ways, also those that came early, and each direction ends by itself', async () => {
  const { server, port, id } = await startProxy();
  const target = await startTarget((socket) => {
    void (async () => {
      await once(socket, 'readable');
      socket.write('early');
      const got = await receive(socket);
      await sendPayload(socket, 3_000_000, 2);
      socket.end();
      expect(got).toEqual({ bytes: 3_000_005, hash: expect.any(String) });
    })();
  });
  const visitor = await visit(port);
  visitor.write(`CONNECT ${target.address} HTTP/1.1\r\nHost: ${target.address}\r\n\r\nearly`);
  expect(await readUntil(visitor, 'early')).toBe('HTTP/1.1 200 Connection established\r\n\r\nearly');
  const received = receive(visitor);
  await sendPayload(visitor, 3_000_000, 1);
  expect(await received).toEqual({ bytes: 3_000_000, hash: hashOf(3_000_000, 2) });
  await eventually(() => server.engine.tunnelState(id)?.connections, (open) => open === 0);
  // The agent's word on the dial is a byte, too.
  expect(server.engine.tunnelState(id)).toMatchObject({ inletBytes: 3_000_005, exportBytes: 3_000_006 });
});

test('requests that come at once are answered one after another, and a body passes as it is', async () => {
  const { port } = await startProxy();
  const chunks = '3;x=y\r\nabc\r\n0\r\nX-Trailer: 1\r\n\r\n';
  const target = await startScript([
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 Fine\r\nTransfer-Encoding: chunked\r\nKeep-Alive: timeout=5\r\nConnection: keep-alive, X-Hop\r\nX-Hop: 1\r\nX-Kept: 2\r\n\r\n${chunks}`,
    'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n',
    'HTTP/1.1 204 No Content\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok',
  ]);
  const request = (method: string, fields = '') => `${method} http://127.0.0.1:${target.port} HTTP/1.1\r\nHost: other\r\n${fields}\r\n`;
  const answer = await ask(
    port,
    `${request('GET')}${request('GET')}${request('HEAD')}${request('OPTIONS')}${request('GET', 'Connection: close\r\n')}${request('GET')}`,
  );
  expect(answer).toBe([
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 Fine\r\nTransfer-Encoding: chunked\r\nX-Kept: 2\r\n\r\n${chunks}`,
    'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n',
    'HTTP/1.1 204 No Content\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok',
  ].join(''));
  const host = `Host: 127.0.0.1:${target.port}\r\n`;
  expect(target.asked).toEqual([
    `GET / HTTP/1.1\r\n${host}\r\n`,
    `GET / HTTP/1.1\r\n${host}\r\n`,
    `HEAD / HTTP/1.1\r\n${host}\r\n`,
    `OPTIONS * HTTP/1.1\r\n${host}\r\n`,
    `GET / HTTP/1.1\r\n${host}Connection: close\r\n\r\n`,
  ]);
  expect(target.connections).toHaveLength(1);
});

test('bodies pass byte by byte as they come, both ways', async () => {
  const { port } = await startProxy();
  const target = await startTarget();
  const accepted = target.accepted();
  const visitor = await visit(port);
  visitor.write(`POST http://127.0.0.1:${target.port}/ HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n`);
  const socket = await accepted;
  await readUntil(socket, '\r\n\r\n');
  const pass = async (from: net.Socket, to: net.Socket, bytes: string) => {
    for (const byte of bytes) {
      from.write(byte);
      expect(await readUntil(to, byte)).toBe(byte);
    }
  };
  await pass(visitor, socket, 'abc');
  socket.write('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n');
  await readUntil(visitor, '\r\n\r\n');
  await pass(socket, visitor, 'def');
});

test('a response without a length ends with its connection, for the visitor too', async () => {
  const { port } = await startProxy();
  const target = await startTarget((socket) => {
    socket.once('data', () => socket.end('HTTP/1.0 200 OK\r\n\r\nall of it'));
  });
  const visitor = await visit(port);
  visitor.write(`GET http://${target.address}/ HTTP/1.1\r\nHost: a\r\n\r\n`);
  expect((await readAll(visitor)).toString()).toBe('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall of it');
});

test('a response that is cut off is cut off for the visitor, in no good order', async () => {
  const { port } = await startProxy();
  const target = await startTarget((socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this'));
  });
  const visitor = await visit(port);
  const lost = once(visitor, 'error');
  visitor.write(`GET http://${target.address}/ HTTP/1.1\r\nHost: a\r\n\r\n`);
  await readUntil(visitor, 'only this');
  visitor.resume();
  expect(await lost).toEqual([expect.objectContaining({ code: 'ECONNRESET' })]);
});

test('an answer that comes before the body was sent reaches the visitor', async () => {
  const { port } = await startProxy();
  const target = await startTarget((socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n').destroySoon());
  });
  const visitor = await visit(port);
  visitor.write(`POST http://${target.address}/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n${'x'.repeat(1000)}`);
  expect(await readUntil(visitor, '\r\n\r\n')).toBe('HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n');
  const more: Buffer[] = [];
  const errors: unknown[] = [];
  visitor.on('error', (error) => errors.push(error)).on('data', (bytes) => more.push(bytes));
  // This is still a part of the body.
  for (const over = closed(visitor); !visitor.closed && more.length === 0; await Promise.race([over, nextIteration()])) {
    if (visitor.writable) visitor.write(`GET http://${target.address}/ HTTP/1.1\r\nHost: a\r\n\r\n`);
  }
  expect([String(Buffer.concat(more)), target.connections.length, errors]).toEqual(['', 1, []]);
});

test('a HEAD request whose target does not answer gets the head of the error, without its body', async () => {
  const { port } = await startProxy();
  const { port: closedPort, release } = await occupyPort();
  await release();
  const answers = await Promise.all(['HEAD', 'GET'].map((method) => ask(port, `${method} http://127.0.0.1:${closedPort}/ HTTP/1.1\r\nHost: a\r\n\r\n`)));
  expect(answers).toEqual([expect.stringMatching(/^HTTP\/1\.1 502 [^]*\r\n\r\n$/), expect.stringMatching(/^HTTP\/1\.1 502 [^]*\r\n\r\n502 /)]);
});

test('a kept connection that the target has closed is replaced', async () => {
  const { port } = await startProxy();
  const target = await startTarget((socket) => {
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'));
  });
  const visitor = await visit(port);
  for (let round = 1; round <= 3; round++) {
    visitor.write(`GET http://${target.address}/ HTTP/1.1\r\nHost: a\r\n\r\n`);
    await readUntil(visitor, '\r\n\r\n');
    const used = target.connections[round - 1];
    used?.end();
    if (used) await closed(used);
  }
  expect(target.connections).toHaveLength(3);
});

test('a kept connection on which the target has said too much is replaced', async () => {
  const { port } = await startProxy();
  const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
  const target = await startScript([answer + answer.replace('ok', 'no'), answer]);
  const visitor = await visit(port);
  for (let turn = 0; turn < 2; turn++) {
    visitor.write(`GET http://127.0.0.1:${target.port}/ HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect(await readUntil(visitor, '\r\n\r\n')).toBe(answer);
  }
  expect(target.connections).toHaveLength(2);
});

test('a body whose chunks become malformed after the response is counted as such', async () => {
  const { server, port, id } = await startProxy();
  const target = await startScript(['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok']);
  const visitor = await visit(port);
  visitor.write(`POST http://127.0.0.1:${target.port}/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`);
  await readUntil(visitor, 'ok');
  visitor.write('no size\r\n');
  await closed(visitor);
  expect(await eventually(() => server.engine.tunnelState(id)?.refusals['malformed'], (count) => count !== undefined)).toBe(1);
});

test.each([
  ['no HTTP', 'hello\r\n\r\n', 400],
  ['TLS', '\x16\x03\x01\x00\xf0', 400],
  ['a path', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['two Hosts', 'GET http://a/ HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n', 400],
  ['no Host', 'GET http://a/ HTTP/1.1\r\n\r\n', 400],
  ['length and chunks', 'POST http://a/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', 400],
  ['a length that Connection takes away', 'POST http://a/ HTTP/1.1\r\nHost: a\r\nConnection: content-length\r\nContent-Length: 1\r\n\r\nx', 400],
  ['https', 'GET https://a/ HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['a user', 'GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['no host', 'GET http:/// HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['a fragment', 'GET http://a/#b HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['port 0', 'GET http://a:0/ HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['an address without brackets', 'GET http://::1:80/ HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['CONNECT without a port', 'CONNECT a HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['CONNECT to a port alone', 'CONNECT 80 HTTP/1.1\r\nHost: a\r\n\r\n', 400],
  ['CONNECT with a body', 'CONNECT a:80 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx', 400],
  ['another coding', 'POST http://a/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n', 501],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505],
  ['a long head', `GET http://a/${'a'.repeat(40_000)} HTTP/1.1\r\n\r\n`, 431],
])('%s is refused and counted', async (_, request, status) => {
  const { server, port, id } = await startProxy();
  expect(await ask(port, request)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [^]*Connection: close\r\n\r\n${status} `));
  expect(server.engine.tunnelState(id)).toMatchObject({ refusals: { malformed: 1 }, connections: 0 });
});

test('a body whose chunks are malformed is refused, and the target does not see them', async () => {
  const { port } = await startProxy();
  const target = await startTarget();
  const connected = target.accepted();
  const visitor = await visit(port);
  visitor.write(`POST http://${target.address}/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`);
  const accepted = await connected;
  expect(await readUntil(accepted, 'abc\r\n')).toMatch(/\r\n\r\n3\r\nabc\r\n$/);
  const rest = readAll(accepted).catch(() => Buffer.from('reset'));
  visitor.write('-1\r\nevil');
  expect(await readUntil(visitor, 'Bad Request')).toMatch(/^HTTP\/1\.1 400 /);
  expect((await rest).toString()).toBe('reset');
});

test.each([
  ['no HTTP', 'hello\r\n\r\n'],
  ['length and chunks', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
  ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
  ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n'],
  ['a malformed chunk right behind its head', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nno size\r\n'],
  ['interim responses without end', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(20)],
])('an answer with %s makes a 502', async (_, answer) => {
  const { port } = await startProxy();
  const target = await startScript([answer]);
  expect(await ask(port, `GET http://127.0.0.1:${target.port}/ HTTP/1.1\r\nHost: a\r\n\r\n`)).toMatch(/HTTP\/1\.1 502 Bad Gateway\r\n/);
});

test('a target that closes its connection without an answer makes a 502 that says so', async () => {
  const { port } = await startProxy();
  const target = await startTarget((socket) => socket.once('data', () => socket.end()));
  expect(await ask(port, `GET http://${target.address}/ HTTP/1.1\r\nHost: a\r\n\r\n`)).toMatch(
    /^HTTP\/1\.1 502 [^]*\nThe target closed the connection without an answer\.\n$/,
  );
  expect(target.connections).toHaveLength(1);
});

test('an incomplete request gets 408 after the timeout; an idle connection is closed', async () => {
  const { port } = await startProxy({ proxyTiming: { headMs: 1000 } });
  const slow = await visit(port);
  slow.write('GET http://a');
  const silent = await visit(port);
  const [timedOut, nothing] = await Promise.all([readAll(slow), readAll(silent)]);
  expect(timedOut.toString()).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
  expect(nothing.toString()).toBe('');
});

test('a visitor that disconnects cancels the dial, and stopping the tunnel closes its visitors', async () => {
  const { server, port, id } = await startProxy({ proxyTiming: { headMs: 600_000 } });
  const target = await startTarget();
  const connected = target.accepted();
  const visitor = await visit(port);
  visitor.write(`GET http://${target.address}/ HTTP/1.1\r\nHost: a\r\n\r\n`);
  const accepted = await connected;
  visitor.resetAndDestroy();
  await closed(accepted);
  await eventually(() => server.engine.tunnelState(id)?.connections, (open) => open === 0);
  const waiting = await visit(port);
  waiting.write('GET ');
  await server.engine.apply({ kind: 'client', client: { ...CLIENT, enabled: false } });
  await closed(waiting);
  expect(target.connections).toHaveLength(1);
});

test('a visitor that is not admitted is reset', async () => {
  const { port } = await startProxy({ stored: { clients: [{ ...CLIENT, ...fresh, blackIpList: '127.0.0.1' }] } });
  expect(await refusal(port)).toBe('ECONNRESET');
});

test('a visitor that is gone in the middle of a request is no error', async () => {
  const { server, port } = await startProxy();
  const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
  const target = await startScript([answer, answer]);
  const request = `GET http://127.0.0.1:${target.port}/ HTTP/1.1\r\nHost: a\r\n\r\n`;
  const [gone, other] = [await visit(port), await visit(port)];
  gone.write(`${request}GET `);
  await readUntil(gone, 'ok');
  gone.resetAndDestroy();
  other.write(request);
  await readUntil(other, 'ok');
  expect(server.log.entries.filter(({ msg }) => /could not be served/.test(msg))).toEqual([]);
});

test('new settings of the tunnel leave the connections of its visitors open', async () => {
  const { server, port, id } = await startProxy();
  const target = await startScript(['HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\ntwo']);
  const request = `GET http://127.0.0.1:${target.port}/ HTTP/1.1\r\nHost: a\r\n\r\n`;
  const visitor = await visit(port);
  visitor.write(request);
  await readUntil(visitor, 'one');
  await server.engine.apply({ kind: 'tunnel', tunnel: tunnelOf({ mode: 'httpProxy', id, port, targets: ['127.0.0.1:1'] }) });
  visitor.write(request);
  expect(await readUntil(visitor, 'two')).toMatch(/^HTTP\/1.1 200 OK\r\n/);
});

test('a draining server does not wait for idle visitors, but for those with a response under way', async () => {
  const { server, port } = await startProxy();
  const target = await startScript(['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha']);
  const request = `GET http://127.0.0.1:${target.port}/ HTTP/1.1\r\nHost: a\r\n\r\n`;
  const [idle, busy] = [await visit(port), await visit(port)];
  idle.write(request);
  await readUntil(idle, 'ok');
  busy.write(request);
  await readUntil(busy, 'ha');
  const drained = server.engine.drain(10_000);
  await closed(idle);
  target.connections[1]?.write('lf');
  expect((await readAll(busy)).toString()).toBe('lf');
  busy.end();
  expect(await drained).toBe(0);
});

test.each(['localhost', '127.0.0.1', '0.0.0.0'])('a session of the panel does not go to %s through a proxy, and none is planted from there', async (name) => {
  const { port } = await startProxy();
  const script = await startScript(['HTTP/1.1 200 OK\r\nSet-Cookie: beegosessionID=evil\r\nSet-Cookie: a=b\r\nContent-Length: 2\r\n\r\nok']);
  const answer = await ask(
    port,
    `GET http://${name}:${script.port}/ HTTP/1.1\r\nHost: x\r\nCookie: beegosessionID=secret; c=d\r\nCookie: __Host-beegosessionID=secret\r\nConnection: close\r\n\r\n`,
  );
  expect(answer).toBe('HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
  expect(script.asked[0]).toBe(`GET / HTTP/1.1\r\nHost: ${name}:${script.port}\r\nCookie: c=d\r\nConnection: close\r\n\r\n`);
});

test('a target has 16 interim responses; one more is no proper answer', async () => {
  const hint = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n';
  const { port: target } = await startScript([`${hint.repeat(16)}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`, hint.repeat(17)]);
  const { port } = await startProxy();
  const request = `GET http://127.0.0.1:${target}/ HTTP/1.1\r\nHost: 127.0.0.1:${target}\r\n\r\n`;
  const answer = await ask(port, request + request);
  expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual([
    ...Array.from({ length: 16 }, () => 'HTTP/1.1 103'),
    'HTTP/1.1 200',
    ...Array.from({ length: 16 }, () => 'HTTP/1.1 103'),
    'HTTP/1.1 502',
  ]);
});

test.each(
  [
    ['that it has to log in', LOGIN, () => 'CONNECT a.example:1 HTTP/1.1\r\nHost: a.example:1\r\n\r\n'],
    ['from its target', CLIENT, (target: number) => `GET http://127.0.0.1:${target}/ HTTP/1.1\r\nHost: 127.0.0.1:${target}\r\n\r\n`],
  ] as const,
)('a visitor who asks without end and reads no answer %s is disconnected', async (_, client, request) => {
  const answer = `HTTP/1.1 200 OK\r\nContent-Length: 50000\r\n\r\n${'x'.repeat(50_000)}`;
  const { port: target } = await startScript(Array.from({ length: 10_000 }, () => answer));
  const { server, port } = await startProxy({ proxyTiming: { takeMs: 500, headMs: 600_000, idleMs: 600_000 }, stored: { clients: [{ ...client, ...fresh }] } });
  const visitor = await visit(port);
  visitor.pause();
  const requests = request(target).repeat(1000);
  const more = (): void => {
    while (!visitor.destroyed && visitor.write(requests));
  };
  visitor.on('drain', more);
  const gone = new Promise((resolve) => {
    visitor.once('close', resolve);
  });
  more();
  await gone;
  expect(await eventually(() => server.engine.counts.visitors, (count) => count === 0)).toBe(0);
});

test('the first head of a visitor, each next request and the rest of its head have limits of their own; what follows the head has none', async () => {
  const deadline = jest.spyOn(PullSocket.prototype, 'deadline');
  const { port } = await startProxy({ proxyTiming: { headMs: 600_001, idleMs: 600_002 } });
  const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
  const target = await startScript([answer, answer]);
  const visitor = await visit(port);
  for (let request = 0; request < 2; request++) {
    visitor.write(`GET http://127.0.0.1:${target.port}/ HTTP/1.1\r\nHost: a\r\n\r\n`);
    await readUntil(visitor, 'ok');
  }
  const own = deadline.mock.contexts[deadline.mock.calls.findIndex(([ms]) => ms === 600_001)];
  const limits = () => deadline.mock.calls.filter((_, index) => deadline.mock.contexts[index] === own).map(([ms]) => ms);
  expect(await eventually(limits, ({ length }) => length === 7)).toEqual([600_001, 600_001, undefined, 600_002, 600_001, undefined, 600_002]);
  deadline.mockRestore();
});

test('what follows a request without a login is read as the next one only where no body can be there', async () => {
  const { port } = await startProxy({ stored: { clients: [{ ...LOGIN, ...fresh }] } });
  // Of two logins none counts.
  const logins = loginField.repeat(2);
  for (
    const [head, answers] of [
      ['CONNECT a.example:1 HTTP/1.1\r\n', 2],
      ['GET http://a.example/ HTTP/1.1\r\n', 2],
      ['GET http://a.example/ HTTP/1.1\r\nConnection: close\r\n', 1],
      ['GET http://a.example/ HTTP/1.0\r\n', 1],
      ['POST http://a.example/ HTTP/1.1\r\nContent-Length: 0\r\n', 2],
      ['POST http://a.example/ HTTP/1.1\r\nContent-Length: 3\r\n', 1],
      ['POST http://a.example/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n', 1],
    ] as const
  ) {
    const answer = await ask(port, `${head}Host: a\r\n${logins}\r\nGET http://a.example/ HTTP/1.1\r\nHost: a\r\n\r\n`);
    const found = [/^HTTP\/1\.1 407 /gm, /^Connection: close\r$/gm].map((pattern) => answer.match(pattern)?.length ?? 0);
    expect([head, ...found]).toEqual([head, answers, 2 - answers]);
  }
  // A page belongs to each answer but that to HEAD.
  const pages = await ask(port, 'HEAD http://a.example/ HTTP/1.1\r\nHost: a\r\n\r\nno HTTP\r\n\r\n');
  expect(pages.match(/^\d+ [A-Z].*$/gm)).toEqual(['400 Bad Request']);
});

test('a visitor of a client with one connection goes from target to target, and one who leaves ends the request on a kept connection', async () => {
  const { server, port, id } = await startProxy({ stored: { clients: [{ ...CLIENT, ...fresh, maxConnections: 1 }] } });
  const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
  const [one, two] = [await startScript([answer]), await startScript([answer])];
  const request = (target: { readonly port: number }) => `GET http://127.0.0.1:${target.port}/ HTTP/1.1\r\nHost: a\r\n\r\n`;
  const visitor = await visit(port);
  for (const target of [one, two]) {
    visitor.write(request(target));
    await readUntil(visitor, 'ok');
  }
  visitor.write(request(two));
  await eventually(() => two.asked.length, (asked) => asked === 2);
  const [kept] = two.connections;
  visitor.resetAndDestroy();
  if (kept) await closed(kept);
  await eventually(() => server.engine.tunnelState(id)?.connections, (open) => open === 0);

  const third = await startTarget((socket) => socket.end('hello'));
  const again = await visit(port);
  again.write(request(one));
  await eventually(() => one.asked.length, (asked) => asked === 2);
  one.connections[1]?.write(answer);
  await readUntil(again, 'ok');
  again.write(`CONNECT ${third.address} HTTP/1.1\r\nHost: a\r\n\r\n`);
  expect(await readUntil(again, 'hello')).toMatch(/^HTTP\/1\.1 200 /);
});

test('a visitor of HTTP/1.0 gets no interim response; one whose kept connection ends without an answer is disconnected', async () => {
  const { port } = await startProxy();
  const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
  const target = await startScript([`HTTP/1.1 103 Early Hints\r\n\r\n${answer}`, answer]);
  expect(await ask(port, `GET http://127.0.0.1:${target.port}/ HTTP/1.0\r\nHost: a\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*ok$/);
  const visitor = await visit(port);
  const request = `GET http://127.0.0.1:${target.port}/ HTTP/1.1\r\nHost: a\r\n\r\n`;
  visitor.write(request);
  await readUntil(visitor, 'ok');
  visitor.write(request);
  await eventually(() => target.asked.length, (asked) => asked === 3);
  target.connections[1]?.end();
  expect(String(await readAll(visitor))).toBe('');
});

test('one address has 256 visitors without a connection to a target; those that come to that are disconnected, new ones refused, and responses on kept connections complete', async () => {
  const { server, port, id } = await startProxy();
  const target = await startTarget();
  const [kept, last, ended, reset] = [await visit(port), await visit(port), await visit(port), await visit(port)];
  const sockets: net.Socket[] = [];
  for (const visitor of [kept, last, ended, reset]) {
    const accepted = target.accepted();
    visitor.write(`GET http://${target.address}/ HTTP/1.1\r\nHost: a\r\n\r\n`);
    const socket = await accepted;
    await readUntil(socket, '\r\n\r\n');
    sockets.push(socket);
  }
  for (const [index, visitor] of [kept, last, ended, reset].entries()) {
    sockets[index]?.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    await readUntil(visitor, 'ok');
  }
  for (const [index, visitor] of [last, ended, reset].entries()) {
    visitor.write(`GET http://${target.address}/ HTTP/1.1\r\nHost: a\r\n\r\n`);
    const socket = sockets[index + 1];
    if (socket) await readUntil(socket, '\r\n\r\n');
  }
  const refused = () => server.engine.tunnelState(id)?.refusals['capacity'] ?? 0;
  await Promise.all(Array.from({ length: 256 }, () => visit(port)));
  expect(await refusal(port)).toBe('ECONNRESET');
  expect(refused()).toBe(1);
  sockets[0]?.end();
  await closed(kept);
  expect(refused()).toBe(2);
  sockets[1]?.write('HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok');
  expect(String(await readAll(last))).toMatch(/ok$/);
  expect(refused()).toBe(3);
  sockets[2]?.end('HTTP/1.1 200 OK\r\n\r\nok');
  expect(String(await readAll(ended))).toMatch(/ok$/);
  sockets[3]?.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok');
  await readUntil(reset, 'ok');
  sockets[3]?.resetAndDestroy();
  await expect(readAll(reset)).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(refused()).toBe(3);
});

test('a visitor who is no longer admitted when the request comes gets 503', async () => {
  const { server, port, id } = await startProxy({ stored: { clients: [{ ...LOGIN, ...fresh }] } });
  const heads = ['GET http://127.0.0.1:1/ HTTP/1.1\r\nHost: a\r\n', 'CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: a\r\n'];
  const visitors = await Promise.all(heads.map(async (head) => {
    const visitor = await visit(port);
    visitor.write(`${head}\r\n`);
    await readUntil(visitor, '407 Proxy Authentication Required\n');
    return visitor;
  }));
  await server.engine.apply({ kind: 'blackIpList', list: ['127.0.0.1'] });
  for (const [index, visitor] of visitors.entries()) {
    visitor.end(`${heads[index]}${loginField}\r\n`);
    expect(String(await readAll(visitor))).toMatch(/^[^]*HTTP\/1\.1 503 /);
  }
  expect(server.engine.tunnelState(id)?.refusals).toEqual({ globalBlackList: 2 });
});
