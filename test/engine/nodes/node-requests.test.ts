import { afterEach, expect, jest, test } from '@jest/globals';
import type { z } from 'zod';
import { ClientChanges } from '../../../src/engine/client-changes.ts';
import {
  type ClientState,
  type ConnectionState,
  type HostState,
  refusalCauses,
  sessionEnds,
  type Traffic,
  type TunnelState,
} from '../../../src/engine/face.ts';
import { ask } from '../../../src/engine/nodes/ask.ts';
import { HomeOpener } from '../../../src/engine/nodes/home-opener.ts';
import * as answers from '../../../src/engine/nodes/node-answers.ts';
import { NodeRequests, type NodeState } from '../../../src/engine/nodes/node-requests.ts';
import type { OtherNodes } from '../../../src/engine/other-nodes.ts';
import { Tunnels } from '../../../src/engine/tunnels/tunnels.ts';
import { decodeDialResult } from '../../../src/wire/dial-result.ts';
import { MessageSocket } from '../../../src/wire/message-socket.ts';
import { Mux, type Stream } from '../../../src/wire/mux.ts';
import { decodeNodeRequest, encodeNodeRequest, type NodeRequest } from '../../../src/wire/node-messages.ts';
import { encodeOpen } from '../../../src/wire/open.ts';
import { socketPair } from '../../../src/wire/socket-pair.ts';
import type { Opener } from '../../../src/wire/stream.ts';
import { sessionOf } from '../../support/agent-session.ts';
import { environmentOf } from '../../support/environment.ts';
import { eventually } from '../../support/eventually.ts';
import { otherNodes } from '../../support/other-nodes.ts';
import { CLIENT, fresh, tunnelOf } from '../../support/tunnel.ts';
import { hostOf } from '../../support/vhost.ts';

const traffic = (from: number): Traffic => (
  { connections: from, rate: from + 1, inletRate: from + 2, exportRate: from + 3, inletBytes: from + 4, exportBytes: from + 5 }
);
const refusals = Object.fromEntries(refusalCauses.map((cause, index) => [cause, index]));

/** States with each form of each field. */
const here: ClientState = {
  connected: true,
  connectedSince: 1,
  lastHeardAt: 2,
  secure: true,
  end: null,
  address: 'address',
  localAddress: 'local',
  version: 'version',
  refusals: {},
  lastOnlineAt: 3,
  ...traffic(10),
};
const away = sessionEnds.map((end): ClientState => (
  { ...here, connected: false, connectedSince: null, lastHeardAt: null, secure: false, end, refusals, lastOnlineAt: null, ...traffic(20) }
));
const check = { type: 'http', intervalMs: 1, timeoutMs: 2, maxFailed: 3, path: '/health' } as const;
const health = {
  ...check,
  targets: [null, 7].map((since, index) => ({ target: `t:${index}`, healthy: since === null, failures: index, since, lastError: `e${index}` })),
};
const visitors = (['relay', 'direct'] as const).map((path, index) => ({ address: `v${index}`, since: index, path }));
const running: TunnelState = { running: true, error: '', refusals, dropped: 30, visitors, health, ...traffic(31) };
const stopped: TunnelState = { running: false, error: 'why', refusals: {}, dropped: 0, visitors: [], health: { ...health, type: 'tcp' }, ...traffic(40) };
const connectionOf = (kind: 'tunnel' | 'host'): ConnectionState => (
  { id: 50, clientId: 51, through: { kind, id: 52 }, address: 'visitor', port: 53, since: 54, rate: 55, inletBytes: 56, exportBytes: 57 }
);
const page = { rows: [connectionOf('tunnel'), connectionOf('host')], total: 9 };
const counted = (id: number) => ({ id, inletBytes: id + 1, exportBytes: id + 2 });
const withoutHealth = (state: TunnelState): TunnelState => ({ ...state, health: null });

function hostStateOf(state: TunnelState): HostState {
  const { dropped: _, visitors: __, ...host } = state;
  return host;
}

test('the answers of another node are read as they were given, in every form', () => {
  const session = { since: 1, until: 2, address: 'a', version: 'v', secure: true, endText: 'why' };
  const given: ReadonlyArray<readonly [z.ZodType, unknown]> = [
    [answers.clientAnswers, [here, null, ...away]],
    [answers.agentSessionsAnswer, [{ ...session, until: null, end: null }, ...sessionEnds.map((end) => ({ ...session, secure: false, end }))]],
    [answers.tunnelAnswers, [running, null, stopped, withoutHealth(stopped)]],
    [answers.hostAnswers, [running, null, stopped].map((state) => state && hostStateOf(state))],
    [answers.trafficAnswer, traffic(1)],
    [answers.connectionsAnswer, page],
    [answers.closedAnswer, connectionOf('host')],
    [answers.closedAnswer, null],
    [answers.totalsAnswer, { client: { inletBytes: 1, exportBytes: 2 }, tunnels: [counted(3)], hosts: [counted(6)] }],
    [answers.totalsAnswer, null],
    [answers.probeAnswer, 'why'],
  ];
  for (const [schema, answer] of given) expect(schema.parse(JSON.parse(JSON.stringify(answer)))).toEqual(answer);
});

const links: Mux[] = [];
afterEach(() => {
  for (const link of links.splice(0)) link.close('');
});

/** A session between two nodes. @param onOpen what the other one does with a stream */
function linkTo(onOpen: (stream: Stream, payload: Buffer) => void) {
  const [near, far] = socketPair({ remoteAddress: '192.0.2.1', remotePort: 7 });
  const quiet = { onControl: () => undefined, onClose: () => undefined };
  const link = new Mux(near, 'agent', { ...quiet, onOpen: (stream) => stream.reset() });
  const other = new Mux(far, 'server', { ...quiet, onOpen });
  links.push(link);
  return { link, other };
}

test('an answer that does not come, is cut off, or is another one than was asked for, is none', async () => {
  const given: Array<(stream: Stream) => void> = [
    (stream) => stream.reset(),
    (stream) => stream.join(new MessageSocket('{"connections":')),
    (stream) => stream.join(new MessageSocket('{"connections":1}')),
    () => undefined,
    (stream) => stream.join(new MessageSocket(JSON.stringify(traffic(1)))),
  ];
  const { link, other } = linkTo((stream) => given.shift()?.(stream));
  const asked = (ms?: number) => ask(link, { kind: 'traffic' }, answers.trafficAnswer, ms);
  for (let nth = 0; nth < 3; nth++) expect(await asked(60_000)).toBeUndefined();
  expect(await asked(1)).toBeUndefined();
  await eventually(() => other.streamCount, (count) => count === 0);
  expect(await asked(60_000)).toEqual(traffic(1));
  // The states of tunnels with thousands of targets.
  const long = 'x'.repeat(100_000);
  given.push((stream) => stream.join(new MessageSocket(JSON.stringify(long))));
  expect(await ask(link, { kind: 'probe', clientId: 1, target: '', timeoutMs: 0 }, answers.probeAnswer, 60_000)).toBe(long);
  // No other node can make this one keep more than 8 MB of an answer.
  for (const bytes of [8 * 1024 * 1024, 8 * 1024 * 1024 + 1]) {
    given.push((stream) => stream.join(new MessageSocket(JSON.stringify(traffic(1)).padStart(bytes))));
    expect(await asked(60_000)).toEqual(bytes > 8 * 1024 * 1024 ? undefined : traffic(1));
  }
  link.close('');
  expect(await asked()).toBeUndefined();
});

/** What a node knows, and a session with it. */
async function serving(nodes?: OtherNodes, state: Partial<NodeState> = {}) {
  const environment = environmentOf({ now: () => 1000, allowLocalProxy: true });
  environment.nodes = nodes;
  const tunnels = new Tunnels(environment);
  const all: NodeState = {
    clientState: () => undefined,
    tunnelState: () => undefined,
    hostState: () => undefined,
    traffic: () => traffic(0),
    connections: () => ({ rows: [], total: 0 }),
    closeConnection: () => undefined,
    probe: async () => '',
    ...state,
  };
  const requests = new NodeRequests(environment, tunnels, all);
  const streams: Stream[] = [];
  const { link } = linkTo((stream, payload) => {
    streams.push(stream);
    const decoded = decodeNodeRequest(payload);
    if (decoded) requests.take(stream, decoded.request, decoded.rest);
  });
  const add = async (id: number, wanted: Partial<typeof CLIENT> = {}, bytes = fresh) => {
    await new ClientChanges(environment, tunnels).addAll([{ wanted: { ...CLIENT, ...wanted, id, vkey: `key ${id}` }, stored: bytes }]);
    const entry = environment.clients.get(id);
    if (!entry) throw new Error('it was added');
    return entry;
  };
  return { environment, tunnels, requests, link, streams, add };
}

test('a node answers each request with what it has of just that record', async () => {
  const asked: unknown[] = [];
  const { environment, tunnels, link, add } = await serving(undefined, {
    clientState: (id) => id === 5 ? here : id === 6 ? away[0] : undefined,
    tunnelState: (id) => id === 5 ? running : id === 6 ? stopped : undefined,
    hostState: (id) => id === 5 ? hostStateOf(stopped) : id === 7 ? hostStateOf(running) : undefined,
    traffic: () => traffic(7),
    connections: (clientId, { offset, limit }) => {
      asked.push(['connections', clientId, offset, limit]);
      return page;
    },
    closeConnection: (clientId, id) => {
      asked.push(['closeConnection', clientId, id]);
      return id === 50 ? connectionOf('host') : undefined;
    },
    probe: async (...given) => {
      asked.push(['probe', ...given]);
      return 'refused';
    },
  });
  const entry = await add(5, {}, { inletBytes: 1, exportBytes: 2 });
  entry.connected(sessionOf('192.0.2.1', '1.0', true), 100);
  tunnels.add(tunnelOf({ id: 8, clientId: 5 }), { inletBytes: 3, exportBytes: 4 });
  environment.hosts.set(hostOf({ id: 9, clientId: 5 }), { inletBytes: 5, exportBytes: 6 });
  const get = <T>(request: NodeRequest, schema: z.ZodType<T>) => ask(link, request, schema, 60_000);

  expect(await get({ kind: 'clients', ids: [6, 4, 5] }, answers.clientAnswers)).toEqual([away[0], null, here]);
  expect(await get({ kind: 'tunnels', ids: [6, 4, 5] }, answers.tunnelAnswers)).toEqual([withoutHealth(stopped), null, withoutHealth(running)]);
  expect(await get({ kind: 'hosts', ids: [7, 4, 5] }, answers.hostAnswers)).toEqual([running, null, stopped].map((state) => (
    state && hostStateOf({ ...state, health: null })
  )));
  expect(await get({ kind: 'traffic' }, answers.trafficAnswer)).toEqual(traffic(7));
  expect(await get({ kind: 'agentSessions', clientId: 5 }, answers.agentSessionsAnswer)).toEqual(entry.history.sessions);
  expect(await get({ kind: 'agentSessions', clientId: 6 }, answers.agentSessionsAnswer)).toEqual([]);
  expect(await get({ kind: 'totals', clientId: 5 }, answers.totalsAnswer)).toEqual({
    client: { inletBytes: 1, exportBytes: 2 },
    tunnels: [{ id: 8, inletBytes: 3, exportBytes: 4 }],
    hosts: [{ id: 9, inletBytes: 5, exportBytes: 6 }],
  });
  expect(await get({ kind: 'totals', clientId: 6 }, answers.totalsAnswer)).toBeNull();
  expect(await get({ kind: 'connections', clientId: 51, offset: 60, limit: 61 }, answers.connectionsAnswer)).toEqual(page);
  expect(await get({ kind: 'closeConnection', clientId: 51, id: 50 }, answers.closedAnswer)).toEqual(connectionOf('host'));
  expect(await get({ kind: 'closeConnection', clientId: 51, id: 49 }, answers.closedAnswer)).toBeNull();
  expect(await get({ kind: 'probe', clientId: 51, target: 't:1', timeoutMs: 62 }, answers.probeAnswer)).toBe('refused');
  expect(asked).toEqual([['connections', 51, 60, 61], ['closeConnection', 51, 50], ['closeConnection', 51, 49], ['probe', 51, 't:1', 62]]);
});

const dial = encodeOpen({ kind: 'dial', targets: ['127.0.0.1:1'], timeoutMs: 1 });
const visitor = { kind: 'visitor', of: 'tunnel', address: '192.0.2.7', port: 70, dataFollows: false, passedOn: false } as const;

/** How a node answers the request to carry a visitor's connection: the result of a dial, or "" = the stream is reset. */
function outcome(link: Mux, request: NodeRequest<'visitor'>, payload = dial): Promise<string> {
  return new Promise((resolve) => {
    link.open(encodeNodeRequest(request, payload))?.join(new MessageSocket('', (message) => resolve(message ? decodeDialResult(message[0]) : '')));
  });
}

test("a home refuses visitors of what is not the client's, or stopped, and says why it admits none; each refusal counts for the record and the client", async () => {
  const { environment, tunnels, link, add } = await serving();
  const used = { inletBytes: 1, exportBytes: 1 };
  const entries = [await add(1), await add(2, { flowLimit: 1 }, used), await add(3, { maxConnections: 1 }), await add(4, { enabled: false }), await add(5)];
  for (const id of [1, 2, 3, 4]) tunnels.add(tunnelOf({ id, clientId: id, mode: 'secret', password: `${id}` }), fresh);
  tunnels.add(tunnelOf({ id: 5, clientId: 5, enabled: false }), fresh);
  environment.hosts.set(hostOf({ id: 1, clientId: 2, host: 'a.test' }));
  environment.hosts.set(hostOf({ id: 5, clientId: 5, host: 'b.test', enabled: false }));
  const third = entries[2];
  if (third) third.meter.connections = 1;
  const of = (clientId: number, record: 'tunnel' | 'host', id: number, payload = dial) => outcome(link, { ...visitor, clientId, of: record, id }, payload);
  // What is not there, is another client's, or is stopped.
  for (const [clientId, record, id] of [[9, 'tunnel', 1], [1, 'tunnel', 2], [1, 'host', 1], [1, 'host', 9], [5, 'tunnel', 5], [5, 'host', 5]] as const) {
    expect([clientId, record, id, await of(clientId, record, id)]).toEqual([clientId, record, id, '']);
  }
  expect(environment.ticker.refusals.take()).toEqual([]);
  expect([await of(1, 'tunnel', 1), await of(2, 'tunnel', 2), await of(2, 'host', 1), await of(3, 'tunnel', 3), await of(4, 'tunnel', 4)])
    .toEqual(['offline', 'exhausted', 'exhausted', 'crowded', 'offline']);
  // Only who dials understands a result.
  expect(await of(1, 'tunnel', 1, encodeOpen({ kind: 'tcp', targets: ['127.0.0.1:1'] }))).toBe('');
  expect(entries.map(({ refusals: counts }) => counts)).toEqual([{ offline: 2 }, { flow: 2 }, { connections: 1 }, { disabled: 1 }, {}]);
  expect([1, 2, 3, 4].map((id) => tunnels.get(id)?.state.refusals)).toEqual([{ offline: 2 }, { flow: 1 }, { connections: 1 }, { disabled: 1 }]);
  expect(environment.hosts.get(1)?.refusals).toEqual({ flow: 1 });
});

test("a visitor's connection is carried with all that its node said of it, or passed on once to where the agent has gone", async () => {
  const opened: unknown[] = [];
  const opener = (name: string): Opener => ({
    open: (payload, dataFollows, credit, from) => {
      const { socket, ...rest } = from ?? {};
      opened.push([name, String(payload), dataFollows, credit, rest, socket && [socket.remoteAddress, socket.remotePort, socket.local]]);
      return undefined;
    },
  });
  const nodes = otherNodes({
    openerTo: (clientId, localProxy) => {
      opened.push(['asked', clientId, localProxy]);
      return opener('elsewhere');
    },
  });
  const { tunnels, requests, link, add } = await serving(nodes);
  const entry = await add(1);
  for (const localProxy of [false, true]) {
    tunnels.add(tunnelOf({ id: localProxy ? 3 : 2, clientId: 1, mode: 'secret', password: `${localProxy}`, localProxy }), fresh);
  }
  const local = { address: '192.0.2.8', port: 80 };
  const request = { ...visitor, clientId: 1, id: 2, dataFollows: true, credit: 20_000, local };
  const takes = async (more: Partial<NodeRequest<'visitor'>> = {}) => {
    opened.length = 0;
    return [await outcome(link, { ...request, ...more }), ...opened];
  };
  const payload = String(dial);
  const origin = ['192.0.2.7', 70, local];
  const [asked, elsewhere] = [['asked', 1, false], ['elsewhere', payload, true, 20_000, { of: 'tunnel', id: 2, passedOn: true }, origin]];
  expect(await takes()).toEqual(['', asked, elsewhere]);
  expect(await takes({ dataFollows: false, credit: undefined, local: undefined })).toEqual([
    '',
    asked,
    ['elsewhere', payload, false, undefined, { of: 'tunnel', id: 2, passedOn: true }, ['192.0.2.7', 70, undefined]],
  ]);
  expect(await takes({ passedOn: true })).toEqual(['offline']);
  // Only the home dials for a client, and this node is not the home.
  expect(await takes({ id: 3, passedOn: true })).toEqual(['offline']);
  entry.session = sessionOf('192.0.2.1', '1', false);
  const session = opener('agent');
  entry.session.open = (...given) => void session.open(...given);
  expect(await takes()).toEqual(['', ['agent', payload, true, 20_000, {}, undefined]]);
  expect(await takes({ dataFollows: false, credit: undefined })).toEqual(['', ['agent', payload, false, undefined, {}, undefined]]);
  expect([2, 3].map((id) => tunnels.get(id)?.state.refusals)).toEqual([{ offline: 1, agentCapacity: 2 }, { offline: 1 }]);

  // A visitor who came to this node before it was the home.
  const came = { of: 'tunnel', id: 2, socket: { remoteAddress: '192.0.2.7', remotePort: 70 } } as const;
  opened.length = 0;
  expect(requests.open(1, dial, true, 20_000)).toBeUndefined();
  const stream = requests.open(1, dial, true, 20_000, came);
  expect(opened).toEqual([['agent', payload, true, 20_000, {}, undefined]]);
  await new Promise<void>((resolve) => stream?.join(new MessageSocket('', (message) => resolve(expect(message).toBeUndefined()))));
});

test("of a p2p tunnel's visitor at another node, the request for a direct path is replaced by the home's own; other connections are carried as they are", async () => {
  const { tunnels, link, add } = await serving();
  await add(1);
  tunnels.add(tunnelOf({ id: 2, clientId: 1, mode: 'p2p', password: 'p' }), fresh);
  const runner = tunnels.get(2);
  if (!runner) throw new Error('it was added');
  const asked = jest.spyOn(runner, 'onDirect').mockImplementation((socket) => socket.destroy());
  const request = { ...visitor, clientId: 1, id: 2 };
  const direct = encodeOpen({ kind: 'direct', tunnelId: 2, password: 'p', targets: ['127.0.0.1:1'], stunPorts: [1] });
  expect(await outcome(link, request, direct)).toBe('');
  expect(asked.mock.calls.map(([{ remoteAddress, remotePort }]) => [remoteAddress, remotePort])).toEqual([['192.0.2.7', 70]]);
  expect([await outcome(link, request), asked.mock.calls.length]).toEqual(['offline', 1]);
});

test("streams between nodes are known as their client's, and leave TLS only if the client's bytes may", async () => {
  const { link, streams, add } = await serving();
  await add(5);
  await add(6, { crypt: true });
  const opened: Array<Stream | undefined> = [];
  const openFor = (_: number, ...given: Parameters<Mux['open']>) => {
    const stream = link.open(...given);
    opened.push(stream);
    return stream;
  };
  const socket = { remoteAddress: '192.0.2.7', remotePort: 70 };
  for (const [clientId, crypt] of [[5, false], [6, true], [9, true]] as const) {
    new HomeOpener({ shortRequests: true, openFor }, clientId, crypt).open(dial, false, undefined, { of: 'tunnel', id: 1, socket });
  }
  await eventually(() => streams.length, (count) => count === 3);
  for (const all of [opened, streams]) expect(all.map((stream) => [stream?.owner, stream?.mayMove])).toEqual([[5, true], [6, false], [9, false]]);
});
