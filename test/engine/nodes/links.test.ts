import net from 'node:net';
import { expect, test } from '@jest/globals';
import { NodeLink } from '../../../src/engine/nodes/node-link.ts';
import { keyIdOf, proveHandshake } from '../../../src/wire/handshake.ts';
import { netBackend } from '../../../src/wire/net-socket.ts';
import { encodeNodeRequest } from '../../../src/wire/node-messages.ts';
import { eventually } from '../../support/eventually.ts';
import { LogRecorder } from '../../support/log-recorder.ts';
import { meet, NODE_KEY, reached, startNode, startNodes, type TestNode } from '../../support/nodes.ts';
import { RawPeer } from '../../support/raw-peer.ts';
import { CLIENT, startAgent } from '../../support/tunnel.ts';

const info = { name: 'somebody', version: '1', host: '127.0.0.1', port: 1, bridgePort: 1 };

function dial({ bridge }: TestNode, key: string, name: string): Promise<NodeLink> {
  const peer = { name, host: '127.0.0.1', port: bridge.tls.port, bridgePort: bridge.port };
  return NodeLink.open({ peer, sockets: netBackend, log: new LogRecorder().logger, key, info });
}

/** Lets a node connect that only speaks its role, over TLS or not. */
async function prove({ bridge }: TestNode, { key = NODE_KEY, tls = true, said = info }: { key?: string; tls?: boolean; said?: object }): Promise<unknown> {
  const socket = await netBackend.connect({
    host: '127.0.0.1',
    port: tls ? bridge.tls.port : bridge.port,
    ...tls && { trust: { fingerprint: '' } },
    timeoutMs: 2000,
  });
  try {
    return (await proveHandshake(socket, { timeoutMs: 5000, role: 'node', keyId: keyIdOf(key), key, connection: 0, info: said })).body;
  } finally {
    socket.destroy();
  }
}

test('nodes find each other by a list that one of them has, and again after a loss', async () => {
  const [one, two, three] = [await startNode('one'), await startNode('two'), await startNode('three')];
  // The others learn from it.
  one.engine.nodes?.use([two, three].map(({ name, bridge }) => ({ name, host: '127.0.0.1', port: bridge.tls.port, bridgePort: bridge.port })));
  await eventually(() => reached(one), (names) => names.length === 2);
  await eventually(() => [reached(two), reached(three)], ([a, b]) => a?.[0] === 'one' && b?.[0] === 'one');
  meet([one, two, three]);
  await eventually(() => [reached(two), reached(three)], (all) => all.every((names) => names.length === 2));
  await three.engine.close();
  await eventually(() => [reached(one), reached(two)], (all) => all.every((names) => names.length === 1));
  expect([reached(one), reached(two)]).toEqual([['two'], ['one']]);
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
  node?.engine.nodes?.use([{ name: 'other', host: '127.0.0.1', port: other.bridge.tls.port, bridgePort: other.bridge.port }]);
  await node?.log.line(/another node cannot be reached/);
  expect(node && reached(node)).toEqual([]);
  pretender.close();
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
  expect(link.open(encodeNodeRequest({ kind: 'traffic' }))?.over).toBe(false);
  link.close();
});
