import { setImmediate as nextIteration } from 'node:timers/promises';
import { afterEach, expect, jest, test } from '@jest/globals';
import { dialBridge } from '../../src/agent/dial-bridge.ts';
import { agreeOnSession, ServerSession, type SessionStart } from '../../src/agent/server-session.ts';
import { acceptHandshake, keyIdOf, type Offer } from '../../src/wire/handshake.ts';
import { Mux } from '../../src/wire/mux.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import { sessionWelcome, type SessionWelcome } from '../../src/wire/session-messages.ts';
import { socketPair } from '../../src/wire/socket-pair.ts';
import type { ByteSocket } from '../../src/wire/socket.ts';
import { EmptySocket } from '../support/empty-socket.ts';
import { eventually } from '../support/eventually.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { startTarget } from '../support/target.ts';
import { deferred } from '../support/wire.ts';

const ends: Array<() => void> = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const place = { remoteAddress: '192.0.2.1', remotePort: 7 };
const welcome: SessionWelcome = { sessionId: '0'.repeat(32), heartbeatMs: 60_000, compress: false };
const sessionKey = Buffer.alloc(32, 1);

/** A session whose server the test is. @param start other than without data connections @param compress what the server says of that at first */
function sessionWith(start: Partial<SessionStart<SessionWelcome>> = {}, compress = false) {
  const [near, far] = socketPair(place);
  /** How many bytes it has sent. */
  let sent = 0;
  const write = near.write.bind(near);
  near.write = (bytes, taken) => {
    sent += bytes.length;
    return write(bytes, taken);
  };
  const log = new LogRecorder();
  /** What its owner gets. */
  const heard: unknown[] = [];
  /** What the server gets. */
  const said: unknown[] = [];
  let answersPings = false;
  const server = new Mux(far, 'server', {
    onOpen: (stream) => stream.reset(),
    onControl: (message) => {
      said.push(message);
      if (answersPings) server.sendControl({ type: 'pong' });
    },
    onClose: () => undefined,
  }, { heartbeatMs: 60_000 });
  const session = new ServerSession({
    start: {
      sockets: netBackend,
      server: { host: 'bridge.example', port: 8024 },
      role: 'mux',
      key: 'k',
      info: {},
      welcome: sessionWelcome,
      log: log.logger,
      ...start,
    },
    connection: { socket: near, body: {}, sessionKey },
    welcome: { ...welcome, compress },
  }, { onOpen: (stream) => stream.reset(), onControl: (message) => heard.push(message), onServers: (servers) => heard.push(servers) });
  ends.push(() => {
    server.close('the test is over');
    session.giveUp('the test is over');
  });
  const answerPings = () => {
    answersPings = true;
  };
  return { session, server, log, heard, said, answerPings, sent: () => sent };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextIteration();
}

const bye = (text: string) => ({ type: 'bye', code: 'stopped', text });

test('the connect and the handshake have a timeout each', async () => {
  const { port } = await startTarget();
  const connects: Array<number | undefined> = [];
  const sockets = {
    ...netBackend,
    connect: (options: Parameters<typeof netBackend.connect>[0]) => {
      connects.push(options.timeoutMs);
      return netBackend.connect(options);
    },
  };
  const bridge = { sockets, server: { host: '127.0.0.1', port }, timeouts: { connectMs: 60_000, handshakeMs: 50 } };
  const dialed = dialBridge(bridge, { role: 'mux', keyId: keyIdOf('k'), key: 'k', connection: 0, info: {} });
  await expect(dialed).rejects.toMatchObject({ name: 'HandshakeError', code: 'timeout' });
  expect(connects).toEqual([60_000]);
});

test('a server that demands TLS is dialed at its TLS port, and must show the certificate that it named there', async () => {
  const [near, far] = socketPair(place);
  const tls = { port: 8025, fingerprint: 'ab'.repeat(32) };
  void acceptHandshake(far, { timeoutMs: 60_000, keyOf: () => 'k' }).then((offer) => offer.refuse({ code: 'tls-needed', text: 'use TLS', tls }));
  const dialed: unknown[] = [];
  const connect = async ({ host, port, trust }: Parameters<typeof netBackend.connect>[0]) => {
    dialed.push([host, port, trust?.fingerprint]);
    if (dialed.length > 1) throw new Error('enough');
    return near;
  };
  const { logger: log } = new LogRecorder();
  const server = { host: 'h', port: 1 };
  const agreed = agreeOnSession({ sockets: { ...netBackend, connect }, server, role: 'mux', key: 'k', info: {}, welcome: sessionWelcome, log });
  await expect(agreed).rejects.toThrow('enough');
  expect(dialed).toEqual([['h', 1, undefined], ['h', 8025, tls.fingerprint]]);
});

test('a welcome that it does not understand ends the connection', async () => {
  const [near, far] = socketPair(place);
  const gone = acceptHandshake(far, { timeoutMs: 60_000, keyOf: () => 'k' }).then((offer) => {
    offer.accept({ ...welcome, sessionId: 'x' });
    return new Promise<void>((resolve) => far.attach({ onData: () => undefined, onEnd: () => undefined, onDrain: () => undefined, onClose: () => resolve() }));
  });
  const { logger: log } = new LogRecorder();
  const sockets = { ...netBackend, connect: async () => near };
  const agreed = agreeOnSession({ sockets, server: { host: 'h', port: 1 }, role: 'mux', key: 'k', info: {}, welcome: sessionWelcome, log });
  await expect(agreed).rejects.toThrow('an answer that this version does not understand');
  await gone;
});

test('of the messages of the server, the owner gets what is not for every session, and who the others are; the last one says why it ends', async () => {
  const { session, server, heard, said } = sessionWith();
  const servers = { type: 'servers', servers: [{ host: 'a.example', port: 1, tlsPort: 2 }], here: true };
  for (const message of [servers, { type: 'pong' }, { type: 'compress', on: true }, { type: 'ping' }, { type: 'news' }]) server.sendControl(message);
  await eventually(() => said.length, (count) => count === 1);
  await eventually(() => heard.length, (count) => count === 2);
  expect([heard, said]).toEqual([[servers, { type: 'news' }], [{ type: 'pong' }]]);
  expect([session.address, session.secure]).toEqual(['192.0.2.1', false]);
  server.close('over', { type: 'bye', code: 'disabled', text: 'the client is disabled' });
  expect(await session.ended).toEqual({ code: 'disabled', text: 'the client is disabled' });

  const silent = sessionWith();
  silent.server.close('over');
  expect(await silent.session.ended).toMatchObject({ code: '' });
});

test.each([false, true])('what it sends is compressed as the server says: at first (%s), and then in a message', async (compress) => {
  const { session, server, heard, sent } = sessionWith({}, compress);
  const carries = async (): Promise<number> => {
    const before = sent();
    const local = new EmptySocket();
    session.open(Buffer.alloc(0))?.join(local);
    local.sink?.onData(Buffer.alloc(10_000));
    await turns(5);
    return sent() - before;
  };
  const amounts = [await carries()];
  server.sendControl({ type: 'compress', on: !compress });
  server.sendControl({ type: 'news' });
  await eventually(() => heard.length, (count) => count === 1);
  amounts.push(await carries());
  expect(amounts.map((bytes) => bytes < 1000)).toEqual([compress, !compress]);
});

test('it ends when nothing is open any more, or at the end of its time, and says so; one that is over waits for nothing', async () => {
  const { session, said } = sessionWith();
  const [one, other] = [session.hold(), session.hold()];
  const closing = [session.close(2 ** 31 - 1, 'enough'), session.close(2 ** 31 - 1, 'enough')];
  one();
  await eventually(() => said.length, (count) => count === 2);
  expect(said.splice(0)).toEqual([{ type: 'drain' }, { type: 'drain' }]);
  other();
  await Promise.all(closing);
  await session.ended;
  await eventually(() => said, (messages) => messages.length > 0);
  expect(said).toEqual([bye('enough')]);

  const late = sessionWith();
  late.session.hold();
  await late.session.close(5, 'late');
  await eventually(() => late.said.length, (count) => count === 2);
  expect(late.said).toEqual([{ type: 'drain' }, bye('late')]);

  const lost = sessionWith();
  lost.session.hold();
  const waiting = lost.session.close(2 ** 31 - 1, 'lost');
  lost.server.close('over');
  await waiting;
  await lost.session.close(2 ** 31 - 1, 'lost');
});

test('a session that is left takes what is on its way for 3 s, and ends with its last connection, or after a day', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate', 'performance', 'Date'] });
  try {
    const saysAfter = async ({ said }: { readonly said: unknown[] }, ms: number) => {
      jest.advanceTimersByTime(ms);
      await turns(20);
      return said.splice(0);
    };
    const idle = sessionWith();
    const left = idle.session.leave('moved');
    expect([await saysAfter(idle, 2999), await saysAfter(idle, 1)]).toEqual([[{ type: 'drain' }], [bye('moved')]]);
    await left;
    const held = sessionWith();
    held.session.hold();
    void held.session.leave('moved');
    expect([await saysAfter(held, 86_399_999), await saysAfter(held, 1)]).toEqual([[{ type: 'drain' }], [bye('moved')]]);
  } finally {
    jest.useRealTimers();
  }
});

test('it knows whether its server answers, also when it is over', async () => {
  const { session, server, heard, said, answerPings } = sessionWith();
  server.sendControl({ type: 'news' });
  await eventually(() => heard.length, (count) => count === 1);
  expect(await session.answers(5)).toBe(false);
  expect(said).toEqual([{ type: 'ping' }]);
  answerPings();
  expect(await session.answers(500)).toBe(true);
  server.close('over');
  await session.ended;
  expect(await session.answers(5)).toBe(true);
});

/** Dials of data connections, which the test answers: `verdict` is a refusal, or "" = it is accepted. */
function dataConnections(verdict: string) {
  const begin = deferred<void>();
  const dials: unknown[] = [];
  const offers: Array<Pick<Offer, 'role' | 'keyId' | 'proven' | 'connection'>> = [];
  const sockets = {
    ...netBackend,
    connect: async ({ host, port }: Parameters<typeof netBackend.connect>[0]): Promise<ByteSocket> => {
      dials.push({ host, port });
      await begin.promise;
      const [near, far] = socketPair(place);
      void acceptHandshake(far, { timeoutMs: 60_000, keyOf: () => sessionKey }).then((offer) => {
        const { role, keyId, proven, connection } = offer;
        offers.push({ role, keyId, proven, connection });
        if (verdict === '') offer.accept({});
        else offer.refuse({ code: verdict, text: 'x' });
      });
      return near;
    },
  };
  return { sockets, dials, offers, begin: () => begin.resolve() };
}

test('data connections are dialed at the address of the session, without TLS, and prove its key', async () => {
  const { sockets, dials, offers, begin } = dataConnections('');
  sessionWith({ sockets, dataAfterMs: 0 });
  begin();
  await eventually(() => offers.length, (count) => count === 8);
  expect(dials).toEqual(dials.map(() => ({ host: '192.0.2.1', port: 8024 })));
  expect(offers).toEqual(offers.map(({ connection }) => ({ role: 'data', keyId: welcome.sessionId, proven: true, connection })));
  expect(new Set(offers.map(({ connection }) => connection)).size).toBe(8);
  const none = dataConnections('');
  sessionWith({ sockets: none.sockets, dataAfterMs: 0, tls: { fingerprint: '' } });
  sessionWith({ sockets: none.sockets });
  await turns(2);
  expect(none.dials).toEqual([]);
});

test.each([['unknown-key', true, 21], ['unknown-key', false, 1], ['crowded', true, 1]])(
  'a data connection that is refused with the code %s, others at its address: %j, is dialed %i times',
  async (code, here, times) => {
    const { sockets, dials, begin } = dataConnections(code);
    const { server, heard, log } = sessionWith({ sockets, dataAfterMs: 0 });
    server.sendControl({ type: 'servers', servers: [], here });
    await eventually(() => [heard.length, dials.length], ([messages, count]) => messages === 1 && count === 8);
    begin();
    await eventually(() => log.entries.filter(({ msg }) => msg.startsWith('a data connection could not be opened: ')).length, (count) => count === 8);
    expect(dials.length).toBe(8 * times);
  },
);

test('nothing is dialed again for a session that is over', async () => {
  const { sockets, dials, offers, begin } = dataConnections('unknown-key');
  const { session, server, heard, log } = sessionWith({ sockets, dataAfterMs: 0 });
  server.sendControl({ type: 'servers', servers: [], here: true });
  await eventually(() => [heard.length, dials.length], ([messages, count]) => messages === 1 && count === 8);
  server.close('over');
  await session.ended;
  begin();
  await eventually(() => offers.length, (count) => count === 8);
  await turns(50);
  expect([dials.length, log.entries]).toEqual([8, []]);
});

test('others are dialed later in the place of data connections that could not be opened', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate', 'Date'] });
  try {
    const { sockets, dials, begin } = dataConnections('crowded');
    const { log } = sessionWith({ sockets, dataAfterMs: 0 });
    begin();
    while (log.entries.length < 8) await nextIteration();
    jest.advanceTimersByTime(60_000);
    await turns(20);
    expect(dials.length).toBe(16);
  } finally {
    jest.useRealTimers();
  }
});
