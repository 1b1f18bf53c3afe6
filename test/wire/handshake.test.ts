import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { acceptHandshake, keyIdOf, proveHandshake, type Offer } from '../../src/wire/handshake.ts';
import { HandshakeReader } from '../../src/wire/handshake-reader.ts';
import type { ByteSocket } from '../../src/wire/socket.ts';
import { EmptySocket } from '../support/empty-socket.ts';
import { deferred, socketPair } from '../support/wire.ts';

const sockets: ByteSocket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

async function pair(): Promise<{ agent: ByteSocket; server: ByteSocket }> {
  const { dialed, accepted } = await socketPair();
  sockets.push(dialed, accepted);
  return { agent: dialed, server: accepted };
}

const VKEY = 'correct horse battery staple';
const prove = (socket: ByteSocket, key = VKEY, timeoutMs = 2000): ReturnType<typeof proveHandshake> =>
  proveHandshake(socket, { timeoutMs, role: 'mux', keyId: keyIdOf(key), key, connection: 0, info: { version: '1.2.3' } });
const accept = (socket: ByteSocket, key = VKEY, timeoutMs = 2000): Promise<Offer> =>
  acceptHandshake(socket, { timeoutMs, keyOf: (_role, keyId) => (keyId === keyIdOf(key) ? key : undefined) });

test('both sides end with the same session key, and the vkey never travels', async () => {
  const { agent, server } = await pair();
  const said: Buffer[] = [];
  const write = agent.write.bind(agent);
  agent.write = (chunk) => {
    said.push(Buffer.from(chunk));
    return write(chunk);
  };
  const proving = prove(agent);
  const offer = await accept(server);
  expect(offer).toMatchObject({ role: 'mux', proven: true, info: { version: '1.2.3' }, keyId: keyIdOf(VKEY) });
  const key = offer.accept({ hello: 'agent' });
  const proven = await proving;
  expect(proven.body).toEqual({ hello: 'agent' });
  expect(proven.sessionKey.equals(key)).toBe(true);
  expect(Buffer.concat(said).includes(VKEY)).toBe(false);
});

test('a wrong vkey is not proven, and the refusal reaches the agent in words', async () => {
  const { agent, server } = await pair();
  const proving = prove(agent, 'a wrong vkey');
  const offer = await acceptHandshake(server, { timeoutMs: 2000, keyOf: () => VKEY });
  expect(offer.proven).toBe(false);
  expect(() => offer.accept({})).toThrow('unauthenticated');
  offer.refuse({ code: 'unknown', text: 'no client has this vkey' });
  await expect(proving).rejects.toMatchObject({ code: 'refused', message: 'no client has this vkey', refusal: { code: 'unknown' } });
});

test('an unknown key id is not proven either', async () => {
  const { agent, server } = await pair();
  const proving = prove(agent).catch((error: unknown) => error);
  const offer = await accept(server, 'a vkey nobody uses');
  expect(offer.proven).toBe(false);
  offer.refuse({ code: 'unknown', text: 'no' });
  expect(await proving).toMatchObject({ code: 'refused' });
});

test('what an agent sends while it waits for its turn is not read, and waits with it', async () => {
  const { agent, server } = await pair();
  const order: string[] = [];
  const pause = server.pause.bind(server);
  server.pause = () => {
    order.push('paused');
    pause();
  };
  const queued = async () => {
    order.push('queued');
  };
  const proving = prove(agent);
  const offer = await acceptHandshake(server, { timeoutMs: 2000, queued, keyOf: () => VKEY });
  expect(order).toEqual(['paused', 'queued']);
  offer.accept({});
  await proving;
});

test('an impostor that does not know the vkey is unmasked by the agent', async () => {
  const { agent, server } = await pair();
  const proving = prove(agent).catch((error: unknown) => error);
  server.attach({
    onData(chunk) {
      if (chunk.length === 58) server.write(Buffer.concat([Buffer.from('ADIT'), Buffer.of(1), Buffer.alloc(32)]));
      else server.write(Buffer.concat([Buffer.of(1), Buffer.alloc(32), Buffer.of(0, 2), Buffer.from('{}')]));
    },
    onEnd() {},
    onDrain() {},
    onClose() {},
  });
  expect(await proving).toMatchObject({ code: 'impostor' });
});

describe('what is no handshake is closed', () => {
  test.each([
    ['an HTTP request', Buffer.from('GET / HTTP/1.1\r\n\r\n'), 'garbage'],
    ['an agent of the NPS family', Buffer.from('TST\u0006\0\0\u00000.26.0'), 'npc'],
    ['what only begins like one', Buffer.from('TSX'), 'garbage'],
    ['one wrong byte', Buffer.from('X'), 'garbage'],
    ['another version', Buffer.from('ADIT\u0009'), 'version'],
    ['a flood', Buffer.concat([Buffer.from('ADIT\u0001\u0000'), Buffer.alloc(100_000)]), 'garbage'],
  ])('%s', async (_, bytes, code) => {
    const { agent, server } = await pair();
    const closed = deferred<void>();
    const answer: Buffer[] = [];
    agent.attach({
      onData: (chunk) => answer.push(Buffer.from(chunk)),
      onEnd() {
        agent.end();
      },
      onDrain() {},
      onClose: () => closed.resolve(),
    });
    agent.write(bytes);
    await expect(accept(server)).rejects.toMatchObject({ code });
    await closed.promise;
    // An agent of another version learns ours.
    const answered = Buffer.concat(answer);
    if (code === 'version') expect([answered.length, answered.toString('latin1', 0, 5)]).toEqual([37, 'ADIT\u0001']);
    else if (bytes.length < 100) expect(answered).toEqual(Buffer.alloc(0));
  });

  test('silence, within the time limit', async () => {
    const { agent, server } = await pair();
    const closed = deferred<void>();
    agent.attach({
      onData() {},
      onEnd() {
        agent.end();
      },
      onDrain() {},
      onClose: () => closed.resolve(),
    });
    await expect(accept(server, VKEY, 50)).rejects.toMatchObject({ code: 'timeout', message: 'no handshake within 50 ms' });
    await closed.promise;
  });

  test('a connection that ends', async () => {
    const { agent, server } = await pair();
    agent.write(Buffer.from('ADI'));
    agent.end();
    await expect(accept(server)).rejects.toMatchObject({ code: 'closed' });
  });
});

test('a peer that sends 16 KB, in whatever pieces, may be an agent, one that sends more is none', async () => {
  for (const [bytes, outcome] of [[16_384, 'closed'], [16_385, 'garbage']] as const) {
    const socket = new EmptySocket();
    const reader = new HandshakeReader(socket, 60_000);
    const reading = reader.read(20_000).catch((error: { code: string }) => error.code);
    for (const length of [10_000, bytes - 10_000]) socket.sink?.onData(Buffer.alloc(length));
    // What comes later does not change what it failed with.
    socket.sink?.onClose();
    expect([bytes, await reading]).toEqual([bytes, outcome]);
    reader.fail();
    socket.destroy();
  }
});

test('a handshake that is over, or has failed, leaves no timer', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
  try {
    const [finished, failed] = [new EmptySocket(), new EmptySocket()];
    new HandshakeReader(finished, 1000).finish();
    expect(jest.getTimerCount()).toBe(0);
    const reader = new HandshakeReader(failed, 1000);
    const reading = reader.read(1);
    failed.sink?.onData(Buffer.alloc(0));
    jest.advanceTimersByTime(999);
    expect(jest.getTimerCount()).toBe(1);
    jest.advanceTimersByTime(1);
    await expect(reading).rejects.toMatchObject({ code: 'timeout' });
    const other = new HandshakeReader(failed, 1000);
    other.fail();
    expect(failed.ended).toBe(true);
    // The timer that closes the connection at last.
    expect(jest.getTimerCount()).toBe(1);
    failed.destroy();
    expect(jest.getTimerCount()).toBe(0);
  } finally {
    jest.useRealTimers();
  }
});

test('what either side sends right after the handshake goes on to what reads next', async () => {
  const { agent, server } = await pair();
  const write = agent.write.bind(agent);
  let messages = 0;
  // Behind the proof, which is the second message.
  agent.write = (chunk) => write(++messages === 2 ? Buffer.concat([chunk, Buffer.from('to the server')]) : chunk);
  const proving = prove(agent);
  const offer = await accept(server);
  const rest = (socket: ByteSocket): Promise<string> =>
    new Promise((resolve) => {
      let seen = '';
      socket.attach({
        onData(chunk) {
          seen += chunk.toString();
        },
        onEnd: () => resolve(seen),
        onDrain() {},
        onClose() {},
      });
    });
  offer.accept({});
  server.write(Buffer.from('to the agent'));
  server.end();
  await proving;
  agent.end();
  expect([await rest(server), await rest(agent)]).toEqual(['to the server', 'to the agent']);
});

test.each([true, false])(
  'a refusal names the wait in any case, another way to connect only if the server has proven that it knows the key (%s)',
  async (proven) => {
    const { agent, server } = await pair();
    const proving = prove(agent).catch((error: unknown) => error);
    const offer = await accept(server, proven ? VKEY : 'a vkey nobody uses');
    const tls = { port: 8025, fingerprint: '0a'.repeat(32) };
    offer.refuse({ code: 'tls', text: 'only with TLS', retryAfterMs: 77, tls });
    expect(await proving).toMatchObject({ code: 'refused', refusal: { code: 'tls', text: 'only with TLS', retryAfterMs: 77, tls: proven ? tls : undefined } });
  },
);

test.each([
  ['of another version', Buffer.from('ADIT\u0009'), 'version'],
  ['that is none', Buffer.from('HTTP/1.1 400'), 'garbage'],
  ['that refuses without a word', Buffer.concat([Buffer.from('ADIT\u0001'), Buffer.alloc(32), Buffer.of(0, 0, 2), Buffer.from('{}')]), 'garbage'],
  ['that refuses in no JSON', Buffer.concat([Buffer.from('ADIT\u0001'), Buffer.alloc(32), Buffer.of(0, 0, 1), Buffer.from('{')]), 'garbage'],
  ['that says too much', Buffer.concat([Buffer.from('ADIT\u0001'), Buffer.alloc(32), Buffer.of(0, 0x10, 1)]), 'garbage'],
])('an agent that meets a server %s closes the connection', async (_, bytes, code) => {
  const socket = new EmptySocket();
  const proving = prove(socket);
  socket.sink?.onData(bytes);
  await expect(proving).rejects.toMatchObject({ code });
  expect(socket.ended).toBe(true);
  socket.destroy();
});

test('an agent waits for a server that says nothing as long as it should, and closes the connection then', async () => {
  const socket = new EmptySocket();
  await expect(prove(socket, VKEY, 20)).rejects.toMatchObject({ code: 'timeout', message: 'no handshake within 20 ms' });
  expect(socket.ended).toBe(true);
  socket.destroy();
});

test('an agent whose connection is lost, or is lost at the other side of TLS, learns that', async () => {
  const lost = new EmptySocket();
  const proving = prove(lost);
  lost.sink?.onClose(new Error('why'));
  await expect(proving).rejects.toMatchObject({ code: 'closed', message: 'the connection was lost during the handshake: why' });
  const secured = Object.assign(new EmptySocket(), { channelSecret: () => undefined });
  const securing = prove(secured);
  secured.sink?.onData(Buffer.concat([Buffer.from('ADIT\u0001'), Buffer.alloc(32)]));
  await expect(securing).rejects.toMatchObject({ code: 'closed' });
  for (const socket of [lost, secured]) socket.destroy();
});
