import { expect, test } from '@jest/globals';
import { ClientUsage } from '../../src/engine/limits/client-usage.ts';
import { Meter, NO_BYTES, Ticker } from '../../src/engine/limits/meter.ts';
import { VisitorTrace } from '../../src/engine/limits/visitor-trace.ts';
import { Visitors } from '../../src/engine/limits/visitors.ts';
import { Connections } from '../../src/engine/tunnels/connections.ts';
import type { StreamHooks } from '../../src/wire/stream.ts';
import { EmptySocket } from '../support/empty-socket.ts';
import { eventually } from '../support/eventually.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { closed, roundTrip, startEcho, startTarget, visit } from '../support/target.ts';
import { CLIENT, openTunnel, startAgent, startEngine } from '../support/tunnel.ts';

test('open connections are listed with visitor, tunnel, start time and bytes; closing one closes it on both sides', async () => {
  const server = await startEngine();
  await startAgent(server);
  const before = Date.now();
  const { id, port } = await openTunnel(server, { targets: [(await startEcho()).address] });
  const [one, two] = [await visit(port), await visit(port)];
  await roundTrip(one, 'hello');
  await roundTrip(two, 'hello there');
  const all = () => server.engine.connections(CLIENT.id, { offset: 0, limit: 10 }).rows;
  const states = all();
  expect(states).toMatchObject([
    { clientId: CLIENT.id, through: { kind: 'tunnel', id }, address: '127.0.0.1', port: one.localPort, inletBytes: 5, exportBytes: 5 },
    { port: two.localPort, inletBytes: 11, exportBytes: 11 },
  ]);
  expect(server.engine.connections(CLIENT.id, { offset: 1, limit: 1 })).toMatchObject({ rows: [{ port: two.localPort }], total: 2 });
  expect(server.engine.connections(CLIENT.id, { offset: 0, limit: 1 })).toMatchObject({ rows: [{ port: one.localPort }], total: 2 });
  expect(states[0]?.since).toBeGreaterThanOrEqual(before);
  // Of the last second, which may begin between the two directions.
  expect([11, 22]).toContain(await eventually(() => all()[1]?.rate ?? 0, (rate) => rate > 0));

  expect(server.engine.closeConnection(CLIENT.id, 0)).toBeUndefined();
  expect(server.engine.closeConnection(CLIENT.id, states[0]?.id ?? 0)).toMatchObject({ id: states[0]?.id });
  await closed(one);
  expect(all().map(({ port: visitor }) => visitor)).toEqual([two.localPort]);
  await roundTrip(two, 'still here');
});

test('what an open connection has received and sent are counted apart', async () => {
  const server = await startEngine();
  await startAgent(server);
  const target = await startTarget((socket) => void socket.once('data', () => socket.write('a longer answer')));
  const visitor = await visit((await openTunnel(server, { targets: [target.address] })).port);
  visitor.write('ask');
  const [row] = await eventually(() => server.engine.connections(CLIENT.id, { offset: 0, limit: 1 }).rows, ([state]) => state?.exportBytes === 15);
  expect(row).toMatchObject({ inletBytes: 3, exportBytes: 15 });
});

const unread = { tight: false, open: () => undefined, add: () => undefined, close: () => undefined };

test.each(
  [
    ['capacity', { shares: { total: 0, perAddress: 0 } }],
    ['connections', { limits: { maxConnections: 1 } }],
    ['agentCapacity', {}],
  ] as const,
)('a connection that is refused for the cause %s is counted for tunnel and client, traced, reset, and over', (cause, { shares, limits }: Partial<Tight>) => {
  const ticker = new Ticker();
  const tunnel = new Meter(ticker, 'tunnel', 1, NO_BYTES);
  const client = new ClientUsage(ticker, { ...CLIENT, ...limits }, NO_BYTES, () => undefined);
  client.connections = 1;
  const socket = new EmptySocket();
  let over = 0;
  const trace = new LogRecorder();
  const visitors = new Visitors(shares, undefined, VisitorTrace.of(trace.logger));
  new Connections(tunnel, visitors).carry(socket, { open: () => undefined }, client, Buffer.alloc(0), { onOver: () => over++ });
  expect([socket.destroyed, over, tunnel.connections, client.connections, visitors.open]).toEqual([true, 1, 0, 1, 0]);
  expect([tunnel.refusals, client.refusals]).toEqual([{ [cause]: 1 }, { [cause]: 1 }]);
  expect(trace.entries).toEqual([expect.objectContaining({ msg: 'refused', clientId: CLIENT.id, cause })]);
});

interface Tight {
  readonly shares: { readonly total: number; readonly perAddress: number };
  readonly limits: Partial<typeof CLIENT>;
}

test('a connection to another server is limited, counted and listed there: here it is one of the visitors until it is over', () => {
  const ticker = new Ticker();
  const client = new ClientUsage(ticker, { ...CLIENT, maxConnections: 1 }, NO_BYTES, () => undefined);
  client.connections = 1;
  const trace = new LogRecorder();
  const visitors = new Visitors(undefined, undefined, VisitorTrace.of(trace.logger));
  for (const kind of ['tunnel', 'host'] as const) {
    const meter = new Meter(ticker, kind, 7, NO_BYTES);
    const socket = new EmptySocket();
    const [opened, joined]: [unknown[], StreamHooks[]] = [[], []];
    const elsewhere = {
      elsewhere: true,
      open: (...given: unknown[]) => {
        opened.push(given);
        return { id: 9, over: false, join: (_local: unknown, hooks: StreamHooks) => void joined.push(hooks), reset: () => undefined };
      },
    };
    let over = 0;
    new Connections(meter, visitors).carry(socket, elsewhere, client, Buffer.from('x'), { dataFollows: true, credit: 5, unread, onOver: () => over++ });
    expect(opened).toEqual([[Buffer.from('x'), true, 5, { of: kind, id: 7, socket }]]);
    expect([visitors.open, over, meter.connections, client.connections, client.open.size, joined[0]?.unread]).toEqual([1, 0, 0, 1, 0, unread]);
    joined[0]?.onClose?.();
    expect([visitors.open, over]).toEqual([0, 1]);
    expect(trace.entries.splice(0)).toEqual([
      expect.objectContaining({ msg: 'opened', clientId: CLIENT.id, stream: 9, elsewhere: true }),
      expect.objectContaining({ msg: 'closed', reason: 'both sides have ended' }),
    ]);
  }
});

test('the connections of a tunnel are closed, and those of others that count for the same client are not', () => {
  const ticker = new Ticker();
  const client = new ClientUsage(ticker, CLIENT, NO_BYTES, () => undefined);
  const visitors = new Visitors();
  let over = 0;
  const [one, other] = [1, 2].map((id) => new Connections(new Meter(ticker, 'tunnel', id, NO_BYTES), visitors));
  const carry = (connections: Connections | undefined): void => {
    const joined: StreamHooks[] = [];
    const stream = { over: false, join: (_local: unknown, hooks: StreamHooks) => void joined.push(hooks), reset: () => joined[0]?.onClose?.() };
    connections?.carry(new EmptySocket(), { open: () => stream }, client, Buffer.alloc(0), { unread, onOver: () => over++ });
    expect(joined[0]?.unread).toBe(unread);
  };
  for (const connections of [one, other, one]) carry(connections);
  expect([client.connections, client.open.size]).toEqual([3, 3]);
  one?.closeAll();
  expect([client.connections, client.open.size, visitors.open, over]).toEqual([1, 1, 1, 2]);
  expect([...client.open].map(({ state }) => state.through.id)).toEqual([2]);
});
