import { afterEach, expect, jest, test } from '@jest/globals';
import { type CheckedEntry, HealthChecks } from '../../src/agent/health/health-checks.ts';
import { Link } from '../../src/agent/link.ts';
import { AgentSession } from '../../src/engine/bridge/agent-session.ts';
import type { EngineEvent, HealthState } from '../../src/engine/face.ts';
import { FileServer } from '../../src/stream-handlers/files/file-server.ts';
import { Frame } from '../../src/wire/frames.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import { ASK_DIRECT } from '../../src/wire/visit-messages.ts';
import { declaredHostOf, declaredTunnelOf } from '../support/declared-entries.ts';
import { eventually } from '../support/eventually.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { RawPeer } from '../support/raw-peer.ts';
import { type Service, startService } from '../support/service.ts';
import { readAll, visit, visitUntilClosed } from '../support/target.ts';
import { CLIENT, fresh, openTunnel, startEngine, type TestEngine } from '../support/tunnel.ts';
import { hostOf } from '../support/vhost.ts';

const otherKey = 'the-other-vkey';
const stops: Array<() => unknown> = [];
afterEach(async () => {
  for (const stop of stops.splice(0).toReversed()) await stop();
});

const quick = { type: 'tcp', intervalMs: 50, timeoutMs: 1500, maxFailed: 2, path: '' } as const;
const web = { ...quick, type: 'http', path: '/healthz?full=1' } as const;

const declared = { tunnel: declaredTunnelOf({ targets: [] }), host: declaredHostOf({ host: 'site.test', targets: [] }) };

/** A server whose agents may bring along what is there already: an entry's name is the id of its record. */
async function startServer(): Promise<TestEngine> {
  const own = { ...CLIENT, ...fresh, configAllowed: true };
  const server = await startEngine({ stored: { clients: [own, { ...own, id: 2, vkey: otherKey }] } });
  const gone = { id: 0, port: 0, error: '' };
  server.engine.keepDeclared({
    open: () => ({ declare: async ({ name }) => ({ ...gone, id: Number(name) }), withdraw: async () => gone, close: () => undefined }),
  });
  return server;
}

/** An agent's session, and the checks that go on when it is lost. */
async function connect({ bridge }: TestEngine, vkey = CLIENT.vkey, brought: ReadonlyArray<readonly ['tunnel' | 'host', number]> = []) {
  const log = new LogRecorder();
  const files = new FileServer([], log.logger);
  let answers = 0;
  const link = await Link.open({
    server: bridge,
    vkey,
    info: { version: '1', localAddress: '', configFile: true, credit: true, answersPings: false },
    sockets: netBackend,
    log: log.logger,
    files,
    onDeclared: () => answers++,
    onOverview: () => undefined,
    onServers: () => undefined,
    onDrain: () => undefined,
    dataAfterMs: 0,
  });
  stops.push(() => link.close(0), () => files.close());
  for (const [kind, id] of brought) {
    const name = String(id);
    link.send(
      kind === 'tunnel'
        ? { type: kind, name, tunnel: { ...declared.tunnel, targets: [] } }
        : { type: kind, name, host: { ...declared.host, targets: [], headers: [] } },
    );
  }
  await eventually(() => answers, (count) => count === brought.length);
  return link;
}

function startChecks(...entries: CheckedEntry[]) {
  const log = new LogRecorder();
  const checks = new HealthChecks({ log: log.logger });
  stops.push(() => checks.stop());
  checks.set(entries);
  return { checks, log };
}

/** Waits until the tunnel or host of this kind shows a health that is as it should be. */
async function shown({ engine }: TestEngine, kind: 'tunnel' | 'host', id: number, right: (health: HealthState | null) => boolean): Promise<HealthState | null> {
  const state = () => (kind === 'tunnel' ? engine.tunnelState(id) : engine.hostState(id))?.health ?? null;
  return eventually(state, right);
}

const outOf = (health: HealthState | null) => health?.targets.filter(({ healthy }) => !healthy).map(({ target }) => target) ?? [];

async function answers(port: number, count: number): Promise<string[]> {
  const bodies: string[] = [];
  for (let index = 0; index < count; index++) {
    const socket = await visit(port);
    socket.write('GET /visit HTTP/1.0\r\nHost: site.test\r\n\r\n');
    bodies.push((await readAll(socket)).toString().split('\r\n\r\n')[1] ?? '');
  }
  return bodies;
}

const visits = (service: Service) => service.requests.filter((url) => url === '/visit').length;

/** A server with a tunnel and a host to the same two services, one of them checked by its agent. */
async function startWorld(how: CheckedEntry['health']) {
  const server = await startServer();
  const [a, b] = [await startService('a'), await startService('b')];
  const targets = [a.address, b.address];
  const tunnel = await openTunnel(server, { targets });
  const host = hostOf({ host: 'site.test', targets });
  await server.engine.apply({ kind: 'host', host });
  const { httpPort } = await server.engine.listenHosts({ host: '127.0.0.1', httpPort: 0, httpsPort: 0 });
  const events: EngineEvent[] = [];
  server.engine.watch((event) => events.push(event));
  const { checks, log } = startChecks({ name: 'tunnel web', targets, health: how }, { name: 'host site', targets, health: how });
  const establish = (link: Link) => {
    checks.established('tunnel web', { of: 'tunnel', id: tunnel.id }, (message) => link.send(message));
    checks.established('host site', { of: 'host', id: host.id }, (message) => link.send(message));
  };
  const reconnect = () => connect(server, CLIENT.vkey, [['tunnel', tunnel.id], ['host', host.id]]);
  const link = await reconnect();
  establish(link);
  const bothShow = (out: readonly string[]) =>
    Promise.all(
      (['tunnel', 'host'] as const).map((kind) =>
        shown(server, kind, kind === 'tunnel' ? tunnel.id : host.id, (health) => health !== null && outOf(health).join() === out.join())
      ),
    );
  await bothShow([]);
  return { server, a, b, tunnel, host, httpPort, events, log, checks, link, establish, reconnect, bothShow };
}

test.each(
  [
    ['refuses connections', quick, (service: Service) => service.goDown()],
    ['answers with a status that is none of health', web, (service: Service) => service.answer(500)],
    ['takes connections and does not answer', web, (service: Service) => service.hang()],
  ] as const,
)('a target that %s is out of rotation, of the tunnel and of the host, and comes back', async (_, how, fail) => {
  const { server, a, b, tunnel, host, httpPort, events, log, bothShow } = await startWorld(how);
  expect(new Set([...await answers(tunnel.port, 4), ...await answers(httpPort, 4)])).toEqual(new Set(['a', 'b']));
  events.length = 0;
  await fail(a);
  const [ofTunnel, ofHost] = await bothShow([a.address]);
  for (const health of [ofTunnel, ofHost]) {
    expect(health).toEqual({
      ...how,
      targets: [
        {
          target: a.address,
          healthy: false,
          failures: expect.any(Number),
          since: expect.any(Number),
          lastError: expect.stringMatching(/ECONNREFUSED|status 500|no answer within 1.5 s/),
        },
        expect.objectContaining({ target: b.address, healthy: true }),
      ],
    });
  }
  expect(events).toEqual(expect.arrayContaining([{ kind: 'tunnel', id: tunnel.id }, { kind: 'host', id: host.id }]));
  await log.line(new RegExp(`^tunnel web: ${a.address} is out of rotation: 2 health checks failed in a row`));
  const [before, others] = [visits(a), visits(b)];
  expect([...await answers(tunnel.port, 5), ...await answers(httpPort, 5)]).toEqual(Array.from({ length: 10 }, () => 'b'));
  expect(visits(a)).toBe(before);
  expect(visits(b)).toBe(others + 10);

  await a.comeBack();
  await bothShow([]);
  await log.line(new RegExp(`^host site: ${a.address} is healthy again`));
  expect(new Set(await answers(tunnel.port, 2))).toEqual(new Set(['a', 'b']));
  expect(new Set(await answers(httpPort, 2))).toEqual(new Set(['a', 'b']));
  expect(server.engine.tunnelState(tunnel.id)?.health?.targets[0]).toMatchObject({ healthy: true, failures: 0, lastError: expect.stringMatching(/./) });
  if (how.type === 'http') expect(a.requests).toContain('/healthz?full=1');
});

test('with no target left, visitors are refused for that cause: tunnels close, hosts say so; what was open goes on', async () => {
  const { server, a, b, tunnel, host, httpPort, bothShow } = await startWorld(web);
  const socket = await visit(tunnel.port);
  await eventually(() => a.connections + b.connections, (count) => count > 0);
  for (const service of [a, b]) service.answer(503);
  await bothShow([a.address, b.address]);
  expect(server.engine.counts).toMatchObject({ targetsUnhealthy: 4, withoutTarget: 2 });
  const seen = visits(a) + visits(b);
  await visitUntilClosed(tunnel.port);
  expect(server.engine.tunnelState(tunnel.id)?.refusals).toEqual({ noTarget: 1 });
  const raw = await visit(httpPort);
  raw.write('GET /visit HTTP/1.0\r\nHost: site.test\r\n\r\n');
  expect((await readAll(raw)).toString()).toMatch(/^HTTP\/1\.1 503 [^]*No program behind this site passes its health checks/);
  expect(visits(a) + visits(b)).toBe(seen);
  expect(server.engine.hostState(host.id)).toMatchObject({ connections: 0, refusals: { noTarget: 1 } });
  for (const service of [a, b]) service.answer(200);
  await bothShow([]);
  expect(server.engine.counts).toMatchObject({ targetsUnhealthy: 0, withoutTarget: 0 });
  // The connection from before leads where it led.
  socket.write('GET /visit HTTP/1.0\r\n\r\n');
  expect((await readAll(socket)).toString()).toMatch(/^HTTP\/1\.1 200 /);
});

test('when the agent disconnects its reports are forgotten, and it reports again after a reconnect', async () => {
  const { server, a, tunnel, link, checks, establish, reconnect, bothShow } = await startWorld(quick);
  await a.goDown();
  await bothShow([a.address]);
  await link.close(0);
  checks.lost();
  expect(await shown(server, 'tunnel', tunnel.id, (health) => health === null)).toBeNull();
  establish(await reconnect());
  await bothShow([a.address]);
  expect(await answers(tunnel.port, 3)).toEqual(['b', 'b', 'b']);
  checks.set([]);
  await shown(server, 'tunnel', tunnel.id, (health) => health === null);
});

test("reports about targets, tunnels or hosts that are not among an agent's entries have no effect", async () => {
  const server = await startServer();
  const a = await startService('a');
  const tunnel = await openTunnel(server, { targets: [a.address] });
  const host = hostOf({ targets: [a.address] });
  await server.engine.apply({ kind: 'host', host });
  const own = await openTunnel(server, { clientId: 2, targets: [a.address] });
  const stored = await openTunnel(server, { clientId: 2, targets: [a.address] });
  // Its id is that of a tunnel that the agent may report on.
  const namesake = hostOf({ id: own.id, clientId: 2, host: 'namesake.test', targets: [a.address] });
  await server.engine.apply({ kind: 'host', host: namesake });
  // It claims the tunnel of another client too.
  const link = await connect(server, otherKey, [['tunnel', own.id], ['tunnel', tunnel.id]]);
  const out = { healthy: false, failures: 3, ageMs: 0, error: 'x' };
  const reports = [['tunnel', tunnel.id], ['host', host.id], ['tunnel', 99], ['tunnel', stored.id], ['host', namesake.id], ['tunnel', own.id]] as const;
  for (const [of, id] of reports) {
    link.send({ type: 'health', of, id, check: quick, targets: [{ target: of === 'tunnel' && id === own.id ? 'elsewhere:1' : a.address, ...out }] });
  }
  expect(await shown(server, 'tunnel', own.id, (health) => health !== null)).toEqual({
    ...quick,
    targets: [{ target: a.address, healthy: true, failures: 0, since: null, lastError: '' }],
  });
  for (const { id } of [tunnel, stored]) expect(server.engine.tunnelState(id)?.health).toBeNull();
  for (const { id } of [host, namesake]) expect(server.engine.hostState(id)?.health).toBeNull();
});

test("a tunnel or host that moves to another client leaves its agent's reports behind", async () => {
  const { server, a, tunnel, host, bothShow } = await startWorld(quick);
  await a.goDown();
  await bothShow([a.address]);
  await server.engine.apply({ kind: 'tunnel', tunnel: { ...tunnel, clientId: 2 } });
  await server.engine.apply({ kind: 'host', host: { ...host, clientId: 2 } });
  expect([server.engine.tunnelState(tunnel.id)?.health, server.engine.hostState(host.id)?.health]).toEqual([null, null]);
});

test('a report on a p2p tunnel with more targets than a message can name changes its targets, and nothing ends', async () => {
  const server = await startServer();
  const targets = [...Array.from({ length: 7999 }, () => '127.0.0.1:1'), '127.0.0.1:2'];
  const tunnel = await openTunnel(server, { mode: 'p2p', password: 'a secret of many words', targets });
  // The program's own agent would refuse a longer request to dial.
  const agent = await RawPeer.connect(server, { info: { configFile: true } });
  const sent = async (work: () => unknown) => {
    const before = agent.read;
    work();
    await eventually(() => agent.read, (read) => read > before);
  };
  await sent(() => agent.control({ type: 'tunnel', name: String(tunnel.id), tunnel: declared.tunnel }));
  const visitor = await RawPeer.connect(server, { role: 'visit', key: tunnel.password, info: { type: 'p2p' } });
  await sent(() => visitor.frames((batch) => batch.frame(Frame.OPEN, 2)));
  const report = { target: '127.0.0.1:2', healthy: false, failures: 2, ageMs: 0, error: 'refused' };
  agent.control({ type: 'health', of: 'tunnel', id: tunnel.id, check: quick, targets: [report] });
  await shown(server, 'tunnel', tunnel.id, (health) => outOf(health).join() === '127.0.0.1:2');
  await server.engine.apply({ kind: 'tunnel', tunnel: { ...tunnel, targets: targets.slice(1) } });
  expect(server.engine.clientState(CLIENT.id)).toMatchObject({ connected: true });
});

test('without a healthy target a direct path is refused for that cause; paths that are open keep the last healthy ones, or get all of an edit', async () => {
  const server = await startServer();
  const [one, other] = ['127.0.0.1:1', '127.0.0.1:2'];
  const tunnel = await openTunnel(server, { mode: 'p2p', password: 'a secret of many words', targets: [one, other] });
  const agent = await RawPeer.connect(server, { info: { configFile: true } });
  agent.control({ type: 'tunnel', name: String(tunnel.id), tunnel: declared.tunnel });
  const visitor = await RawPeer.connect(server, { role: 'visit', key: tunnel.password, info: { type: 'p2p' } });
  visitor.frames((batch) => batch.frame(Frame.OPEN, 2, ASK_DIRECT));
  await eventually(() => server.engine.clientState(CLIENT.id)?.connections, (count) => count === 1);
  const retargeted = jest.spyOn(AgentSession.prototype, 'retarget');
  for (const target of [one, other]) {
    const report = { target, healthy: false, failures: 2, ageMs: 0, error: 'refused' };
    // The checks begin with the first report.
    agent.control({ type: 'health', of: 'tunnel', id: tunnel.id, ...(target === one && { check: quick }), targets: [report] });
    await shown(server, 'tunnel', tunnel.id, (health) => outOf(health).includes(target));
  }
  expect(retargeted.mock.calls).toEqual([[tunnel.id, [other]]]);
  visitor.frames((batch) => batch.frame(Frame.OPEN, 4, ASK_DIRECT));
  await eventually(() => server.engine.tunnelState(tunnel.id)?.refusals.noTarget, (count) => count === 1);
  await server.engine.apply({ kind: 'tunnel', tunnel: { ...tunnel, targets: [one] } });
  expect(retargeted.mock.lastCall).toEqual([tunnel.id, [one]]);
  retargeted.mockRestore();
});
