import { afterEach, expect, jest, test } from '@jest/globals';
import pino from 'pino';
import { VisitorSession } from '../../src/engine/bridge/visitor-session.ts';
import { ClientEntry } from '../../src/engine/clients.ts';
import type { EngineOptions } from '../../src/engine/engine-options.ts';
import type { WantedClient, WantedTunnel } from '../../src/engine/face.ts';
import { Meter, NO_BYTES } from '../../src/engine/limits/meter.ts';
import { visitorLists } from '../../src/engine/limits/visitor-lists.ts';
import { bindPort } from '../../src/engine/ports/reserve-port.ts';
import { UdpPort } from '../../src/engine/ports/udp-port.ts';
import { httpProxyMode } from '../../src/engine/tunnels/http-proxy.ts';
import { TunnelContext } from '../../src/engine/tunnels/tunnel-context.ts';
import type { TunnelServer } from '../../src/engine/tunnels/tunnel-mode.ts';
import { Tunnels } from '../../src/engine/tunnels/tunnels.ts';
import { udpMode } from '../../src/engine/tunnels/udp.ts';
import { FairQueue } from '../../src/stream-handlers/fair-queue.ts';
import { encodeDialResult } from '../../src/wire/dial-result.ts';
import { Batch } from '../../src/wire/batch.ts';
import { ControlQueue } from '../../src/wire/control-queue.ts';
import { Frame, FrameReader, type FrameType } from '../../src/wire/frames.ts';
import { keyIdOf } from '../../src/wire/handshake.ts';
import type { HealthMessage } from '../../src/wire/health.ts';
import type { MuxOptions } from '../../src/wire/mux.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import type { OwnedPorts } from '../../src/wire/shared-ports.ts';
import type { UdpHandlers } from '../../src/wire/udp-socket.ts';
import { startSession } from '../support/agent-session.ts';
import { EmptySocket } from '../support/empty-socket.ts';
import { environmentOf } from '../support/environment.ts';
import { freePort } from '../support/free-port.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { otherNodes } from '../support/other-nodes.ts';
import { CLIENT, fresh, tunnelOf } from '../support/tunnel.ts';
import { udpPeer } from '../support/udp.ts';

const silent = pino({ level: 'silent' });
const sockets: EmptySocket[] = [];
const clocks: Array<() => void> = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const restore of clocks.splice(0)) restore();
});

/** Lets the monotonic clock show what the test says. */
function clockAt(now: () => number): void {
  const clock = jest.spyOn(performance, 'now').mockImplementation(now);
  clocks.push(() => clock.mockRestore());
}

/** The tunnels of an engine without a bridge, and what is reported of them. */
function engineOf(options: Partial<EngineOptions> = {}) {
  const log = new LogRecorder();
  const environment = environmentOf({ log: log.logger, ...options });
  environment.starting = false;
  jest.spyOn(environment.stunServer, 'ports').mockResolvedValue([]);
  const events: string[] = [];
  environment.watch(({ kind, id }) => events.push(`${kind} ${id}`));
  const client = async (wanted: Partial<WantedClient> = {}): Promise<ClientEntry> => {
    const whole = { ...CLIENT, ...wanted };
    const entry = new ClientEntry(whole, await visitorLists(whole), { ticker: environment.ticker, onExhausted: () => undefined }, fresh);
    environment.clients.add(entry);
    return entry;
  };
  return { environment, log, events, client, tunnels: new Tunnels(environment) };
}

/** What a session has sent since the last call: controls as they are, other frames by type and stream. */
function sentBy(socket: EmptySocket): unknown[] {
  const sent: unknown[] = [];
  const reader = new FrameReader({
    onDataFrame: () => undefined,
    onFrame: (type, stream, payload) => {
      if (type === Frame.CONTROL || type === Frame.OPEN) sent.push(JSON.parse(payload.toString()));
      else if (type !== Frame.PING) sent.push([type, stream]);
    },
  });
  reader.push(Buffer.from(socket.received, 'hex'));
  socket.received = '';
  return sent;
}

function receive(socket: EmptySocket, type: FrameType, stream: number, payload?: Buffer): void {
  const batch = new Batch();
  batch.frame(type, stream, payload);
  batch.drainTo((bytes) => socket.sink?.onData(Buffer.from(bytes)));
}

/** Messages of the session do not wait for those of others. */
function muxOptions(): MuxOptions {
  return { heartbeatMs: 600_000, controlQueue: new ControlQueue(Number.POSITIVE_INFINITY) };
}

/** Connects the client's agent, which says nothing. */
function connectAgent(entry: ClientEntry): EmptySocket {
  const socket = new EmptySocket();
  sockets.push(socket);
  entry.connected(startSession(socket, { mux: muxOptions(), clientId: entry.wanted.id }), 0);
  return socket;
}

function visitOf(tunnel: ConstructorParameters<typeof VisitorSession>[0]['tunnel']) {
  const socket = new EmptySocket();
  sockets.push(socket);
  const session = new VisitorSession({
    id: '1',
    key: Buffer.alloc(32),
    socket,
    tunnel,
    fairQueue: new FairQueue(1),
    since: 0,
    log: silent,
    mux: muxOptions(),
    onGone: () => undefined,
  });
  return { socket, session };
}

/** What waits for the end of an iteration of the event loop, and what that leads to. */
async function iterations(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
}

const check = { type: 'tcp', intervalMs: 1, timeoutMs: 1, maxFailed: 1, path: '' } as const;
const failure = { healthy: false, failures: 1, ageMs: 0, error: 'x' } as const;
const outOf = (id: number, target: string): HealthMessage => ({ type: 'health', of: 'tunnel', id, check, targets: [{ ...failure, target }] });

test('a visitor program is refused for the first cause that applies, and the subscribers are notified of each that comes, moves and leaves', async () => {
  clockAt(() => 0);
  const { tunnels, client, events } = engineOf();
  await client();
  await client({ id: 2, vkey: 'b', enabled: false });
  const blocked = tunnels.add(tunnelOf({ id: 6, clientId: 2, mode: 'secret', password: 'other word' }), NO_BYTES);
  await blocked.sync();
  expect([blocked.refusal('secret'), events.splice(0)]).toEqual([{ code: 'tunnel-stopped', text: 'the client is disabled' }, ['tunnel 6']]);
  const runner = tunnels.add(tunnelOf({ id: 5, mode: 'secret', password: 'word' }), NO_BYTES);
  expect(runner.refusal('p2p')).toEqual({ code: 'wrong-type', text: 'the tunnel is of type secret: visit it with --type secret' });
  expect(runner.refusal('secret')).toEqual({ code: 'tunnel-stopped', text: 'the tunnel is stopped' });
  await runner.sync();
  expect([runner.refusal('secret'), events.splice(0)]).toEqual([undefined, ['tunnel 5']]);
  const [first] = Array.from({ length: 1000 }, () => visitOf(runner));
  expect(events.splice(0)).toEqual(Array.from({ length: 1000 }, () => 'tunnel 5'));
  expect(runner.refusal('secret')).toEqual({ code: 'too-many', text: 'the tunnel has too many visitors' });
  if (!first) throw new Error('there are visitors');
  receive(first.socket, Frame.CONTROL, 0, Buffer.from('{"type":"path","path":"direct"}'));
  expect([events.splice(0), first.session.path]).toEqual([['tunnel 5'], 'direct']);
  first.socket.destroy();
  expect([events, runner.state.visitors.length]).toEqual([['tunnel 5'], 999]);
  const refused = Array.from({ length: 2000 }, () => runner.refusal('secret')).filter((refusal) => refusal !== undefined);
  expect(refused).toEqual([{ code: 'too-often', text: 'its sessions begin too often' }]);
  runner.tooMany();
  expect(runner.state.refusals).toEqual({ capacity: 1 });
});

test("a tunnel's visitors connect as its client says, and are notified of the agent of the next client that gets it", async () => {
  const { environment, tunnels, client } = engineOf();
  const [secure, compressed] = [await client({ id: 1, vkey: 'a', crypt: true }), await client({ id: 2, vkey: 'b', compress: true })];
  connectAgent(compressed);
  const tunnelsOf = () => [secure, compressed].map((entry) => Array.from(entry.tunnels, ({ wanted: { id } }) => id));
  const wanted = tunnelOf({ clientId: 1, mode: 'secret', password: 'word' });
  await tunnels.apply(wanted, undefined);
  const runner = tunnels.get(wanted.id);
  if (!runner) throw new Error('there is a tunnel');
  expect(runner.client).toEqual({ online: false, crypt: true, compress: false });
  // Its agent may be connected to another server.
  environment.nodes = otherNodes({});
  expect(runner.client.online).toBe(true);
  environment.nodes = undefined;
  const { socket: visitor } = visitOf(runner);
  expect(tunnelsOf()).toEqual([[wanted.id], []]);
  runner.onHealth(outOf(wanted.id, 'a:1'), 0);
  await tunnels.apply({ ...wanted, clientId: 2 }, undefined);
  expect(runner.state.health).toBeNull();
  expect(runner.client).toEqual({ online: true, crypt: false, compress: true });
  await iterations();
  expect(sentBy(visitor)).toEqual([{ type: 'compress', on: true }, { type: 'agent', online: true }]);
  expect(tunnelsOf()).toEqual([[], [wanted.id]]);
});

test.each([[1, true], [0, false]])(
  'of a client whose home is another server, %i visitors have room here: the next one is admitted: %s',
  async (total, admitted) => {
    const { environment, client } = engineOf({ visitorShares: { total, perAddress: total } });
    await client();
    const opener = { open: () => undefined, elsewhere: true };
    environment.nodes = otherNodes({ openerTo: () => opener });
    const carrier = environment.admit({ clientId: CLIENT.id, localProxy: false }, '192.0.2.1');
    expect(typeof carrier === 'string' ? carrier : carrier.session).toBe(admitted ? opener : 'capacity');
  },
);

test('a tunnel is found by its present password, until it is removed from all lists', async () => {
  const { tunnels, client } = engineOf();
  const entry = await client();
  const wanted = tunnelOf({ mode: 'secret', password: 'one' });
  const found = () => ['one', 'two'].map((password) => tunnels.visited(keyIdOf(password))?.id);
  await tunnels.apply(wanted, undefined);
  expect(found()).toEqual([wanted.id, undefined]);
  await tunnels.apply({ ...wanted, password: 'two' }, undefined);
  expect(found()).toEqual([undefined, wanted.id]);
  await tunnels.remove(wanted.id);
  const left = [[...tunnels.all()].length, [...entry.tunnels].length, tunnels.get(wanted.id)?.id];
  expect([found(), left]).toEqual([[undefined, undefined], [0, 0, undefined]]);
});

test('subscribers are notified when the reason changes for which a tunnel does not run, and not again', async () => {
  const { tunnels, client, events: seen } = engineOf({ now: () => 1000 });
  const entry = await client();
  const runner = tunnels.add(tunnelOf({ mode: 'secret', password: 'word' }), NO_BYTES);
  const after = async (wanted: Partial<WantedClient>) => {
    seen.length = 0;
    entry.configure({ ...CLIENT, ...wanted }, await visitorLists(CLIENT));
    await runner.sync();
    return [runner.state.error, seen.length];
  };
  expect(await after({})).toEqual(['', 1]);
  for (const events of [1, 0]) expect(await after({ enabled: false })).toEqual(['the client is disabled', events]);
  for (const events of [1, 0]) expect(await after({ expiresAt: 1000 })).toEqual(['the client has expired', events]);
});

test('a listener that cannot be opened is tried again after 1 s, then after twice as long each time, up to 30 s, and no more when its tunnel is gone or the server stops', async () => {
  jest.useFakeTimers();
  try {
    let free = false;
    const listen: typeof netBackend.listen = async ({ host, port }) => {
      if (!free) throw Object.assign(new Error('in use'), { code: 'EADDRINUSE' });
      return { host, port, close: () => Promise.resolve(), renew: () => undefined };
    };
    const { environment, tunnels, client, log } = engineOf({ sockets: { ...netBackend, listen } });
    await client();
    const wanted = tunnelOf({ port: 9001 });
    await tunnels.apply(wanted, undefined);
    const waits = () => log.entries.splice(0).map(({ retryMs }) => retryMs);
    const all = [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000];
    for (const wait of all) {
      expect(waits()).toEqual([wait]);
      await jest.advanceTimersByTimeAsync(wait - 1);
      expect(waits()).toEqual([]);
      await jest.advanceTimersByTimeAsync(1);
    }
    // Another try of its user begins again.
    log.entries.length = 0;
    await tunnels.apply(wanted, undefined);
    expect(waits()).toEqual([1000]);
    await jest.advanceTimersByTimeAsync(1000);
    expect(waits()).toEqual([2000]);
    free = true;
    await jest.advanceTimersByTimeAsync(2000);
    expect([tunnels.get(wanted.id)?.running, waits()]).toEqual([true, []]);
    free = false;
    await tunnels.get(wanted.id)?.close();
    await tunnels.get(wanted.id)?.sync();
    expect(waits()).toEqual([1000]);
    await tunnels.remove(wanted.id);
    await jest.advanceTimersByTimeAsync(60_000);
    expect([waits(), jest.getTimerCount()]).toEqual([[], 0]);
    await tunnels.apply(wanted, undefined);
    expect(waits()).toEqual([1000]);
    environment.closing = true;
    await tunnels.drain();
    free = true;
    await jest.advanceTimersByTimeAsync(60_000);
    expect([tunnels.get(wanted.id)?.running, waits(), jest.getTimerCount()]).toEqual([false, [], 0]);
  } finally {
    jest.useRealTimers();
  }
});

test('a tunnel keeps to its healthy targets when other settings change, and serves by its type alone when that changes', async () => {
  const { tunnels, client } = engineOf();
  const agent = connectAgent(await client());
  const wanted = tunnelOf({ mode: 'secret', password: 'word', targets: ['a:1', 'b:1'] });
  await tunnels.apply(wanted, undefined);
  const runner = tunnels.get(wanted.id);
  runner?.onHealth(outOf(wanted.id, 'a:1'), 0);
  const targetsOf = async () => {
    runner?.onVisitor(new EmptySocket());
    await iterations();
    return sentBy(agent);
  };
  const open = { kind: 'tcp', by: `tunnel ${wanted.id}`, targets: ['b:1'] };
  expect(await targetsOf()).toEqual([open]);
  await tunnels.apply({ ...wanted, proxyProtocol: '' }, undefined);
  expect(await targetsOf()).toEqual([open]);
  const none = { inlet: 0, exported: 0 };
  expect(runner?.believable(none)).toBeUndefined();
  await tunnels.apply({ ...wanted, mode: 'p2p' }, undefined);
  expect(runner?.believable(none)).toEqual(none);
  await tunnels.apply(wanted, undefined);
  expect(runner?.believable(none)).toBeUndefined();
});

test('a direct path of a p2p tunnel gets the healthy targets, also when they change, and continues when there are none; nothing more of it is believed when it has ended', async () => {
  let now = 0;
  clockAt(() => now);
  const { tunnels, client } = engineOf();
  const agent = connectAgent(await client());
  // Direct paths have no PROXY protocol header, so relayed connections have none.
  const wanted = tunnelOf({ mode: 'p2p', password: 'word', targets: ['a:1', 'b:1'], proxyProtocol: 'V1' });
  await tunnels.apply(wanted, undefined);
  const runner = tunnels.get(wanted.id);
  if (!runner) throw new Error('there is a tunnel');
  const after = async (work: () => unknown) => {
    await work();
    await iterations();
    return sentBy(agent);
  };
  const targets = (...list: string[]) => ({ type: 'targets', tunnelId: wanted.id, targets: list });
  const direct = { kind: 'direct', tunnelId: wanted.id, password: 'word', targets: ['a:1', 'b:1'], stunPorts: [] };
  expect(await after(() => runner.onDirect(new EmptySocket()))).toEqual([direct]);
  expect(await after(() => runner.onHealth(outOf(wanted.id, 'a:1'), 0))).toEqual([targets('b:1')]);
  expect(await after(() => runner.onVisitor(new EmptySocket()))).toEqual([{ kind: 'tcp', by: `tunnel ${wanted.id}`, targets: ['b:1'] }]);
  expect(await after(() => tunnels.apply({ ...wanted, targets: ['a:1', 'c:1'] }, undefined))).toEqual([targets('c:1')]);
  expect(await after(() => tunnels.apply({ ...wanted, targets: ['b:1', 'c:1'] }, undefined))).toEqual([targets('b:1', 'c:1')]);
  expect(await after(() => tunnels.apply({ ...wanted, targets: ['b:1', 'c:1'], port: 0 }, undefined))).toEqual([]);
  // Without a healthy target, open paths keep those that they have.
  const all = (healthy: boolean) => runner.onHealth({ ...outOf(wanted.id, ''), targets: ['b:1', 'c:1'].map((target) => ({ ...failure, target, healthy })) }, 0);
  expect(await after(() => all(false))).toEqual([]);
  expect(await after(() => all(true))).toEqual([targets('b:1', 'c:1')]);
  await after(() => all(false));
  // A target that was removed gets no connections, whether or not another one is healthy.
  expect(await after(() => tunnels.apply({ ...wanted, targets: ['c:1'] }, undefined))).toEqual([targets('c:1')]);
  expect(await after(() => tunnels.apply({ ...wanted, targets: ['c:1'], port: 0 }, undefined))).toEqual([]);
  expect(await after(() => tunnels.apply({ ...wanted, targets: [] }, undefined))).toEqual([targets()]);
  expect(await after(() => tunnels.apply({ ...wanted, targets: ['d:1'] }, undefined))).toEqual([targets('d:1')]);
  now = 1000;
  const much = { inlet: 2 ** 50, exported: 2 ** 50 };
  expect(runner.believable(much)).toEqual({ inlet: 1_250_000_000, exported: 1_250_000_000 });
  expect(runner.state.connections).toBe(2);
  expect(await after(() => tunnels.apply({ ...wanted, targets: [] }, undefined))).toEqual([targets()]);
  now = 2000;
  expect([runner.believable(much), runner.state.connections]).toEqual([{ inlet: 1_250_000_000, exported: 1_250_000_000 }, 2]);
  const late = new EmptySocket();
  expect(await after(() => runner.onDirect(late))).toEqual([]);
  expect([late.destroyed, runner.state.refusals]).toEqual([true, { noTarget: 1 }]);
  expect(await after(() => tunnels.apply({ ...wanted, targets: [], enabled: false }, undefined))).toEqual([[Frame.RST, 1], [Frame.RST, 3]]);
  now = 3000;
  expect([runner.believable(much), runner.state.connections]).toEqual([{ inlet: 0, exported: 0 }, 0]);
});

test('a visitor who asks for a direct path is reset if the ports for it cannot be opened', async () => {
  const { tunnels, client, environment, log } = engineOf();
  connectAgent(await client());
  const wanted = tunnelOf({ mode: 'p2p', password: 'word', targets: ['a:1'] });
  await tunnels.apply(wanted, undefined);
  jest.spyOn(environment.stunServer, 'ports').mockRejectedValue(new Error('no port'));
  const visitor = new EmptySocket();
  tunnels.get(wanted.id)?.onDirect(visitor);
  await iterations();
  expect([visitor.destroyed, log.entries.at(-1)]).toMatchObject([true, { tunnelId: wanted.id, err: { message: 'no port' } }]);
});

test('a direct path gets the ports of the STUN server, and as many targets as fit a message of 32 KB to the agent', async () => {
  const { tunnels, client, environment } = engineOf();
  jest.spyOn(environment.stunServer, 'ports').mockResolvedValue([7, 8]);
  const agent = connectAgent(await client());
  // Each takes 32 characters, with its quotes and comma.
  const targets = Array.from({ length: 1025 }, (_, n) => `target-${n}`.padEnd(27, 'x') + ':1');
  const wanted = tunnelOf({ mode: 'p2p', password: 'word', targets });
  await tunnels.apply(wanted, undefined);
  tunnels.get(wanted.id)?.onDirect(new EmptySocket());
  await iterations();
  expect(sentBy(agent)).toMatchObject([{ kind: 'direct', stunPorts: [7, 8], targets: targets.slice(0, 1024) }]);
});

/** UDP ports that belong to other processes until `has` is set. */
class Owned implements OwnedPorts {
  has = false;
  readonly calls: string[] = [];
  grant: () => void = () => undefined;

  async claim(name: string, onGranted: () => void): Promise<boolean> {
    this.calls.push(`claim ${name}`);
    this.grant = onGranted;
    return this.has;
  }
  async claimNow(name: string): Promise<boolean> {
    this.calls.push(`claim now ${name}`);
    return this.has;
  }
  release(name: string): void {
    this.calls.push(`release ${name}`);
  }
}

test('a UDP port belongs to one process: the others run without it, get it when it is given up, and give it up', async () => {
  const owned = new Owned();
  const { tunnels, client, environment } = engineOf({ shared: { of: () => () => Promise.reject(new Error('no TCP')), owned }, tunnelHost: '127.0.0.1' });
  await client();
  const port = await freePort();
  const wanted = tunnelOf({ mode: 'udp', serverIp: '', port });
  const name = `udp 127.0.0.1 ${port}`;
  await tunnels.apply(wanted, undefined);
  const runner = tunnels.get(wanted.id);
  if (!runner) throw new Error('there is a tunnel');
  const state = () => [runner.running, runner.elsewhere, runner.listensOn('udp', port), runner.listensOn('tcp', port), owned.calls.splice(0)];
  expect(state()).toEqual([true, true, true, false, [`claim ${name}`]]);
  // Its own tunnel already has it, wherever.
  expect(await tunnels.reservePort({ ...wanted, serverIp: '127.0.0.1', replaces: wanted.id })).toMatchObject({ port });
  await runner.sync();
  expect(state()).toEqual([true, true, true, false, []]);
  const granted = async () => {
    owned.grant();
    await environment.inOrder(() => Promise.resolve());
  };
  owned.has = true;
  await granted();
  expect(state()).toEqual([true, false, true, false, [`claim ${name}`]]);
  await runner.close();
  expect(state()).toEqual([false, false, false, false, [`release ${name}`]]);
  owned.has = false;
  await runner.sync();
  await runner.close();
  await granted();
  expect(state()).toEqual([false, false, false, false, [`claim ${name}`, `release ${name}`]]);

  const address = { transport: 'udp', serverIp: '127.0.0.1', port } as const;
  await expect(bindPort(environment, address)).rejects.toMatchObject({ message: `port ${port} is occupied`, holder: null });
  expect(owned.calls.splice(0)).toEqual([`claim now ${name}`]);
  owned.has = true;
  const other = await udpPeer('127.0.0.1', port);
  await expect(bindPort(environment, address)).rejects.toMatchObject({ message: `port ${port} is occupied`, holder: null });
  expect(owned.calls).toEqual([`claim now ${name}`, `release ${name}`]);
  await other.close();
  await (await bindPort(environment, address)).close();
  expect(owned.calls.slice(2)).toEqual([`claim now ${name}`, `release ${name}`]);
});

/** A UDP tunnel whose datagrams the test delivers, and its agent's session. */
async function udpTunnel(options: Partial<EngineOptions>, more: Partial<WantedTunnel> = {}) {
  const { environment, client } = engineOf(options);
  const agent = connectAgent(await client());
  const wanted = tunnelOf({ mode: 'udp', targets: ['a:1'], ...more });
  const meter = new Meter(environment.ticker, 'tunnel', wanted.id, NO_BYTES);
  const server: TunnelServer = udpMode.serve(new TunnelContext(environment, meter, () => wanted), wanted);
  const port = await UdpPort.bind({ host: '127.0.0.1', port: 0 }, environment.log, '');
  let handlers: Pick<UdpHandlers, 'onDatagram' | 'onDropped'> | undefined;
  const sent: unknown[] = [];
  jest.spyOn(port, 'serve').mockImplementation((given) => {
    handlers = given;
  });
  jest.spyOn(port, 'send').mockImplementation((bytes, to) => void sent.push([Buffer.from(bytes).toString(), to.port]));
  server.onPort?.(port);
  await port.close();
  const datagram = (from: number, bytes: Buffer): void => handlers?.onDatagram(bytes, { address: '192.0.2.1', port: from });
  return { agent, meter, server, datagram, sent, drop: () => handlers?.onDropped?.() };
}

test('datagrams that are dropped at any place are counted: by the system, by the agent, and beyond what all visitors of the tunnel may queue together', async () => {
  const { agent, server, meter, datagram, drop } = await udpTunnel({});
  datagram(1, Buffer.from('x'));
  drop();
  expect(server.dropped).toBe(1);
  receive(agent, Frame.DATA, 1, Buffer.from('ffff00000005', 'hex'));
  expect(server.dropped).toBe(6);
  /** The datagrams of a visitor that are taken until one is dropped. */
  const taken = async (from: number): Promise<number> => {
    const before = server.dropped ?? 0;
    let count = 0;
    for (; server.dropped === before; count++) {
      datagram(from, Buffer.alloc(60_000));
      await new Promise(setImmediate); // the session sends what it has
    }
    return count;
  };
  const [first, second] = [await taken(1), await taken(2)];
  // A window of the stream each, and 256 KB for both.
  expect([first > 17, first - second >= 3]).toEqual([true, true]);
  expect(meter.refusals).toEqual({});
  const empty = await udpTunnel({}, { targets: [] });
  empty.datagram(1, Buffer.from('x'));
  expect([empty.server.dropped, empty.meter.refusals]).toEqual([1, { noTarget: 1 }]);
});

test('a visitor of an HTTP proxy who leaves just before the next target would be dialed causes no dial', async () => {
  const { environment, client } = engineOf();
  const agent = connectAgent(await client());
  const wanted = tunnelOf({ mode: 'httpProxy' });
  const visitor = new EmptySocket();
  const context = new TunnelContext(environment, new Meter(environment.ticker, 'tunnel', wanted.id, NO_BYTES), () => wanted);
  httpProxyMode.serve(context, wanted).onSocket?.(visitor);
  const asks = async (host: string): Promise<unknown[]> => {
    visitor.sink?.onData(Buffer.from(`GET http://${host}/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`));
    await iterations();
    return sentBy(agent).filter((frame) => !Array.isArray(frame));
  };
  expect(await asks('one.test')).toMatchObject([{ kind: 'dial', targets: ['one.test:80'] }]);
  receive(agent, Frame.DATA, 1, Buffer.concat([encodeDialResult('connected'), Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')]));
  await iterations();
  expect(Buffer.from(visitor.received, 'hex').toString()).toMatch(/^HTTP\/1\.1 200 /);
  setImmediate(() => visitor.destroy());
  expect(await asks('two.test')).toEqual([]);
});

test('a target of an HTTP proxy that the agent says nothing of is given up after the time of a dial, and two seconds for the way', async () => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  try {
    const { environment, client } = engineOf({ proxyTiming: { dialMs: 1000, takeMs: 60_000 } });
    const agent = connectAgent(await client());
    const wanted = tunnelOf({ mode: 'httpProxy' });
    const visitor = new EmptySocket();
    const context = new TunnelContext(environment, new Meter(environment.ticker, 'tunnel', wanted.id, NO_BYTES), () => wanted);
    httpProxyMode.serve(context, wanted).onSocket?.(visitor);
    visitor.sink?.onData(Buffer.from('GET http://one.test/ HTTP/1.1\r\nHost: one.test\r\n\r\n'));
    await iterations();
    expect(sentBy(agent)).toContainEqual(expect.objectContaining({ kind: 'dial', timeoutMs: 1000 }));
    for (const [ms, answer] of [[2999, /^$/], [1, /^HTTP\/1\.1 504 /]] as const) {
      jest.advanceTimersByTime(ms);
      await iterations();
      expect(Buffer.from(visitor.received, 'hex').toString()).toMatch(answer);
    }
  } finally {
    jest.useRealTimers();
  }
});

test('a visitor who only receives datagrams keeps the session', async () => {
  const { agent, datagram, sent } = await udpTunnel({ udpIdleMs: 12_000 });
  jest.useFakeTimers();
  try {
    for (const from of [1, 2]) datagram(from, Buffer.from('x'));
    for (let second = 0; second < 20; second += 5) {
      jest.advanceTimersByTime(5000);
      receive(agent, Frame.DATA, 3, Buffer.from('000161', 'hex'));
    }
    expect(sent).toEqual(Array.from({ length: 4 }, () => ['a', 2]));
    const ended = sentBy(agent).filter((frame) => Array.isArray(frame) && frame[0] === Frame.FIN);
    expect(ended).toEqual([[Frame.FIN, 1]]);
  } finally {
    jest.useRealTimers();
  }
});
