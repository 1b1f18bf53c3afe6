import { expect, jest, test } from '@jest/globals';
import type { BridgeOptions } from '../../src/engine/bridge/bridge.ts';
import { LinkKeys } from '../../src/engine/bridge/link-keys.ts';
import type { VisitedTunnel, VisitorSession } from '../../src/engine/bridge/visitor-session.ts';
import { HandshakeQueue } from '../../src/engine/limits/handshake-queue.ts';
import { Attempts } from '../../src/rules/attempts.ts';
import { keyIdOf } from '../../src/wire/handshake.ts';
import type { OtherServers } from '../../src/wire/other-servers.ts';
import { sessionWelcome } from '../../src/wire/session-messages.ts';
import { socketPair } from '../../src/wire/socket-pair.ts';
import { startBridge } from '../support/bridge.ts';
import { EmptySocket } from '../support/empty-socket.ts';
import { eventually } from '../support/eventually.ts';

const tunnel: VisitedTunnel = {
  id: 9,
  client: { online: true, crypt: false, compress: false },
  password: 'word',
  refusal: () => undefined,
  enter: () => undefined,
  leave: () => undefined,
  moved: () => undefined,
  tooMany: () => undefined,
  onVisitor: (socket) => socket.destroy(),
  onDirect: (socket) => socket.destroy(),
};
const visited: BridgeOptions['visited'] = (keyId) => keyId === keyIdOf('word') ? tunnel : undefined;

/** The other servers of an installation, whose secret is "secret". */
function among(others: OtherServers = { servers: [], here: false }): Pick<BridgeOptions, 'nodes'> {
  const nodes = {
    name: 'own',
    keys: new LinkKeys('secret'),
    linkKind: 'tls',
    others,
    doubt: () => undefined,
    onNode: () => undefined,
    onStream: () => undefined,
    onMessage: () => undefined,
  } as const;
  return { nodes: () => nodes };
}

const node = { secure: true, info: { name: 'other', version: '1', host: 'other', port: 1, bridgePort: 2 } };

/** One of each kind of session. */
async function oneOfEach(given: Partial<BridgeOptions> = {}) {
  const started = await startBridge({ visited, ...among(), ...given });
  const { addClient, connect } = started;
  for (const id of [1, 2]) await addClient(id);
  const peers = {
    agent: await connect('mux', 'key 1'),
    standby: await connect('standby', 'key 2'),
    visitor: await connect('visit', 'word', { info: { type: 'secret' } }),
    node: await connect('node', 'secret', node),
  };
  /** What each of them has heard. */
  const heard = () => Object.entries(peers).map(([name, { heard }]) => [name, heard.splice(0)]);
  return { ...started, peers, heard };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
}

test('complete handshakes are processed in round-robin order: those of sessions by address, those of data connections by session', async () => {
  const { addClient, connect } = await startBridge();
  await addClient(1);
  const next = jest.spyOn(HandshakeQueue.prototype, 'next');
  const { body, sessionKey } = await connect('mux', 'key 1', { address: '192.0.2.7' });
  const { sessionId } = sessionWelcome.parse(body);
  await connect('data', sessionKey, { address: '192.0.2.8', keyId: sessionId });
  expect(next.mock.calls).toEqual([['session', '192.0.2.7'], ['data', sessionId]]);
  next.mockRestore();
});

test('a handshake that fails by a defect ends its connection, and is in the log; one that is cut off at the end of the server is not', async () => {
  const attempts = new Attempts();
  const { bridge, log, comes, addClient, connect } = await startBridge({ attempts });
  await addClient(1);
  const penalty = jest.spyOn(attempts, 'queueKey').mockImplementationOnce(() => {
    throw new Error('a defect');
  });
  await expect(connect('mux', 'key 1', { address: '192.0.2.7' })).rejects.toMatchObject({ code: 'closed' });
  expect(log.entries).toEqual([expect.objectContaining({ level: 50, address: '192.0.2.7', msg: 'a handshake failed unexpectedly' })]);
  expect(bridge.counts).toMatchObject({ handshakes: 0, garbage: 0 });

  penalty.mockReturnValue(60_000);
  const waiting = connect('mux', 'key 1');
  const [silent, far] = socketPair({ remoteAddress: '192.0.2.9', remotePort: 9 });
  const cut = new Promise<void>((resolve) =>
    silent.attach({ onData: () => undefined, onEnd: () => undefined, onDrain: () => undefined, onClose: () => resolve() })
  );
  comes(far);
  await eventually(() => penalty.mock.calls.length, (calls) => calls === 2);
  await Promise.all([bridge.close(), expect(waiting).rejects.toMatchObject({ code: 'closed' })]);
  await cut;
  const late = new EmptySocket();
  comes(late);
  await turns();
  expect([late.destroyed, late.received]).toEqual([true, '']);
  expect([log.entries.length, bridge.counts.garbage]).toEqual([1, 0]);
});

test('a message of a later version ends no session of any kind', async () => {
  const { bridge, log, peers, heard } = await oneOfEach();
  const [counts, before] = [bridge.counts, log.entries.length];
  for (const { mux } of Object.values(peers)) mux.sendControl({ type: 'of the next version' });
  await eventually(() => log.entries.length, (count) => count === before + 4);
  const unknown = (who: string) => `20 the ${who} sent a ${who === 'node' ? 'message' : 'control message'} that this server does not know`;
  expect(new Set(log.entries.slice(before).map(({ level, msg }) => `${level} ${msg}`))).toEqual(new Set(['agent', 'visitor', 'node'].map(unknown)));
  await turns();
  expect([bridge.counts, heard()]).toEqual([counts, Object.keys(peers).map((name) => [name, []])]);
});

test('an agent that another one replaces learns from where that one came, and the log has both addresses', async () => {
  const { log, addClient, connect } = await startBridge();
  await addClient(1);
  const first = await connect('mux', 'key 1', { address: '192.0.2.7' });
  await connect('mux', 'key 1', { address: '192.0.2.8' });
  await first.over;
  expect(first.heard).toEqual([{ type: 'bye', code: 'replaced', text: 'another agent connected with the same vkey from 192.0.2.8' }]);
  expect(await log.line(/replaces the first/)).toMatchObject({ clientId: 1, was: '192.0.2.7:7', now: '192.0.2.8:7' });
});

test('all sessions of a client share what its agent may send', async () => {
  const { log, addClient, connect } = await startBridge();
  for (const [id, role] of [[1, 'standby'], [2, 'mux']] as const) {
    jest.spyOn((await addClient(id)).controlBudget, 'take').mockReturnValue(false);
    const { mux, over } = await connect(role, `key ${id}`);
    mux.sendControl({ type: 'news' });
    mux.sendControl({ type: 'bye', code: 'stopped', text: '' });
    await over;
  }
  expect(log.entries.flatMap(({ reason }) => reason ?? [])).toEqual(Array(2).fill('protocol error: more control messages than a session may send'));
});

test('each kind of session has its own signs of life', async () => {
  const beats = jest.spyOn(globalThis, 'setInterval');
  await oneOfEach({ timing: { heartbeatMs: 7000 } });
  // Twice per heartbeat; the other ends, which are the test's, have 60 s.
  expect(beats.mock.calls.map(([, ms]) => ms).filter((ms) => ms !== 30_000)).toEqual([3500, 7500, 3500, 250]);
  beats.mockRestore();
});

test('of a server that is leaving, agents and visitors are notified once, those in reserve go, and other nodes stay', async () => {
  const { bridge, addClient, connect, peers, heard } = await oneOfEach();
  bridge.leave(true);
  await peers.standby.over;
  await turns();
  expect(heard()).toEqual([
    ['agent', [{ type: 'drain' }]],
    ['standby', [{ type: 'bye', code: 'shutdown', text: 'the server is shutting down' }]],
    ['visitor', [{ type: 'drain' }]],
    ['node', []],
  ]);
  await addClient(3);
  const shutdown = { refusal: { code: 'shutdown' } };
  await expect(connect('mux', 'key 3')).rejects.toMatchObject(shutdown);
  await connect('node', 'secret', node);
  bridge.leave(false);
  await connect('mux', 'key 3');
  bridge.leave(true);
  bridge.drain();
  await expect(connect('node', 'secret', node)).rejects.toMatchObject(shutdown);
  await turns();
  expect(heard()).toEqual([['agent', [{ type: 'drain' }]], ['standby', []], ['visitor', [{ type: 'drain' }]], ['node', []]]);
});

test('at its end the server says so in every session', async () => {
  const { bridge, peers, heard } = await oneOfEach();
  await bridge.close();
  await Promise.all(Object.values(peers).map(({ over }) => over));
  const bye = { type: 'bye', code: 'shutdown', text: 'the server is shutting down' };
  expect(heard()).toEqual(['agent', 'standby', 'visitor', 'node'].map((name) => [name, [bye]]));
  expect(bridge.counts).toMatchObject({ sessions: 0, visits: 0, standbys: 0 });
});

test('agents and visitors are notified of other servers when they connect, if there are any, and of changes', async () => {
  const others = { servers: [{ host: 'b.example', port: 1, tlsPort: 2 }], here: false };
  const { bridge, heard } = await oneOfEach(among(others));
  bridge.tellServers({ servers: [], here: true });
  await turns();
  const notified = [{ type: 'servers', ...others }, { type: 'servers', servers: [], here: true }];
  expect(heard()).toEqual([['agent', notified], ['standby', []], ['visitor', notified], ['node', []]]);
  const alone = await oneOfEach();
  await turns();
  expect(alone.heard()).toEqual(['agent', 'standby', 'visitor', 'node'].map((name) => [name, []]));
});

test('an agent that says that it ends counts as connected until it does, unless its server is leaving; its session in reserve ends where it connects', async () => {
  const seen: unknown[] = [];
  const { bridge, addClient, connect } = await startBridge({ onSeen: ({ session, ended }) => seen.push([session !== undefined, ended]) });
  const entry = await addClient(1);
  const standby = await connect('standby', 'key 1');
  const stopping = await connect('mux', 'key 1');
  await standby.over;
  expect([standby.heard, entry.standby, seen.splice(0)]).toEqual([[expect.objectContaining({ code: 'same-server' })], undefined, [[true, false]]]);
  stopping.mux.sendControl({ type: 'drain' });
  await eventually(() => entry.session?.leaving, (leaving) => leaving === true);
  expect(seen).toEqual([]);
  stopping.mux.close('', { type: 'bye', code: 'stopped', text: 'x' });
  await eventually(() => seen.splice(0), (all) => all.length > 0);
  expect([entry.session, entry.ended]).toEqual([undefined, true]);

  const moving = await connect('mux', 'key 1');
  bridge.leave(true);
  moving.mux.sendControl({ type: 'drain' });
  await eventually(() => entry.session, (session) => session === undefined);
  moving.mux.close('', { type: 'bye', code: 'stopped', text: 'x' });
  await eventually(() => bridge.counts.sessions, (count) => count === 0);
  expect(seen).toEqual([[true, true], [false, false]]);
  expect(entry.history.sessions.map(({ end }) => end)).toEqual(['moved', 'agentStopped']);
});

test('a session in reserve waits behind no guesses at the address of its client, goes when the next one comes, and may open no stream', async () => {
  const attempts = new Attempts();
  const queued = jest.spyOn(attempts, 'queueKey');
  const { addClient, connect } = await startBridge({ attempts });
  const entry = await addClient(1);
  entry.lastAddress = '192.0.2.9';
  const first = await connect('standby', 'key 1');
  const second = await connect('standby', 'key 1');
  await first.over;
  expect([first.heard, entry.standby === undefined]).toEqual([[expect.objectContaining({ code: 'replaced' })], false]);
  expect(queued.mock.calls.map(([, , offered]) => offered)).toEqual(Array.from({ length: 2 }, () => ({ lastSeenAt: '192.0.2.9' })));
  second.mux.open(Buffer.alloc(1));
  await second.over;
  expect(entry.standby).toBeUndefined();
  for (const role of ['standby', 'mux'] as const) await expect(connect(role, 'key 1')).rejects.toMatchObject({ refusal: { code: 'too-often' } });
});

test('what an agent declares counts for its client, from its address; the session of a visitor begins as its client and its tunnel say', async () => {
  const opened: unknown[] = [];
  const records = { declare: async () => outcome, withdraw: async () => outcome, close: () => undefined };
  const outcome = { id: 1, port: 0, error: '' };
  const sessions: VisitorSession[] = [];
  const compressing = { ...tunnel, client: { ...tunnel.client, compress: true }, enter: (session: VisitorSession) => void sessions.push(session) };
  const { addClient, connect } = await startBridge({
    visited: () => compressing,
    declarations: () => ({
      open: (...from) => {
        opened.push(from);
        return records;
      },
    }),
  });
  await addClient(1, { configAllowed: true });
  await connect('mux', 'key 1', { address: '192.0.2.7', info: { configFile: true } });
  await connect('mux', 'key 1', { address: '192.0.2.8' });
  expect(opened).toEqual([[1, '192.0.2.7']]);
  const { heard } = await connect('visit', 'word', { info: { type: 'secret' } });
  for (const on of [true, false]) for (const session of sessions) session.compress(on);
  await turns();
  expect([sessions.map(({ since }) => since), heard]).toEqual([[1_000_000], [{ type: 'compress', on: false }]]);
});
