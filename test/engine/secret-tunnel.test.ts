import { expect, test } from '@jest/globals';
import { Frame } from '../../src/wire/frames.ts';
import { ASK_DIRECT } from '../../src/wire/visit-messages.ts';
import { eventually } from '../support/eventually.ts';
import { hashOf, receive, sendPayload } from '../support/payload.ts';
import { RawPeer } from '../support/raw-peer.ts';
import { closed, readAll, roundTrip, startEcho, startTarget, visit, visitUntilClosed } from '../support/target.ts';
import { CLIENT, openTunnel, startAgent, startEngine, type TestEngine } from '../support/tunnel.ts';
import { launchVisitor, startVisitor } from '../support/visitor.ts';

const password = 'a password of many words';
const MB = 1024 * 1024;

/** A server, its agent, a secret tunnel to `target`, and a visitor. */
async function visiting(target: { readonly address: string }) {
  const server = await startEngine();
  const agent = await startAgent(server);
  const tunnel = await openTunnel(server, { mode: 'secret', password, targets: [target.address] });
  return { server, agent, tunnel, visitor: await startVisitor(server, { password }) };
}

test('a visitor reaches the target through a port of its own; both ways are counted, and the server opened no port', async () => {
  const { server, tunnel, visitor } = await visiting(await startEcho());
  expect(tunnel.port).toBe(0);
  const socket = await visit(visitor.port);
  expect(await roundTrip(socket, 'hello')).toBe('hello');
  expect(server.engine.tunnelState(tunnel.id)).toMatchObject({
    running: true,
    error: '',
    connections: 1,
    inletBytes: 5,
    exportBytes: 5,
    visitors: [{ address: '127.0.0.1' }],
  });
  expect(server.engine.clientState(CLIENT.id)).toMatchObject({ connections: 1, inletBytes: 5, exportBytes: 5 });
  socket.end();
  await closed(socket);
  await eventually(() => server.engine.tunnelState(tunnel.id)?.connections, (open) => open === 0);
});

test('either side may end first and still read the answer', async () => {
  const target = await startTarget(async (socket) => {
    const asked = await readAll(socket);
    socket.end(`got ${asked.toString()}`);
  });
  const { visitor } = await visiting(target);
  const socket = await visit(visitor.port);
  socket.end('question');
  expect((await readAll(socket)).toString()).toBe('got question');

  const farewell = await startTarget((socket) => socket.end('bye'));
  const second = await visiting(farewell);
  const accepted = farewell.accepted();
  const late = await visit(second.visitor.port);
  expect((await readAll(late)).toString()).toBe('bye');
  late.end('late words');
  expect((await readAll(await accepted)).toString()).toBe('late words');
});

test.each([[1], [65_537], [600_000], [8 * MB]])('%i bytes arrive as they were sent, both ways', async (bytes) => {
  const target = await startTarget((socket) => void sendPayload(socket, bytes, 5));
  const { visitor } = await visiting(target);
  const accepted = target.accepted();
  const socket = await visit(visitor.port);
  const [up, down] = await Promise.all([receive(await accepted), receive(socket), sendPayload(socket, bytes, 6)]);
  expect(down).toEqual({ bytes, hash: hashOf(bytes, 5) });
  expect(up).toEqual({ bytes, hash: hashOf(bytes, 6) });
});

test('a reader that stops holds the sender back, and loses nothing when it goes on', async () => {
  const offered = 64 * MB;
  const target = await startTarget((socket) => void sendPayload(socket, offered, 3));
  const { visitor } = await visiting(target);
  const socket = await visit(visitor.port);
  socket.pause();
  let last = -1;
  let since = performance.now();
  await eventually(() => target.connections[0]?.bytesWritten ?? 0, (now) => {
    if (now !== last) since = performance.now();
    last = now;
    return now > 0 && performance.now() - since > 200;
  });
  expect(last).toBeLessThan(offered * 0.75);
  expect(await receive(socket)).toEqual({ bytes: offered, hash: hashOf(offered, 3) });
});

test('a wrong password is refused with growing delays; the right one still gets in', async () => {
  const server = await startEngine();
  await openTunnel(server, { mode: 'secret', password, targets: ['127.0.0.1:9'] });
  const wrong = await launchVisitor(server, { password: 'guessed', random: () => 0 });
  expect((await wrong.log.line(/^refused by/)).msg).toMatch(/refused by .*: no tunnel has this password; trying again/);
  const times: number[] = [];
  for (let attempt = 0; attempt < 6; attempt++) {
    await wrong.log.next(/^refused by/);
    times.push(performance.now());
  }
  const waits = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  expect(waits.at(-1)).toBeGreaterThan(400);
  expect(server.engine.counts.refused).toBeGreaterThanOrEqual(7);
  expect(server.log.entries.filter(({ msg }) => /a visitor offered a password that no tunnel has/.test(msg)).length).toBeGreaterThanOrEqual(7);
  await wrong.visitor.stop();
  await startVisitor(server, { password });
});

test('neither a vkey nor a password that another tunnel type has opens it', async () => {
  const server = await startEngine();
  await openTunnel(server, { mode: 'tcp', password, targets: ['127.0.0.1:9'] });
  for (const key of [CLIENT.vkey, password]) {
    const { log } = await launchVisitor(server, { password: key });
    expect((await log.line(/^refused by/)).msg).toMatch(/no tunnel has this password/);
  }
});

test('a visitor of the wrong type gets an error', async () => {
  const server = await startEngine();
  await openTunnel(server, { mode: 'secret', password, targets: ['127.0.0.1:9'] });
  const { log } = await launchVisitor(server, { password, type: 'p2p' });
  expect((await log.line(/^refused by/)).msg).toMatch(/the tunnel is of type secret: visit it with --type secret/);
});

type Change = (server: TestEngine, tunnel: Awaited<ReturnType<typeof openTunnel>>) => Promise<void>;
const changes: [string, string, Change][] = [
  ['the tunnel is stopped', 'the tunnel is stopped', ({ engine }, tunnel) => engine.apply({ kind: 'tunnel', tunnel: { ...tunnel, enabled: false } })],
  ['the tunnel is deleted', 'the tunnel is stopped', ({ engine }, { id }) => engine.apply({ kind: 'tunnelRemoved', id })],
  ['the password changes', 'the password or the type', ({ engine }, tunnel) => engine.apply({ kind: 'tunnel', tunnel: { ...tunnel, password: 'another' } })],
  ['the client is disabled', 'the client is disabled', ({ engine }) => engine.apply({ kind: 'client', client: { ...CLIENT, enabled: false } })],
];

test.each(changes)('when %s the visitor is cut off with the reason, and its connections with it', async (_, reason, change) => {
  const { server, tunnel, visitor } = await visiting(await startEcho());
  const socket = await visit(visitor.port);
  await roundTrip(socket, 'x');
  const lost = visitor.log.next(/^connection to .* lost/);
  await change(server, tunnel);
  await closed(socket);
  expect((await lost).msg).toContain(`lost: ${reason}`);
  await eventually(() => server.engine.counts.visits, (open) => open === 0);
});

test('a visitor that asks for a direct path, which such a tunnel does not have, is refused and stays', async () => {
  const server = await startEngine();
  const tunnel = await openTunnel(server, { mode: 'secret', password, targets: ['127.0.0.1:9'] });
  const peer = await RawPeer.connect(server, { role: 'visit', key: password, info: { type: 'secret' } });
  const before = peer.read;
  peer.frames((batch) => batch.frame(Frame.OPEN, 2, ASK_DIRECT));
  await eventually(() => peer.read, (read) => read > before);
  expect(server.engine.tunnelState(tunnel.id)?.visitors).toHaveLength(1);
});

test('another target holds from the next connection on, and the visitor stays', async () => {
  const { server, tunnel, visitor } = await visiting(await startEcho());
  const socket = await visit(visitor.port);
  await roundTrip(socket, 'x');
  const other = await startTarget((socket) => socket.end('other'));
  await server.engine.apply({ kind: 'tunnel', tunnel: { ...tunnel, targets: [other.address] } });
  expect((await readAll(await visit(visitor.port))).toString()).toBe('other');
  expect(await roundTrip(socket, 'still')).toBe('still');
  expect(visitor.log.entries.filter(({ msg }) => msg.startsWith('connected to'))).toHaveLength(1);
});

test('the visitor reports when the agent disconnects and reconnects, and refuses connections meanwhile', async () => {
  const { server, agent, visitor } = await visiting(await startEcho());
  const gone = visitor.log.next(/^the agent is not connected/);
  await agent.agent.stop();
  await gone;
  await visitUntilClosed(visitor.port);
  const back = visitor.log.next(/^the agent is connected again/);
  await startAgent(server);
  await back;
  expect(await roundTrip(await visit(visitor.port), 'back')).toBe('back');
});

test('a visitor that is stopped leaves no session behind', async () => {
  const { server, visitor } = await visiting(await startEcho());
  await visitor.visitor.stop();
  await eventually(() => server.engine.counts, ({ visits, sessions }) => visits === 0 && sessions === 1);
  expect((await server.log.line(/visitor disconnected/))['reason']).toBe('the visitor says: the visitor was stopped');
});

test('the access lists of the client apply to each connection', async () => {
  const { server, visitor } = await visiting(await startEcho());
  await server.engine.apply({ kind: 'client', client: { ...CLIENT, blackIpList: '127.0.0.1' } });
  await visitUntilClosed(visitor.port);
  await server.engine.apply({ kind: 'client', client: CLIENT });
  expect(await roundTrip(await visit(visitor.port), 'in')).toBe('in');
});

test('a visitor of a client that is served over TLS only comes over TLS, also when that is switched on meanwhile', async () => {
  const { server, agent, visitor } = await visiting(await startEcho());
  const again = visitor.log.next(/^connected to .* as visitor of tunnel \d+ over TLS/);
  const agentAgain = agent.log.next(/^connected to .* over TLS/);
  await server.engine.apply({ kind: 'client', client: { ...CLIENT, crypt: true } });
  await Promise.all([again, agentAgain]);
  expect(await roundTrip(await visit(visitor.port), 'hidden')).toBe('hidden');
});

test('a tunnel without a password does not run, and reports the reason, also when the password is removed while it runs', async () => {
  const server = await startEngine();
  const none = { running: false, error: 'it has no password, so visitors cannot connect' };
  const tunnel = await openTunnel(server, { mode: 'secret', targets: ['127.0.0.1:9'] });
  expect(server.engine.tunnelState(tunnel.id)).toMatchObject(none);
  for (const [password, state] of [['secret', { running: true, error: '' }], ['', none]] as const) {
    await server.engine.apply({ kind: 'tunnel', tunnel: { ...tunnel, password } });
    expect({ password, ...server.engine.tunnelState(tunnel.id) }).toMatchObject({ password, ...state });
  }
});
