import net from 'node:net';
import process from 'node:process';
import { expect, jest, test } from '@jest/globals';
import { LinkKeys } from '../../../src/engine/bridge/link-keys.ts';
import { LocalFace } from '../../../src/engine/local-face.ts';
import { HomeOpener } from '../../../src/engine/nodes/home-opener.ts';
import { NodeLink } from '../../../src/engine/nodes/node-link.ts';
import { Attempts } from '../../../src/rules/attempts.ts';
import { keyIdOf, proveHandshake } from '../../../src/wire/handshake.ts';
import { netBackend } from '../../../src/wire/net-socket.ts';
import { decodeNodeRequest, encodeNodeRequest } from '../../../src/wire/node-messages.ts';
import type { ConnectOptions } from '../../../src/wire/socket.ts';
import { eventually } from '../../support/eventually.ts';
import { LogRecorder } from '../../support/log-recorder.ts';
import { meet, NODE_KEY, reached, startNode, startNodes, type TestNode } from '../../support/nodes.ts';
import { RawPeer } from '../../support/raw-peer.ts';
import { CLIENT, startAgent } from '../../support/tunnel.ts';

/** Attackers of each kind, and what one may cost, in ms of CPU, on both sides. */
const ATTEMPTS = 40;
const ATTEMPT_CPU_MS = 40;

const info = { name: 'somebody', version: '1', host: '127.0.0.1', port: 1, bridgePort: 1 };

/** With a time limit that holds on a busy machine, too. */
const sockets = { ...netBackend, connect: (options: ConnectOptions) => netBackend.connect({ ...options, timeoutMs: 60_000 }) };

function dial({ bridge }: TestNode, key: string, name: string): Promise<NodeLink> {
  const peer = { name, host: '127.0.0.1', port: bridge.tls.port, bridgePort: bridge.port };
  return NodeLink.open({ peer, sockets, keys: new LinkKeys(key), info, linkKind: 'tls', log: new LogRecorder().logger });
}

/** Lets a node connect that only speaks its role, over TLS or not. */
async function prove({ bridge }: TestNode, { key = NODE_KEY, tls = true, said = info }: { key?: string; tls?: boolean; said?: object }): Promise<unknown> {
  const socket = await netBackend.connect({
    host: '127.0.0.1',
    port: tls ? bridge.tls.port : bridge.port,
    ...tls && { trust: { fingerprint: '' } },
    timeoutMs: 60_000,
  });
  try {
    return (await proveHandshake(socket, { timeoutMs: 60_000, role: 'node', keyId: keyIdOf(key), key, connection: 0, info: said })).body;
  } finally {
    socket.destroy();
  }
}

test('nodes find each other by a list that one of them has, and again after a loss', async () => {
  const [one, two, three] = [await startNode('one'), await startNode('two'), await startNode('three')];
  // The others learn from it.
  one.engine.nodes?.use(
    [two, three].map(({ name, bridge }) => ({ name, host: '127.0.0.1', port: bridge.tls.port, bridgePort: bridge.port })),
    performance.now(),
  );
  await eventually(() => reached(one), (names) => names.length === 2);
  await eventually(() => [reached(two), reached(three)], ([a, b]) => a?.[0] === 'one' && b?.[0] === 'one');
  meet([one, two, three]);
  await eventually(() => [reached(two), reached(three)], (all) => all.every((names) => names.length === 2));
  await three.engine.close();
  await eventually(() => [reached(one), reached(two)], (all) => all.every((names) => names.length === 1));
  expect([reached(one), reached(two)]).toEqual([['two'], ['one']]);
  // Both say so until the database no longer has it.
  const unreached = () => [one, two].map(({ engine }) => engine.nodes?.unreached ?? []);
  const since = () => unreached().map(([first]) => first?.since);
  const lost = since();
  const attempts = () => one.log.entries.filter(({ msg }) => msg.startsWith('another node cannot be reached'));
  await eventually(attempts, ({ length }) => length >= 2);
  expect([since(), attempts().map(({ level }) => level).filter((level) => level > 20)]).toEqual([lost, []]);
  const all = await eventually(unreached, (found) => found.every(([first]) => first?.problem.includes('ECONNREFUSED')));
  expect(all).toEqual([one, two].map(() => [{ name: 'three', since: expect.any(Number), problem: expect.any(String) }]));
  expect((await new LocalFace(one.engine).numbers()).counts.nodesUnreached).toBe(1);
  meet([one, two]);
  await eventually(unreached, (found) => found.every(({ length }) => length === 0));
});

test('an attacker, an agent and a node of another installation get no link, and learn nothing', async () => {
  const [node] = await startNodes(['node']);
  if (!node) throw new Error('there is a node');
  await startAgent(node);
  await expect(prove(node, { key: 'a guess' })).rejects.toMatchObject({ code: 'refused', refusal: { code: 'unknown-key' } });
  // With a key that it does know.
  await expect(prove(node, { key: CLIENT.vkey })).rejects.toMatchObject({ code: 'refused', refusal: { code: 'unknown-key' } });
  await expect(dial(node, 'the secret of another installation', 'node')).rejects.toMatchObject({ code: 'refused' });
  await node.log.line(/a server offered a secret that is not that of this installation/);
  // Even the right secret is not accepted where others can read along, change what is sent, or truncate it.
  await expect(prove(node, { tls: false })).rejects.toMatchObject({ code: 'refused', refusal: { code: 'tls-needed' } });
  // What an authenticated agent sends is none of a node's messages.
  const agent = await RawPeer.connect(node, {});
  agent.control({ type: 'homes', homes: [[CLIENT.id, Number.MAX_SAFE_INTEGER, true, false]] });
  agent.control({ type: 'allowed', clientId: CLIENT.id, address: '192.0.2.1' });
  await node.log.line(/the agent sent a control message that this server does not know/);
  expect(node.engine.nodes?.isHome(CLIENT.id)).toBe(true);
  expect(node.engine.isAllowedByPassword(CLIENT.id, '192.0.2.1')).toBe(false);
  expect(reached(node)).toEqual([]);
});

test('a node without others takes no links', async () => {
  const server = await startNode('alone', { node: undefined });
  await expect(prove(server, {})).rejects.toMatchObject({ code: 'refused', refusal: { code: 'unknown-key' } });
});

test('a server that only pretends to be a node is noticed before anything is sent to it', async () => {
  const pretender = net.createServer((socket) => socket.on('error', () => undefined).resume()).listen(0, '127.0.0.1');
  const [node] = await startNodes(['node']);
  const other = await startNode('other', { key: 'the secret of another installation' });
  await expect(dial(other, NODE_KEY, 'other')).rejects.toMatchObject({ code: 'refused' });
  node?.engine.nodes?.use([{ name: 'other', host: '127.0.0.1', port: other.bridge.tls.port, bridgePort: other.bridge.port }], performance.now());
  await node?.log.line(/another node cannot be reached/);
  expect(node && reached(node)).toEqual([]);
  pretender.close();
});

test('a node that does not know the short form of requests gets them in JSON', async () => {
  const visitor = { of: 'tunnel', id: 9, socket: { remoteAddress: '192.0.2.1', remotePort: 7, local: { address: '192.0.2.2', port: 8 } } } as const;
  const [short, long] = [true, false].map((shortRequests) => {
    const payloads: Buffer[] = [];
    const openFor = (clientId: number, payload: Buffer, ...how: unknown[]): undefined => {
      payloads.push(payload);
      expect([clientId, ...how]).toEqual([1, true, 128 * 1024]);
    };
    new HomeOpener({ shortRequests, openFor }, 1, false).open(Buffer.from('what follows'), true, 128 * 1024, visitor);
    return Buffer.concat(payloads);
  });
  for (const form of [short, long]) {
    expect(decodeNodeRequest(form ?? Buffer.alloc(0))).toEqual({
      request: {
        kind: 'visitor',
        clientId: 1,
        of: 'tunnel',
        id: 9,
        address: '192.0.2.1',
        port: 7,
        local: { address: '192.0.2.2', port: 8 },
        dataFollows: true,
        passedOn: false,
        credit: 128 * 1024,
      },
      rest: Buffer.from('what follows'),
    });
  }
  expect([short?.includes('"clientId":1'), long?.includes('"clientId":1')]).toEqual([false, true]);
  const [node] = await startNodes(['node']);
  if (!node) throw new Error('there is a node');
  const link = await dial(node, NODE_KEY, 'node');
  expect(link.shortRequests).toBe(true);
  link.close();
});

test('a node has one name: another one of the same name, and one that gives another name than expected, get no link', async () => {
  const [node] = await startNodes(['node']);
  if (!node) throw new Error('there is a node');
  await expect(prove(node, { said: { ...info, name: 'node' } })).rejects.toMatchObject({ refusal: { code: 'same-name' } });
  await expect(prove(node, { said: { ...info, name: '../x' } })).rejects.toMatchObject({ refusal: { code: 'bad-info' } });
  await expect(dial(node, NODE_KEY, 'somebody')).rejects.toThrow(/is node, not somebody/);
});

test('streams that a node opens for what there is not, or in another form, are reset, and the link stays', async () => {
  const [node] = await startNodes(['node']);
  if (!node) throw new Error('there is a node');
  const link = await dial(node, NODE_KEY, 'node');
  const payloads = [
    Buffer.alloc(0),
    Buffer.from('\u0000\u0005nonsense'),
    encodeNodeRequest({ kind: 'visitor', clientId: 1, of: 'tunnel', id: 99, address: '192.0.2.1', port: 1, dataFollows: false, passedOn: false }),
    encodeNodeRequest({ kind: 'visitor', clientId: 99, of: 'host', id: 99, address: '192.0.2.1', port: 1, dataFollows: false, passedOn: false }),
  ];
  for (const payload of payloads) {
    const stream = link.open(payload);
    await eventually(() => stream?.over, (over) => over === true);
  }
  link.send({ type: 'committed' });
  // The requests of one client that wait leave others theirs, until the connection takes them.
  const large = Buffer.alloc(64_000, 1);
  const taken = (clientId: number, times: number) => Array.from({ length: times }, () => link.openFor(clientId, large) !== undefined);
  expect([taken(1, 5), taken(2, 1)]).toEqual([[true, true, true, true, false], [true]]);
  await eventually(() => taken(1, 1), ([one]) => one === true);
  expect(link.open(encodeNodeRequest({ kind: 'traffic' }))?.over).toBe(false);
  link.close();
});

test('nodes compare the settings that must be the same: of two that differ, the younger one knows it, until the other one leaves', async () => {
  const settings = { p2p_port: 'a', allow_ports: 'a' };
  const one = await startNode('one', { settings, startedAt: 1 });
  const two = await startNode('two', { settings, startedAt: 2 });
  const three = await startNode('three', { settings: { ...settings, p2p_port: 'b', of_the_next_version: 'c' }, startedAt: 3 });
  meet([one, two, three]);
  const different = ({ engine }: TestNode) => engine.nodes?.differentSettings;
  const from = (node: string, isOlder: boolean) => ({ node, settings: ['p2p_port'], isOlder });
  await eventually(() => different(three), (found) => found?.length === 2);
  expect(different(three)).toEqual(expect.arrayContaining([from('one', true), from('two', true)]));
  await eventually(() => [different(one), different(two)], ([ofOne, ofTwo]) => ofOne?.length === 1 && ofTwo?.length === 1);
  expect([different(one), different(two)]).toEqual([[from('three', false)], [from('three', false)]]);
  await three.log.line(/settings that must be the same on all servers differ from those of another one: this one, which was started later, is not ready/);
  one.engine.nodes?.leave(true);
  await eventually(() => different(three), (found) => found?.length === 1);
  await two.engine.close();
  await eventually(() => different(three), (found) => found?.length === 0);
});

test('the secret of the links is changed without ending a session between nodes that have the new one; others are ended', async () => {
  const [one, two, other] = await startNodes(['one', 'two', 'other']);
  if (!one || !two || !other) throw new Error('there are three nodes');
  const links = [...one.engine.nodes?.links() ?? [], ...two.engine.nodes?.links() ?? []].filter(({ peer }) => peer.name !== 'other');
  const attacker = await dial(one, NODE_KEY, 'one');
  for (const { engine } of [one, two]) engine.nodes?.useKey(NODE_KEY, 'the next secret');
  (await dial(one, 'the next secret', 'one')).close();
  for (const { engine } of [one, two]) engine.nodes?.useKey('the next secret', undefined, 1000);
  // Each report says it again.
  for (const { engine } of [one, two]) engine.nodes?.useKey('the next secret');
  // The previous one is accepted until all have noticed.
  (await dial(one, NODE_KEY, 'one')).close();
  await attacker.ended;
  await eventually(() => [reached(one), reached(two)], ([ofOne, ofTwo]) => ofOne?.join() === 'two' && ofTwo?.join() === 'one');
  expect([...one.engine.nodes?.links() ?? [], ...two.engine.nodes?.links() ?? []]).toEqual(links);
  await expect(dial(one, NODE_KEY, 'one')).rejects.toMatchObject({ code: 'refused' });
  // Each of both has ended the sessions of the attacker and of the other node.
  const ended = one.log.entries.filter((entry) => JSON.stringify(entry).includes('the key of the installation was changed without this server'));
  expect(ended.length).toBeGreaterThanOrEqual(2);
});

test('a secret that is changed twice within the time for which the previous one is accepted stays the last one', async () => {
  const { engine: { nodes } } = await startNode('one');
  if (!nodes) throw new Error('there is a node');
  const timers = jest.spyOn(globalThis, 'setTimeout');
  nodes.useKey('the first secret');
  expect(timers.mock.calls.map(([, ms]) => ms)).toContain(10_000);
  timers.mockRestore();
  nodes.useKey('the second secret', undefined, 20);
  nodes.useKey('the third secret', undefined, 200);
  const from = performance.now();
  const seen = new Set<string>();
  await eventually(() => {
    // Each report says it again.
    nodes.useKey('the third secret');
    seen.add(nodes.keys.current);
    return nodes.keys.accepts('the second secret');
  }, (accepted) => !accepted);
  expect([...seen]).toEqual(['the third secret']);
  expect(performance.now() - from).toBeGreaterThan(190);
});

test('wrong guesses count at all nodes, and the end of a lockout, too', async () => {
  const [first, second] = [new Attempts(), new Attempts()];
  const [one, two] = [await startNode('one', { attempts: first }), await startNode('two', { attempts: second })];
  meet([one, two]);
  await eventually(() => [reached(one), reached(two)], (all) => all.every((names) => names.length === 1));
  const now = Date.now();
  const guess = (attempts: Attempts) => attempts.guess('login', '192.0.2.1', 'somebody', now, () => false);
  for (let guessed = 0; guessed < 5; guessed++) for (const attempts of [first, second]) expect(guess(attempts)).toBe('wrong');
  await eventually(() => [first, second].map((attempts) => attempts.lockouts(now).length), (counts) => counts.join() === '1,1');
  expect([guess(first), guess(second)]).toEqual(['wait', 'wait']);
  second.free({ kind: 'address', source: '192.0.2.1' }, now);
  await eventually(() => first.lockouts(now).length, (count) => count === 0);
  // Keys of agents, of which the same one counts once.
  for (const key of ['a', 'b', 'c', 'c']) first.keyFailed('192.0.2.2', now, key);
  await eventually(() => second.lockouts(Date.now()).map(({ source }) => source), (sources) => sources.join() === '192.0.2.2');
});

test('guesses of names that are long as JSON, more at once than a message can carry, count where they were made, and end no link', async () => {
  const [first, second] = [new Attempts(), new Attempts()];
  const nodes = [await startNode('one', { attempts: first }), await startNode('two', { attempts: second })];
  meet(nodes);
  await eventually(() => nodes.map(reached), (all) => all.every((names) => names.length === 1));
  const now = Date.now();
  // Each character becomes six bytes.
  const name = '\u0001'.repeat(100);
  const guessFrom = (address: number) => first.guess('login', `2001:db8:${address.toString(16)}::1`, name, now, () => false);
  // The name waits after 60 guesses; each address has 10 more for other names.
  for (let address = 1; address <= 200; address++) for (const _ of [1, 2, 3]) guessFrom(address);
  await eventually(() => second.lockouts(Date.now()).map(({ kind }) => kind), (kinds) => kinds.includes('name'));
  expect(nodes.map(reached)).toEqual([['two'], ['one']]);
  for (const { log } of nodes) expect(log.entries.filter(({ msg }) => msg === 'the session with another node was lost')).toEqual([]);
});

test('many who have another secret, a key of a client, or nothing are held up themselves, cost little each, and leave nothing; a node gets its link at once', async () => {
  const [node] = await startNodes(['node']);
  if (!node) throw new Error('there is a node');
  const { cpuUsage } = process;
  const before = cpuUsage();
  const silent = Array.from({ length: ATTEMPTS }, () => net.connect(node.bridge.tls.port, '127.0.0.1').on('error', () => undefined));
  let answered = 0;
  const refused = Array.from(
    { length: ATTEMPTS },
    (_, index) => prove(node, { key: index % 2 === 0 ? CLIENT.vkey : `secret ${index}` }).catch((error: unknown) => error).finally(() => answered++),
  );
  await eventually(() => node.engine.counts.refused, (count) => count > 0);
  const link = await dial(node, NODE_KEY, 'node');
  // It waits for none of them: they are still held up.
  expect(answered).toBeLessThan(ATTEMPTS);
  for (const error of await Promise.all(refused)) expect(error).toMatchObject({ code: 'refused' });
  const { user, system } = cpuUsage(before);
  // Both sides of a TLS handshake are here.
  expect((user + system) / 1000 / (2 * ATTEMPTS)).toBeLessThan(ATTEMPT_CPU_MS);
  for (const socket of silent) socket.destroy();
  await eventually(() => node.engine.counts.handshakes, (count) => count === 0);
  expect(reached(node)).toEqual([]);
  link.close();
});
