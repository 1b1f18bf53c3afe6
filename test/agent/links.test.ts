import os from 'node:os';
import { afterEach, expect, jest, test } from '@jest/globals';
import { Agent } from '../../src/agent/agent.ts';
import { Declarer } from '../../src/agent/declarer.ts';
import { DirectHost } from '../../src/agent/direct/direct-host.ts';
import { DirectPaths } from '../../src/agent/direct/direct-paths.ts';
import { Link } from '../../src/agent/link.ts';
import { ServedFiles } from '../../src/agent/served-files.ts';
import { Standby } from '../../src/agent/standby.ts';
import { VisitorLink } from '../../src/agent/visitor-link.ts';
import { Visitor } from '../../src/agent/visitor.ts';
import { acceptHandshake } from '../../src/wire/handshake.ts';
import { Mux } from '../../src/wire/mux.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import { encodeOpen } from '../../src/wire/open.ts';
import { socketPair } from '../../src/wire/socket-pair.ts';
import type { ConnectOptions } from '../../src/wire/socket.ts';
import { EmptySocket } from '../support/empty-socket.ts';
import { eventually } from '../support/eventually.ts';
import { LogRecorder } from '../support/log-recorder.ts';

const ends: Array<() => void> = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const place = { remoteAddress: '192.0.2.1', remotePort: 7 };

/** A server of the test's making. @param welcome what it says of the session */
function serverOf(welcome: object) {
  const [near, far] = socketPair(place);
  /** What the agent or visitor says: of itself, and later. */
  const info: unknown[] = [];
  const said: unknown[] = [];
  const began = acceptHandshake(far, { timeoutMs: 60_000, keyOf: () => 'k' }).then((offer) => {
    info.push(offer.info);
    offer.accept({ sessionId: '0'.repeat(32), heartbeatMs: 60_000, ...welcome });
    const server = new Mux(far, 'server', { onOpen: (stream) => stream.reset(), onControl: (message) => said.push(message), onClose: () => undefined }, {
      heartbeatMs: 60_000,
    });
    ends.push(() => server.close(''));
    return server;
  });
  const log = new LogRecorder();
  const drained = jest.fn();
  const options = {
    sockets: { ...netBackend, connect: async () => near },
    server: { host: 'bridge.example', port: 1 },
    log: log.logger,
    dataAfterMs: 1_000_000,
    onServers: () => undefined,
    onDrain: drained,
  };
  return { near, options, began, info, said, log, drained };
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
}

/** What a server of a later version says is not known here: the session goes on, and the log says it only where one looks for it. */
async function ignores(server: Mux, log: LogRecorder): Promise<void> {
  server.sendControl({ type: 'later' });
  await turns();
  expect(log.entries.slice(-1).map(({ level, msg }) => [level, msg])).toEqual([[
    20,
    expect.stringMatching(/^the server sent a control message that this \w+ does not know$/),
  ]]);
}

const bye = (text: string) => ({ type: 'bye', code: 'stopped', text });

test('an agent that stops waits for the connections of its streams; its direct paths get new targets, and end with the session', async () => {
  const direct = { retarget: jest.spyOn(DirectHost.prototype, 'retarget'), close: jest.spyOn(DirectHost.prototype, 'close') };
  ends.push(() => Object.values(direct).forEach((spy) => spy.mockRestore()));
  const { options, began, said, log, drained } = serverOf({ clientId: 5, answersPings: true });
  const target = new EmptySocket();
  const link = await Link.open({
    ...options,
    sockets: { ...options.sockets, dial: (_, onDialled) => onDialled(target) },
    vkey: 'k',
    info: { version: '1', localAddress: '', configFile: false, credit: true, answersPings: true },
    files: { serve: async () => undefined },
    onDeclared: () => undefined,
    onOverview: () => undefined,
  });
  const server = await began;
  expect([link.clientId, link.answersPings, link.secure]).toEqual([5, true, false]);
  server.sendControl({ type: 'targets', tunnelId: 9, targets: ['a:1'] });
  server.sendControl({ type: 'drain' });
  await eventually(() => drained.mock.calls.length, (calls) => calls === 1);
  expect(direct.retarget.mock.calls).toEqual([[9, ['a:1']]]);
  await ignores(server, log);

  const stream = server.open(encodeOpen({ kind: 'tcp', targets: ['127.0.0.1:1'] }));
  stream?.join(new EmptySocket());
  await eventually(() => target.sink, (sink) => sink !== undefined);
  const closed = link.close(1_000_000);
  await turns();
  expect([said, direct.close.mock.calls.length]).toEqual([[{ type: 'drain' }], 0]);
  target.destroy();
  await closed;
  await link.ended;
  await turns();
  expect([said.slice(1), direct.close.mock.calls.length]).toEqual([[bye('the agent was stopped')], 1]);
});

/** A visitor of a p2p tunnel, whose direct paths do as the test says. */
async function visiting(agentOnline: boolean) {
  const direct = {
    start: jest.spyOn(DirectPaths.prototype, 'start').mockReturnValue(),
    stop: jest.spyOn(DirectPaths.prototype, 'stop').mockReturnValue(),
    drain: jest.spyOn(DirectPaths.prototype, 'drain').mockReturnValue(),
    close: jest.spyOn(DirectPaths.prototype, 'close').mockReturnValue(),
    carry: jest.spyOn(DirectPaths.prototype, 'carry').mockReturnValue(false),
  };
  ends.push(() => Object.values(direct).forEach((spy) => spy.mockRestore()));
  const made = serverOf({ tunnelId: 9, agentOnline });
  const link = await VisitorLink.open({ ...made.options, password: 'k', info: { version: '1', type: 'p2p' } });
  const server = await made.began;
  await turns();
  /** How often each was asked for since the last time. */
  const calls = () => Object.values(direct).map(({ mock }) => mock.calls.splice(0).length);
  /** The server reports whether the agent is connected. */
  const report = async (online: boolean) => {
    server.sendControl({ type: 'agent', online });
    await turns();
    return calls();
  };
  return { ...made, direct, link, server, calls, report };
}

test('direct paths are tried while the agent is connected, and end with the session; the log shows when the agent comes and goes; no server opens a stream', async () => {
  const { link, server, log, drained, calls, report } = await visiting(false);
  expect(link.tunnelId).toBe(9);
  expect(calls()).toEqual([0, 1, 0, 0, 0]);
  expect(await report(false)).toEqual([0, 0, 0, 0, 0]);
  for (let times = 0; times < 2; times++) {
    expect(await report(true)).toEqual([1, 0, 0, 0, 0]);
    expect(await report(true)).toEqual([0, 0, 0, 0, 0]);
    expect(await report(false)).toEqual([0, 1, 0, 0, 0]);
  }
  expect(log.entries.map(({ level }) => level)).toEqual([40, 30, 40, 30, 40]);
  server.sendControl({ type: 'drain' });
  await turns();
  expect([calls(), drained.mock.calls.length]).toEqual([[0, 0, 1, 0, 0], 1]);
  server.close('over');
  await link.ended;
  await turns();
  expect(calls()).toEqual([0, 0, 0, 1, 0]);

  const other = await visiting(true);
  expect([other.calls(), other.log.entries]).toEqual([[1, 0, 0, 0, 0], []]);
  await ignores(other.server, other.log);
  const opened = new EmptySocket();
  other.server.open(Buffer.alloc(0))?.join(opened);
  await eventually(() => opened.destroyed, (reset) => reset);
  expect(await other.report(false)).toEqual([0, 1, 0, 0, 0]);
});

test('a visitor that stops waits for connections on direct paths; what neither they nor the session take is reset', async () => {
  const { link, said, direct } = await visiting(true);
  let release: () => void = () => undefined;
  direct.carry.mockImplementationOnce((_, hold) => {
    release = hold();
    return true;
  });
  const sockets = [new EmptySocket(), new EmptySocket()];
  const [carried, late] = sockets;
  if (!carried || !late) throw new Error('there are two');
  link.carry(carried);
  const closed = link.close(1_000_000);
  await turns();
  expect([said, carried.sink]).toEqual([[{ type: 'drain' }], undefined]);
  release();
  await closed;
  await link.ended;
  link.carry(late);
  await turns();
  expect([said.slice(1), late.destroyed]).toEqual([[bye('the visitor was stopped')], true]);
});

test.each(['agent', 'visitor'] as const)('a program (%s) that goes over TLS dials the TLS port of a server that another one has reported', async (who) => {
  const first = serverOf({ clientId: 5, tunnelId: 9, agentOnline: false });
  const dials: Array<readonly [string, number, string | undefined]> = [];
  const connect = async ({ host, port, trust }: ConnectOptions) => {
    dials.push([host, port, trust?.fingerprint]);
    if (dials.length === 1) return first.near;
    throw new Error('nothing is there');
  };
  const { logger: log } = new LogRecorder();
  const common = {
    servers: [{ host: '192.0.2.11', port: 1 }],
    tls: { fingerprint: 'f' },
    log,
    version: '1',
    sockets: { ...netBackend, connect },
    random: () => 0.001,
  };
  const program = who === 'agent'
    ? new Agent({ ...common, vkey: 'k' })
    : new Visitor({ ...common, type: 'secret', password: 'k', listen: { host: '127.0.0.1', port: 0 } });
  const ran = program.run();
  const server = await first.began;
  server.sendControl({ type: 'servers', servers: [{ host: '192.0.2.12', port: 2, tlsPort: 22 }], here: false });
  server.close('over');
  const others = () => dials.filter(([host]) => host === '192.0.2.12');
  // The session in reserve of an agent is dialed there, too.
  await eventually(() => others().length, (count) => count >= 4);
  await program.stop();
  await ran;
  expect(new Set(others().map(String))).toEqual(new Set(['192.0.2.12,22,f']));
});

test('an agent names ten of its addresses; a session that it has left for another one is no loss; when it is stopped, nothing of it goes on', async () => {
  const of = (address: string, internal = false) => ({ address, internal, family: 'IPv4', netmask: '', mac: '', cidr: null }) as const;
  const interfaces = { lo: [of('127.0.0.1', true)], net: Array.from({ length: 12 }, (_, index) => of(`203.0.113.${index}`)) };
  const spies = {
    interfaces: jest.spyOn(os, 'networkInterfaces').mockReturnValue(interfaces),
    standby: jest.spyOn(Standby.prototype, 'stop'),
    files: jest.spyOn(ServedFiles.prototype, 'close'),
  };
  ends.push(() => Object.values(spies).forEach((spy) => spy.mockRestore()));
  const [first, second] = [serverOf({ clientId: 5 }), serverOf({ clientId: 5 })];
  const places = new Map([['192.0.2.11', first.near], ['192.0.2.12', second.near]]);
  const connect = async ({ host }: { readonly host: string }) => {
    const near = places.get(host);
    places.delete(host);
    if (!near) throw new Error('nothing is there');
    return near;
  };
  const { logger: log } = new LogRecorder();
  const declarer = new Declarer({ log, onEstablished: () => undefined, onLost: () => undefined });
  const [connected, lost] = [jest.spyOn(declarer, 'connected'), jest.spyOn(declarer, 'lost')];
  const servers = [...places.keys()].map((host) => ({ host, port: 1 }));
  const agent = new Agent({ servers, vkey: 'k', log, version: '1', sockets: { ...netBackend, connect }, declarer, random: () => 0 });
  const ran = agent.run();
  const left = await first.began;
  expect(first.info).toEqual([{
    version: '1',
    localAddress: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((last) => `203.0.113.${last}`).join(', '),
    configFile: true,
    credit: true,
    answersPings: true,
  }]);
  left.sendControl({ type: 'drain' });
  const current = await second.began;
  await eventually(() => connected.mock.calls.length, (calls) => calls === 2);
  lost.mock.calls.length = 0;
  left.close('over');
  await turns();
  expect([agent.state.connected, lost.mock.calls.length]).toEqual([true, 0]);
  current.close('over');
  await eventually(() => lost.mock.calls.length, (calls) => calls === 1);
  await agent.stop();
  await ran;
  expect([spies.standby.mock.calls.length, spies.files.mock.calls.length]).toEqual([1, 1]);
});
