import { afterEach, expect, jest, test } from '@jest/globals';
import { Standby } from '../../src/agent/standby.ts';
import { Frame } from '../../src/wire/frames.ts';
import { HandshakeError } from '../../src/wire/handshake-error.ts';
import { acceptHandshake, type Offer } from '../../src/wire/handshake.ts';
import { Mux } from '../../src/wire/mux.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import type { ByteSocket } from '../../src/wire/socket.ts';
import { eventually } from '../support/eventually.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { RawPeer } from '../support/raw-peer.ts';
import { CLIENT, startEngine, type TestEngine } from '../support/tunnel.ts';
import { deferred } from '../support/wire.ts';

const standbyOf = ({ engine }: TestEngine) => engine.records.clients.get(CLIENT.id)?.standby;
const placeOf = ({ bridge: { host, port, tls } }: TestEngine) => ({ host, port, tlsPort: tls.port });

/** The address of the agent's own server. */
const OWN = { host: '127.0.0.1', port: 1 };

const standbys: Standby[] = [];
afterEach(() => {
  for (const standby of standbys.splice(0)) standby.stop();
});

/** A session in reserve whose agent has a session with a server of the test's making. @param answers what that answers, one doubt after another */
function standbyBeside(answers: boolean[], answersPings = true, random = 0) {
  const asked: number[] = [];
  const givenUp: string[] = [];
  const log = new LogRecorder();
  const own = {
    answersPings,
    ended: new Promise<never>(() => undefined),
    answers: (ms: number) => {
      asked.push(ms);
      return Promise.resolve(answers[asked.length - 1] ?? true);
    },
    giveUp: (why: string) => givenUp.push(why),
  };
  const standby = new Standby({ sockets: netBackend, tls: undefined, vkey: CLIENT.vkey, log: log.logger, current: () => own, random: () => random });
  standbys.push(standby);
  return { standby, asked, givenUp };
}

/** A server of the test's making, which decides what becomes of each session in reserve. */
async function serverOf(onOffer: (accept: (onControl?: () => void, onClose?: () => void) => Mux, offer: Offer) => void) {
  const onSocket = async (socket: ByteSocket): Promise<void> => {
    const offer = await acceptHandshake(socket, { timeoutMs: 60_000, keyOf: () => CLIENT.vkey });
    onOffer((onControl = () => undefined, onClose = () => undefined) => {
      offer.accept({ sessionId: '0'.repeat(32), heartbeatMs: 60_000 });
      return new Mux(socket, 'server', { onOpen: (stream) => stream.reset(), onControl, onClose }, { heartbeatMs: 60_000 });
    }, offer);
  };
  const server = await netBackend.listen({ host: '127.0.0.1', port: 0, onError: () => undefined, onSocket: (socket) => void onSocket(socket) });
  return { others: { servers: [{ host: '127.0.0.1', port: server.port, tlsPort: 1 }], here: false }, close: () => server.close() };
}

test('an agent that is connected over TLS has its session in reserve at the TLS port, too', async () => {
  const server = await startEngine();
  const { port, fingerprint } = server.bridge.tls;
  const { logger: log } = new LogRecorder();
  const standby = new Standby({ sockets: netBackend, tls: { fingerprint }, vkey: CLIENT.vkey, log, current: () => undefined, random: () => 0 });
  standbys.push(standby);
  standby.use({ servers: [placeOf(server)], here: false }, OWN);
  expect(await eventually(() => standby.place, (place) => place !== undefined)).toBe(`${server.bridge.host}:${port}`);
});

test('the own server is left when it does not answer although the one in reserve does, and kept when it answers', async () => {
  const server = await startEngine();
  const { standby, asked, givenUp } = standbyBeside([true, false]);
  standby.use({ servers: [placeOf(server)], here: false }, OWN);
  await eventually(() => standbyOf(server), (session) => session !== undefined);
  for (const times of [1, 2]) {
    // While it asks, another doubt changes nothing.
    await eventually(() => {
      standbyOf(server)?.doubt();
      return asked.length;
    }, (count) => count === times);
  }
  await eventually(() => givenUp, (reasons) => reasons.length > 0);
  expect([asked, givenUp]).toEqual([[500, 500], ['it did not answer within 500 ms']]);
  standby.stop();
  await eventually(() => server.engine.counts.standbys, (count) => count === 0);
});

test('the waits before the next session: short while the own server answers at its address, but not for ever; long when another agent has taken it over', async () => {
  const random = 0.001_23;
  const timers = jest.spyOn(globalThis, 'setTimeout');
  let count = 0;
  const server = await serverOf((accept, offer) => {
    count++;
    if (count < 32 || count === 33) offer.refuse({ code: 'same-server', text: 'x' });
    else accept().close('over', { type: 'bye', code: count === 32 ? 'replaced' : 'shutdown', text: 'x' });
  });
  const { standby } = standbyBeside([], true, random);
  standby.use(server.others, OWN);
  await eventually(() => count, (now) => now >= 35);
  const waits = timers.mock.calls.map(([, ms]) => (ms ?? 0) / random).filter((bound) =>
    Math.abs(bound - Math.round(bound)) < 1e-6 && bound > 0 && bound < 40_000
  );
  timers.mockRestore();
  expect(waits.map(Math.round).slice(0, 35)).toEqual([1000, ...Array(30).fill(100), 500, 30_000, 100, 2000]);
  standby.stop();
  await server.close();
});

test('a session that was being opened when it was stopped ends at once', async () => {
  const held = deferred<void>();
  const [offered, over] = [deferred<void>(), deferred<void>()];
  const server = await serverOf(async (accept) => {
    offered.resolve();
    await held.promise;
    accept(undefined, over.resolve);
  });
  const { standby } = standbyBeside([]);
  standby.use(server.others, OWN);
  await offered.promise;
  standby.stop();
  held.resolve();
  await over.promise;
  expect(standby.place).toBeUndefined();
  await server.close();
});

test('while none of the two servers answers, it is the agent that is cut off: it asks both until one does', async () => {
  let pings = 0;
  const server = await serverOf((accept) => {
    const mux: Mux = accept(() => {
      if (++pings > 1) mux.sendControl({ type: 'pong' });
    });
    mux.sendControl({ type: 'doubt' });
  });
  const { standby, asked, givenUp } = standbyBeside(Array(1000).fill(false));
  standby.use(server.others, OWN);
  await eventually(() => givenUp.length, (count) => count > 0);
  expect([givenUp.length, pings]).toEqual([1, asked.length]);
  expect(pings).toBeGreaterThan(1);
  await server.close();
});

test('a server of version 0.1 answers no pings: it is not asked', async () => {
  const [old, server] = [standbyBeside([], false), await startEngine()];
  old.standby.use({ servers: [placeOf(server)], here: false }, OWN);
  await eventually(() => standbyOf(server), (session) => session !== undefined);
  standbyOf(server)?.doubt();
  // What ends the session comes behind the doubt.
  await server.engine.apply({ kind: 'client', client: { ...CLIENT, enabled: false } });
  await eventually(() => old.standby.place, (place) => place === undefined);
  expect(old.asked).toEqual([]);
  old.standby.stop();
});

test('it goes to another server when its own is not among the others any more, or is gone', async () => {
  const [first, second] = [await startEngine(), await startEngine()];
  const { standby } = standbyBeside([]);
  standby.use({ servers: [placeOf(first)], here: false }, OWN);
  await eventually(() => standby.place, (place) => place !== undefined);
  standby.use({ servers: [placeOf(second)], here: false }, OWN);
  await eventually(() => [first, second].map(({ engine }) => engine.counts.standbys), ([one, other]) => one === 0 && other === 1);
  standby.use({ servers: [placeOf(first), placeOf(second)], here: false }, OWN);
  await second.engine.close();
  await eventually(() => standby.place, (place) => place === `127.0.0.1:${first.bridge.port}`);
  expect(first.engine.counts.standbys).toBe(1);
  standby.stop();
});

test('a server takes one session in reserve of an agent that may connect, which opens nothing', async () => {
  const server = await startEngine();
  const first = await RawPeer.connect(server, { role: 'standby' });
  await eventually(() => server.engine.counts.standbys, (count) => count === 1);
  const second = await RawPeer.connect(server, { role: 'standby' });
  await first.gone;
  expect(server.engine.counts).toMatchObject({ standbys: 1, sessions: 0 });
  const { read } = second;
  second.control({ type: 'ping' });
  await eventually(() => second.read, (bytes) => bytes > read);
  second.frames((batch) => batch.frame(Frame.OPEN, 2, Buffer.alloc(0)));
  await second.gone;
  // As after any other violation of the protocol.
  await expect(RawPeer.connect(server, { role: 'standby' })).rejects.toThrow('its sessions begin too often');
  await expect(RawPeer.connect(server, { role: 'standby', key: 'another key' })).rejects.toThrow(HandshakeError);
  expect(server.engine.counts.standbys).toBe(0);
});
