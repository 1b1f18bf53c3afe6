import { afterEach, describe, expect, test } from '@jest/globals';
import { acceptHandshake, keyIdOf, proveHandshake, type Offer } from '../../src/wire/handshake.ts';
import type { ByteSocket } from '../../src/wire/socket.ts';
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
    agent.attach({
      onData() {},
      onEnd() {
        agent.end();
      },
      onDrain() {},
      onClose: () => closed.resolve(),
    });
    agent.write(bytes);
    await expect(accept(server)).rejects.toMatchObject({ code });
    await closed.promise;
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
    await expect(accept(server, VKEY, 50)).rejects.toMatchObject({ code: 'timeout' });
    await closed.promise;
  });

  test('a connection that ends', async () => {
    const { agent, server } = await pair();
    agent.write(Buffer.from('ADI'));
    agent.end();
    await expect(accept(server)).rejects.toMatchObject({ code: 'closed' });
  });
});
