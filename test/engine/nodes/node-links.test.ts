import { afterEach, expect, jest, test } from '@jest/globals';
import { LinkKeys } from '../../../src/engine/bridge/link-keys.ts';
import { NodeLink } from '../../../src/engine/nodes/node-link.ts';
import { NodeLinks, type NodeLinksParts } from '../../../src/engine/nodes/node-links.ts';
import { acceptHandshake } from '../../../src/wire/handshake.ts';
import { Mux } from '../../../src/wire/mux.ts';
import { netBackend } from '../../../src/wire/net-socket.ts';
import { NODE_SESSION, type NodeLinkKind } from '../../../src/wire/node-messages.ts';
import { socketPair } from '../../../src/wire/socket-pair.ts';
import type { ByteSocket, ConnectOptions } from '../../../src/wire/socket.ts';
import { eventually } from '../../support/eventually.ts';
import { LogRecorder } from '../../support/log-recorder.ts';
import { deferred } from '../../support/wire.ts';

const ends: Array<() => void> = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const peer = { name: 'other', host: '192.0.2.1', port: 1, bridgePort: 2 };
const info = { name: 'own', version: '1', host: '192.0.2.2', port: 1, bridgePort: 2 };

function closing(socket: ByteSocket): Promise<void> {
  return new Promise((resolve) => socket.attach({ onData: () => undefined, onEnd: () => undefined, onDrain: () => undefined, onClose: () => resolve() }));
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
}

/** The other node. @param name as it says @param beforeAnswer awaited before it accepts a session @param onData what it does with data connections */
function otherNode({ name = 'other', beforeAnswer = async () => {}, onData = async (_near: ByteSocket) => {} }: {
  readonly name?: string;
  readonly beforeAnswer?: () => Promise<void>;
  readonly onData?: (near: ByteSocket) => Promise<void>;
} = {}) {
  const sessions: Mux[] = [];
  /** What it is sent. */
  const heard: unknown[] = [];
  /** The ends of sessions that were opened. */
  const nears: ByteSocket[] = [];
  /** Where it is dialed. */
  const dialed: string[] = [];
  const connect = async ({ trust, host, port }: ConnectOptions): Promise<ByteSocket> => {
    dialed.push(`${host} ${port}`);
    const [near, far] = socketPair({ remoteAddress: '192.0.2.9', remotePort: 7 });
    if (trust === undefined) {
      await onData(near);
      void acceptHandshake(far, { timeoutMs: 60_000, keyOf: () => undefined }).catch(() => undefined);
      return near;
    }
    for (const end of [near, far]) Object.assign(end, { channelSecret: () => Buffer.from('secret') });
    nears.push(near);
    void acceptHandshake(far, { timeoutMs: 60_000, keyOf: () => 'k' }).then(async (offer) => {
      await beforeAnswer();
      offer.accept({ name, dataSession: '0'.repeat(32) });
      const mux = new Mux(
        far,
        'server',
        { onOpen: (stream) => stream.reset(), onControl: (message) => heard.push(message), onClose: () => undefined },
        NODE_SESSION,
      );
      ends.push(() => mux.close(''));
      sessions.push(mux);
    });
    return near;
  };
  return { sockets: { ...netBackend, connect }, sessions, heard, nears, dialed };
}

/** Opens a session with a node. */
function open(sockets: typeof netBackend, linkKind: NodeLinkKind = 'tls', keys = new LinkKeys('k')) {
  const log = new LogRecorder();
  return { log, link: NodeLink.open({ peer, sockets, keys, info, linkKind, log: log.logger }) };
}

test('a secret that is changed while a session begins is proven at once; a session that keeps its secret sends no proof', async () => {
  const keys = new LinkKeys('k');
  const { sockets, heard } = otherNode({ beforeAnswer: async () => keys.use('new', 'k') });
  for (const changed of [true, false]) {
    const link = await open(sockets, 'tls', changed ? keys : new LinkKeys('k')).link;
    await turns();
    expect(heard.splice(0)).toEqual(changed ? [{ type: 'key', proof: expect.any(String) }] : []);
    link.close();
  }
});

test('a session with another node than was meant is closed', async () => {
  const { sockets, nears } = otherNode({ name: 'somebody' });
  await expect(open(sockets).link).rejects.toThrow(/is somebody, not other/);
  let closed = 0;
  for (const near of nears) void closing(near).then(() => closed++);
  await turns();
  expect([nears.length, closed]).toEqual([1, 1]);
});

test('the log warns once that data connections cannot be opened, and the session learns of each', async () => {
  const failed = jest.spyOn(Mux.prototype, 'dataConnectionFailed');
  const { sockets, dialed } = otherNode({ onData: async () => Promise.reject(new Error('refused')) });
  const { log, link } = open(sockets, 'plain');
  await eventually(() => log.entries.length, (count) => count === 8);
  expect(log.entries.map(({ level, node, port }) => [level, node, port])).toEqual([40, ...Array(7).fill(20)].map((level) => [level, 'other', 2]));
  // Where the session leads: another address of the name may be another machine.
  expect(new Set(dialed)).toEqual(new Set(['192.0.2.1 1', '192.0.2.9 2']));
  expect(new Set(failed.mock.calls.map(([id]) => id)).size).toBe(8);
  failed.mockRestore();
  (await link).close();
});

/** All sessions of a node, and whether it can reach another one. */
function linksOf(sockets: typeof netBackend, more: Partial<NodeLinksParts> = {}) {
  const log = new LogRecorder();
  const events: string[] = [];
  const links = new NodeLinks({
    sockets,
    log: log.logger,
    keys: new LinkKeys('k'),
    linkKind: 'tls',
    name: 'own',
    version: '1',
    clock: () => 5,
    onUp: (link) => events.push(`up ${link.peer.name}`),
    onDown: (node) => events.push(`down ${node}`),
    onQuiet: (node, quiet) => events.push(`${quiet ? 'quiet' : 'heard'} ${node}`),
    ...more,
  });
  ends.push(() => links.close());
  links.open(info);
  return { links, events, log };
}

test('a session that comes about when the node has ended is closed', async () => {
  const begins = deferred<void>();
  const { sockets, sessions } = otherNode({ beforeAnswer: () => begins.promise });
  const { links, events } = linksOf(sockets);
  links.add(peer);
  await turns();
  links.close();
  begins.resolve();
  await eventually(() => sessions.length, (count) => count === 1);
  await eventually(() => sessions[0]?.open(Buffer.alloc(0)), (stream) => stream === undefined);
  expect([events, [...links.all()]]).toEqual([[], []]);
});

test('after a session, the first attempt follows as soon as ever', async () => {
  let fails = 4;
  const other = otherNode();
  const connect = async (options: ConnectOptions) => {
    if (fails-- > 0) throw new Error('gone');
    return other.sockets.connect(options);
  };
  const { links, events, log } = linksOf({ ...other.sockets, connect });
  const times = [performance.now()];
  links.add(peer);
  await eventually(() => events.length, (count) => count === 1);
  times.push(performance.now());
  expect([links.answers('other'), links.unreached]).toEqual([true, []]);
  fails = 1;
  other.sessions[0]?.close('over');
  await eventually(() => events.length, (count) => count === 3);
  times.push(performance.now());
  expect(events).toEqual(['up other', 'down other', 'up other']);
  // 100 and 200 ms; before, 400 and 800 ms more.
  const [began = 0, up = 0, again = 0] = times;
  expect(again - up).toBeLessThan(up - began);
  expect(log.entries.filter(({ msg }) => msg.startsWith('another node cannot be reached')).map(({ level }) => level)).toEqual([40, 20, 20, 20, 20]);
});

test('a node that is silent seems to be frozen until it is heard again; one whose session has just ended does not', async () => {
  const { links, events } = linksOf(otherNode().sockets);
  links.add(peer);
  const link = await eventually(() => links.get('other'), (found) => found !== undefined);
  if (!link) throw new Error('it was found');
  let silence = (): number => 801;
  Object.defineProperty(link, 'silence', { get: () => silence() });
  await eventually(() => events.length, (count) => count === 2);
  expect(links.answers('other')).toBe(false);
  silence = () => 800;
  await eventually(() => events.length, (count) => count === 3);
  expect(links.answers('other')).toBe(true);
  silence = () => {
    links.use([]);
    link.close();
    return 801;
  };
  await eventually(() => events.length, (count) => count === 4);
  await turns();
  expect(events).toEqual(['up other', 'quiet other', 'heard other', 'down other']);
});
