import { randomBytes } from 'node:crypto';
import { expect, jest, test } from '@jest/globals';
import pino from 'pino';
import { z } from 'zod';
import { AgentSession } from '../../src/engine/bridge/agent-session.ts';
import { Frame } from '../../src/wire/frames.ts';
import { keyIdOf, newSessionId, proveHandshake } from '../../src/wire/handshake.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import type { OverviewRow } from '../../src/wire/overview.ts';
import { EmptySocket } from '../support/empty-socket.ts';
import { eventually } from '../support/eventually.ts';
import { RawPeer } from '../support/raw-peer.ts';
import { roundTrip, startEcho, visit } from '../support/target.ts';
import { CLIENT, fresh, openTunnel, startAgent, startEngine } from '../support/tunnel.ts';

const OTHER = { ...CLIENT, id: 2, vkey: 'another-vkey' };
const both = { stored: { clients: [{ ...CLIENT, ...fresh }, { ...OTHER, ...fresh }] } };

/** Sends frames for ever, as fast as the server takes them, until the connection is gone. */
async function flood(peer: RawPeer, write: Parameters<RawPeer['frames']>[0]): Promise<void> {
  const gone = new AbortController();
  void peer.gone.then(() => gone.abort());
  while (!gone.signal.aborted) {
    if (peer.socket.pending < 1_000_000) peer.frames(write);
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}

test('a visitor program that opens streams and reads nothing is cut off with the reason in the log, and others are served meanwhile', async () => {
  const server = await startEngine(both);
  await startAgent(server, { vkey: OTHER.vkey });
  const echo = await openTunnel(server, { clientId: OTHER.id, targets: [(await startEcho()).address] });
  await openTunnel(server, { mode: 'secret', password: 'a secret of many words', targets: ['127.0.0.1:9'] });
  const other = await visit(echo.port);
  const peer = await RawPeer.connect(server, { role: 'visit', key: 'a secret of many words', info: { type: 'secret' }, reads: false });
  let id = 2;
  const over = new AbortController();
  const flooding = flood(peer, (batch) => {
    for (let i = 0; i < 5000; i++, id += 2) batch.frame(Frame.OPEN, id);
  }).then(() => over.abort());
  for (let round = 1; !over.signal.aborted; round++) expect(await roundTrip(other, `ping ${round}`)).toBe(`ping ${round}`);
  await flooding;
  expect((await server.log.line(/disconnected/))['reason']).toMatch(/does not read: \d+ bytes/);
});

test('an agent that opens a stream has broken the protocol', async () => {
  const server = await startEngine();
  const peer = await RawPeer.connect(server);
  peer.frames((batch) => batch.frame(Frame.OPEN, 2));
  expect((await server.log.line(/agent disconnected/))['reason']).toBe('protocol error: an agent opens no streams');
});

test('an agent that reconnects has no new budget for control messages', async () => {
  const server = await startEngine();
  const message = Buffer.alloc(1024, ' ').fill('{}', 0, 2);
  let sent = 0;
  const began = performance.now();
  const some: Parameters<RawPeer['frames']>[0] = (batch) => {
    for (let i = 0; i < 100; i++) batch.frame(Frame.CONTROL, 0, message);
    sent += 100;
  };
  // Each costs 2 KB: 10,000 are 20 of the 32 MB.
  const first = await RawPeer.connect(server);
  for (let round = 0; round < 100;) {
    if (first.socket.pending < 100_000) {
      first.frames(some);
      round++;
    }
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  first.socket.end();
  await first.gone;
  expect((await server.log.line(/agent disconnected/))['reason']).toBe('the peer closed the connection');
  sent = 0;
  await flood(await RawPeer.connect(server), some);
  // The rest of the budget, 2,000 messages for each second that has passed, and what was on its way; a new budget is 16,000.
  expect(sent).toBeLessThan(13_000 + 2 * (performance.now() - began));
});

test('connections that a visitor opens in one packet begin in several iterations', async () => {
  const server = await startEngine();
  const { id } = await openTunnel(server, { mode: 'secret', password: 'a secret of many words', targets: ['127.0.0.1:9'] });
  const peer = await RawPeer.connect(server, { role: 'visit', key: 'a secret of many words', info: { type: 'secret' } });
  const refused = (): number => server.engine.tunnelState(id)?.refusals.offline ?? 0;
  const seen: number[] = [];
  peer.frames((batch) => {
    for (let stream = 2; stream <= 6000; stream += 2) batch.frame(Frame.OPEN, stream);
  });
  while (refused() < 3000) {
    seen.push(refused());
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  // Of each iteration of the event loop only a few.
  expect(Math.max(...seen.slice(1).map((count, index) => count - (seen[index] ?? 0)))).toBeLessThanOrEqual(10);
});

/** An agent's session that is asked for overviews of so many rows. */
function overviews(rows: number) {
  class Slow extends EmptySocket {
    blocked = false;
    override write(chunk: Buffer, taken?: () => void): boolean {
      super.write(chunk, taken);
      return !this.blocked;
    }
  }
  const socket = new Slow();
  const made = { rows: 0 };
  const row: OverviewRow = {
    kind: 'tunnel',
    id: 1,
    type: 'tcp',
    host: '',
    port: 1,
    targets: [],
    running: true,
    error: '',
    connections: 0,
    visitors: { relay: 0, direct: 0 },
    health: null,
  };
  const session = new AgentSession({
    id: 'a',
    key: Buffer.alloc(32),
    clientId: 1,
    info: { version: '', localAddress: '', configFile: false, credit: true, answersPings: false },
    socket,
    log: pino({ level: 'silent' }),
    mux: { heartbeatMs: 60_000 },
    onDoubt: undefined,
    onTraffic: () => undefined,
    onHealth: () => undefined,
    records: undefined,
    onLeaving: () => undefined,
    onGone: () => undefined,
    *overview() {
      for (let i = 0; i < rows; i++) {
        made.rows++;
        yield row;
      }
    },
  });
  const ask = Buffer.from('{"type":"overview"}');
  const frame = Buffer.concat([Buffer.of(Frame.CONTROL, 0, 0, 0, 0, 0, 0, 0, ask.length), ask]);
  return { socket, session, made, ask: () => socket.sink?.onData(frame) };
}

test('an overview is made as the agent reads it, and not again before that', async () => {
  const { socket, session, made, ask } = overviews(20_000);
  socket.blocked = true;
  const now = performance.now.bind(performance);
  let later = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now() + later);
  for (; later < 5000; later += 1000) ask();
  clock.mockRestore();
  expect(made.rows).toBeLessThan(1000);
  socket.blocked = false;
  socket.sink?.onDrain();
  await eventually(() => made.rows, (count) => count === 20_000);
  session.close('shutdown');
});

test('requests for an overview soon after the last one are answered once, after a while', async () => {
  const { session, made, ask } = overviews(10);
  ask();
  expect(made.rows).toBe(10);
  // It is handed to the socket in the next iteration.
  for (let i = 0; i < 3; i++) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
  const began = performance.now();
  ask();
  ask();
  expect(made.rows).toBe(10);
  await eventually(() => made.rows, (count) => count > 10);
  expect(performance.now() - began).toBeGreaterThan(100);
  expect(made.rows).toBe(20);
  session.close('shutdown');
});

test('a visitor that goes to and fro between its paths does not fill the log', async () => {
  const server = await startEngine();
  const { password, id } = await openTunnel(server, { mode: 'p2p', password: 'a password of many words', targets: ['127.0.0.1:9'] });
  const visitor = await RawPeer.connect(server, { role: 'visit', key: password, info: { type: 'p2p' } });
  for (let i = 0; i < 1000; i++) visitor.control({ type: 'path', path: i % 2 === 0 ? 'direct' : 'relay' });
  visitor.control({ type: 'path', path: 'direct' });
  await eventually(() => server.engine.tunnelState(id)?.visitors[0]?.path, (path) => path === 'direct');
  visitor.socket.end();
  await server.log.line(/visitor disconnected/);
  expect(server.log.entries.filter(({ msg, level }) => level >= 30 && /another path/.test(msg)).length).toBeLessThanOrEqual(100);
});

test('a visitor that sends control messages that nobody knows stays connected', async () => {
  const server = await startEngine();
  const { password, id } = await openTunnel(server, { mode: 'p2p', password: 'a password of many words', targets: ['127.0.0.1:9'] });
  const visitor = await RawPeer.connect(server, { role: 'visit', key: password, info: { type: 'p2p' } });
  for (const unknown of [{ type: 'from another version' }, { type: 'path', path: 'sideways' }, 7, null]) visitor.control(unknown);
  visitor.control({ type: 'path', path: 'direct' });
  expect(await eventually(() => server.engine.tunnelState(id)?.visitors[0]?.path, (path) => path === 'direct')).toBe('direct');
  visitor.socket.end();
});

test('a data connection with the id of a session and another key, or of no session, is refused as an unknown key', async () => {
  const server = await startEngine();
  const { welcome } = await RawPeer.connect(server);
  const { sessionId } = z.object({ sessionId: z.string() }).parse(welcome);
  for (const keyId of [sessionId, newSessionId()]) {
    const socket = await netBackend.connect({ host: server.bridge.host, port: server.bridge.port, timeoutMs: 2000 });
    const refused = proveHandshake(socket, { timeoutMs: 5000, role: 'data', keyId, key: randomBytes(32), connection: 1, info: {} });
    await expect(refused).rejects.toMatchObject({ refusal: { code: 'unknown-key' } });
  }
});

test.each([['mux', CLIENT.vkey], ['visit', 'a secret of many words']] as const)(
  'who knows the id of a key, but not the key, is refused as %s',
  async (role, key) => {
    const server = await startEngine();
    await openTunnel(server, { mode: 'secret', password: 'a secret of many words', targets: ['127.0.0.1:9'] });
    const socket = await netBackend.connect({ host: server.bridge.host, port: server.bridge.port, timeoutMs: 2000 });
    const refused = proveHandshake(socket, { timeoutMs: 5000, role, keyId: keyIdOf(key), key: 'another', connection: 0, info: { type: 'secret' } });
    await expect(refused).rejects.toMatchObject({ refusal: { code: 'unknown-key' } });
  },
);
