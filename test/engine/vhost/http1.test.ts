import net from 'node:net';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { VhostConnection } from '../../../src/engine/vhost/request/connection.ts';
import { TargetPool } from '../../../src/engine/vhost/target/target-pool.ts';
import { encodeDialResult } from '../../../src/wire/dial-result.ts';
import { EmptySocket } from '../../support/empty-socket.ts';
import { exchange, hostOf, startRawOrigin, startVhost } from '../../support/vhost.ts';

const hello = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';

test("a request reaches the target with the visitor's address, and the response is returned", async () => {
  const origin = await startRawOrigin((_text, socket) => socket.write(hello));
  const { httpPort } = await startVhost([hostOf({ targets: [origin.target] })]);
  const text = await exchange(httpPort, 'GET /a?b HTTP/1.1\r\nHost: Example.test:8000\r\nX-A: 1\r\nConnection: close, x-b\r\nX-B: 2\r\n\r\n');
  expect(text).toBe('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello');
  expect(origin.received).toEqual([
    'GET /a?b HTTP/1.1\r\nHost: Example.test:8000\r\nX-A: 1\r\nX-Forwarded-For: 127.0.0.1\r\nX-Real-IP: 127.0.0.1\r\n'
    + 'X-Forwarded-Proto: http\r\nX-Forwarded-Host: Example.test:8000\r\n\r\n',
  ]);
});

test('requests that are sent ahead are answered one after another, over one connection to the target', async () => {
  const origin = await startRawOrigin((text, socket) => {
    if (text.endsWith('\r\n\r\n') || text.endsWith('abc')) socket.write(hello);
  });
  const { httpPort } = await startVhost([hostOf({ targets: [origin.target] })]);
  const text = await exchange(
    httpPort,
    'GET /1 HTTP/1.1\r\nHost: example.test\r\n\r\nPOST /2 HTTP/1.1\r\nHost: example.test\r\nContent-Length: 3\r\n\r\nabc'
      + 'GET /3 HTTP/1.1\r\nHost: example.test\r\nConnection: close\r\n\r\n',
  );
  expect(text.match(/hello/g)).toHaveLength(3);
  expect(origin.received).toHaveLength(1);
  expect(origin.received[0]?.match(/(GET|POST) \/\d/g)).toEqual(['GET /1', 'POST /2', 'GET /3']);
});

test('what is sent ahead waits at the visitor, not in the server', async () => {
  let answered = 0;
  const origin = await startRawOrigin((_text, socket) => {
    if (answered++ < 600) socket.write(hello);
  });
  const { httpPort } = await startVhost([hostOf({ targets: [origin.target] })]);
  const socket = net.connect(httpPort, '127.0.0.1');
  const ahead = Buffer.from('GET / HTTP/1.1\r\nHost: example.test\r\n\r\n'.repeat(1000));
  let taken = 0;
  const more = (): void => {
    while (taken < 60e6 && socket.write(ahead)) taken += ahead.length;
  };
  socket.on('drain', more);
  more();
  let text = '';
  for await (const chunk of socket.setEncoding('latin1')) if ((text += String(chunk)).length >= 600 * hello.length) break;
  // What the kernel takes on both sides, and a little.
  expect(taken).toBeLessThan(20e6);
  socket.destroy();
});

test('a chunked body passes as it is, with its trailer', async () => {
  const body = '5;x=y\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n';
  const origin = await startRawOrigin((text, socket) => {
    if (text.includes('X-Sum')) socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body}`);
  });
  const { httpPort } = await startVhost([hostOf({ targets: [origin.target] })]);
  const text = await exchange(httpPort, `POST / HTTP/1.1\r\nHost: example.test\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${body}`);
  expect(text).toBe(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${body}`);
  expect(origin.received[0]).toMatch(/Transfer-Encoding: chunked\r\n[^]*\r\n\r\n5;x=y\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n$/);
});

test('a visitor that speaks HTTP/1.0 gets no interim response', async () => {
  const origin = await startRawOrigin((text, socket) => {
    if (text.endsWith('\r\n\r\n')) socket.write('HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  });
  const { httpPort } = await startVhost([hostOf({ targets: [origin.target] })]);
  expect(await exchange(httpPort, 'GET / HTTP/1.0\r\nHost: example.test\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(await exchange(httpPort, 'GET / HTTP/1.1\r\nHost: example.test\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 103 Early Hints\r\n/);
});

test('an upgrade turns the connection into one for any bytes', async () => {
  const origin = await startRawOrigin((text, socket) => {
    if (text.endsWith('\r\n\r\n')) socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfirst');
    else if (text.endsWith('ping')) socket.end('pong');
  });
  const { httpPort } = await startVhost([hostOf({ targets: [origin.target] })]);
  const text = await exchange(httpPort, 'GET / HTTP/1.1\r\nHost: example.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nping');
  expect(text).toBe('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfirstpong');
  expect(origin.received[0]).toMatch(/Connection: Upgrade\r\nUpgrade: websocket\r\n[^]*ping$/);
});

test('a missing route, a missing target and a malformed request each get their own page', async () => {
  const kept: boolean[] = [];
  const { httpPort, log } = await startVhost([hostOf({ targets: ['127.0.0.1:1'] })], { gate: (_entry, visit) => void kept.push(visit.kept) });
  const ask = (text: string) => exchange(httpPort, `${text}\r\nConnection: close\r\n\r\n`);
  expect(await ask('GET / HTTP/1.1\r\nHost: other.test')).toMatch(/^HTTP\/1.1 404 Not Found\r\nContent-Type: text\/html/);
  expect(await ask('GET / HTTP/1.1\r\nHost: other.test\r\nAccept: application/json')).toMatch(/^HTTP\/1.1 404 [^]*\r\n\r\n\{"status":404/);
  const refused = await ask('GET / HTTP/1.1\r\nHost: example.test');
  expect(refused).toMatch(/^HTTP\/1.1 502 /);
  // Whether it is still admitted, it is asked as one that has a connection.
  expect(kept).toEqual([false, true]);
  expect(await log.line(/a request was refused: the target could not be dialed: refused/)).toMatchObject({
    id: /X-Request-Id: (\w+)/.exec(refused)?.[1],
    status: 502,
  });
  expect(await ask('GET / HTTP/1.1\r\nHost: example.test\r\nContent-Length: 1\r\nTransfer-Encoding: chunked')).toMatch(/^HTTP\/1.1 400 /);
});

/** A visitor's socket, of whose bytes so many wait as a test says. */
class VisitorSocket extends EmptySocket {
  override pending = 0;
}

/** A visitor's connection and that of its host to the target, without a network. */
async function connect() {
  const [visitor, target] = [new VisitorSocket(), new EmptySocket()];
  const { server } = await startVhost([hostOf({ targets: ['nowhere:1'] })], { dial: () => target });
  const ends: string[] = [];
  const connection = new VhostConnection(visitor, {
    scheme: 'http',
    context: server,
    pool: new TargetPool(1, 60_000),
    onOver: () => ends.push('over'),
    onGone: () => ends.push('gone'),
  });
  const { waitState } = connection;
  /** What the connection waits for after these bytes of the visitor. */
  const says = (text: string) => {
    connection.onData(Buffer.from(text));
    return waitState.waiting;
  };
  /** The same after these bytes of the target. */
  const answers = (text: string, ...before: readonly Buffer[]) => {
    target.sink?.onData(Buffer.concat([...before, Buffer.from(text)]));
    return waitState.waiting;
  };
  /** What the visitor has got so far: the first line of each head, and the state of the connection. */
  const got = () => [
    ...Buffer.from(visitor.received, 'hex').toString('latin1').match(/HTTP\/1\.1 \d+|Connection: close/g) ?? [],
    ...ends,
    ...visitor.ended ? ['ended'] : [],
    ...visitor.destroyed ? ['reset'] : [],
  ];
  return { server, connection, visitor, target, waitState, says, answers, got, connected: encodeDialResult('connected') };
}

const head = (method: string, fields = '') => `${method} / HTTP/1.1\r\nHost: example.test\r\n${fields}\r\n`;

test('a connection waits for a head, a body, a response, or nothing; how much of a body came, and when the visitor had read all, is known', async () => {
  const { connection, waitState, says, answers, connected } = await connect();
  expect([waitState.waiting, says('G'), says(head('GET').slice(1))]).toEqual(['first', 'head', 'response']);
  expect([answers(hello.slice(0, -2), connected), answers('lo')]).toEqual(['nothing', 'idle']);
  expect(says(`${head('POST', 'Content-Length: 10\r\n')}abc`)).toBe('body');
  expect([waitState.tooSlow(3), says('de'), waitState.tooSlow(3)]).toEqual([false, 'body', true]);
  const { drainedAt } = waitState;
  connection.onDrain();
  expect(waitState.drainedAt).toBeGreaterThan(drainedAt);
  expect([says('fghij'), answers(hello)]).toEqual(['response', 'idle']);
  // An early response no longer has its time when the body is complete.
  says(`${head('POST', 'Content-Length: 4\r\n')}ab`);
  expect([answers('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n'), says('cd'), waitState.waiting]).toEqual(['nothing', 'nothing', 'nothing']);
});

test('a visitor that is not read is not slow, until it is read again', async () => {
  const { connection, waitState, target, says } = await connect();
  target.write = () => false;
  says(`${head('POST', 'Content-Length: 10\r\n')}abc`);
  expect([waitState.held, waitState.tooSlow(100)]).toEqual([true, false]);
  target.sink?.onDrain();
  expect([waitState.held, waitState.tooSlow(100)]).toEqual([false, true]);
  connection.cutOff();
});

const body = head('POST', 'Content-Length: 4\r\n');
const begun = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab';

test.each<[string, string, string, readonly string[], readonly string[]]>([
  ['nothing yet', '', '', ['over', 'ended'], ['over', 'ended']],
  ['the beginning of a head', 'GET', '', ['HTTP/1.1 408', 'Connection: close', 'over', 'ended'], []],
  ['a head', head('GET'), '', ['HTTP/1.1 504', 'Connection: close', 'over', 'ended'], []],
  ['a part of a body', `${body}ab`, '', ['HTTP/1.1 408', 'Connection: close', 'over', 'ended'], []],
  ['a head, and a part of the response came', head('GET'), begun, ['HTTP/1.1 200', 'over', 'reset'], ['HTTP/1.1 200']],
  ['a request, and the response came', head('GET'), `${begun}cd`, ['HTTP/1.1 200', 'over', 'ended'], ['HTTP/1.1 200', 'over', 'ended']],
])('of a visitor that has sent %s, what it gets when its time is over, and when the server drains', async (_, request, response, late, drained) => {
  for (const [end, seen] of [['expire', late], ['drain', drained]] as const) {
    const { connection, says, answers, got, connected } = await connect();
    if (request !== '') says(request);
    if (response !== '') answers(response, connected);
    connection[end]();
    expect([end, got().filter((what) => what !== 'gone')]).toEqual([end, seen]);
    connection.cutOff();
  }
});

test('a request under way when the server drains is answered, and the connection ends with the answer', async () => {
  const { connection, says, answers, got, connected } = await connect();
  says(head('GET'));
  connection.drain();
  answers(hello, connected);
  expect(got()).toEqual(['HTTP/1.1 200', 'Connection: close', 'over', 'ended']);
  connection.cutOff();
});

test('a request whose head comes when the server drains is answered that the site is away', async () => {
  const { server, connection, target, says, got } = await connect();
  says('GET');
  await server.drain();
  says(head('GET').slice(3));
  expect([got(), target.received]).toEqual([['HTTP/1.1 503'], '']);
  connection.cutOff();
});

test('each side is read no further while the other one takes no more, before and after an upgrade', async () => {
  const { connection, visitor, target, says, answers, connected } = await connect();
  const calls: string[] = [];
  for (const [side, socket] of [['visitor', visitor], ['target', target]] as const) {
    socket.write = () => false;
    socket.pause = () => void calls.push(`${side} pauses`);
    socket.resume = () => void calls.push(`${side} resumes`);
  }
  const happened = () => calls.splice(0);
  says(`${head('POST', 'Connection: Upgrade\r\nUpgrade: x\r\nContent-Length: 2\r\n')}a`);
  expect(happened()).toEqual(['visitor pauses']);
  target.sink?.onDrain();
  expect(happened()).toEqual(['visitor resumes']);
  says('b');
  target.sink?.onDrain();
  happened();
  answers('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n', connected);
  expect(happened().toSorted()).toEqual(['target pauses', 'visitor resumes']);
  connection.onDrain();
  expect(happened()).toEqual(['target resumes']);
  answers('bytes');
  expect(happened()).toEqual(['target pauses']);
  connection.onDrain();
  says('bytes');
  expect(happened()).toEqual(['target resumes', 'visitor pauses']);
  target.sink?.onDrain();
  expect(happened()).toEqual(['visitor resumes']);
  connection.cutOff();
});

test('a request that was sent ahead is answered, although the visitor ends before it is read', async () => {
  const { connection, target, says, answers, got, connected } = await connect();
  says(head('GET') + head('GET'));
  answers(hello, connected);
  connection.onEnd();
  await nextIteration();
  expect(Buffer.from(target.received, 'hex').toString().match(/GET/g)).toHaveLength(2);
  answers(hello);
  expect(got()).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'Connection: close', 'over', 'ended']);
  connection.cutOff();
});

test('a visitor that ends before its connection is upgraded has ended for the target, too', async () => {
  const { connection, target, says, answers, connected } = await connect();
  says(head('GET', 'Connection: Upgrade\r\nUpgrade: x\r\n'));
  connection.onEnd();
  expect(target.ended).toBe(false);
  answers('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n', connected);
  expect(target.ended).toBe(true);
  connection.cutOff();
});

test('a visitor that has ended is disconnected when it has read the last answer', async () => {
  const { connection, visitor, says, got } = await connect();
  visitor.pending = 65_537;
  says('GET / HTTP/1.1\r\nHost: nowhere.test\r\n\r\n'.repeat(2));
  connection.onEnd();
  // The first was read.
  visitor.pending = 0;
  connection.onDrain();
  visitor.pending = 65_537;
  await nextIteration();
  expect(got()).toEqual(['HTTP/1.1 404', 'HTTP/1.1 404']);
  visitor.pending = 0;
  connection.onDrain();
  expect(got()).toEqual(['HTTP/1.1 404', 'HTTP/1.1 404', 'over', 'ended']);
});

test('a visitor whose next request has a body that the target does not take is not read meanwhile', async () => {
  const { connection, visitor, target, says, answers, connected } = await connect();
  const calls: string[] = [];
  visitor.pause = () => void calls.push('pause');
  visitor.resume = () => void calls.push('resume');
  says(`${head('GET')}${head('POST', 'Content-Length: 10\r\n')}abc`);
  target.write = () => false;
  answers(hello, connected);
  await nextIteration();
  expect(calls.at(-1)).toBe('pause');
  target.sink?.onDrain();
  expect(calls.at(-1)).toBe('resume');
  connection.cutOff();
});
