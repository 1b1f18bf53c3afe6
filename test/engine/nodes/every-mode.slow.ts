import { networkInterfaces, tmpdir } from 'node:os';
import { afterAll, describe, expect, test } from '@jest/globals';
import type { TunnelState, WantedClient, WantedTunnel } from '../../../src/engine/face.ts';
import { eventually } from '../../support/eventually.ts';
import { modes, type Visit } from '../../support/modes.ts';
import { applyEverywhere, openEverywhere, startNodes, type TestNode } from '../../support/nodes.ts';
import { Relay } from '../../support/relay.ts';
import { removeScratchDirectories } from '../../support/scratch.ts';
import { occupyPort } from '../../support/target.ts';
import { CLIENT, startAgent } from '../../support/tunnel.ts';

// Short form: test/engine/every-mode.test.ts

afterAll(removeScratchDirectories);

const agentOptions = { allowFiles: [tmpdir()] };
const canMeet = Object.values(networkInterfaces()).some((list) => list?.some(({ internal, family }) => !internal && family === 'IPv4'));
const rows = modes.filter(({ way }) => way !== 'direct' || canMeet).map((row) => ({ ...row, name: row.way ? `${row.mode}, ${row.way}` : row.mode }));

/** The visitor comes to one node, and the agent is connected to another one, which alone admits, counts and limits. */
describe.each(rows)('a visitor at another node, to a tunnel of type $name', ({ mode, way, target, visit, cannot = {} }) => {
  async function serving() {
    const options = way === 'relayed' ? { p2pPort: (await occupyPort()).port } : {};
    const [home, entry] = await startNodes(['home', 'entry'], options);
    if (!home || !entry) throw new Error('there are two nodes');
    const { agent } = await startAgent(home, agentOptions);
    const [atHome, tunnel] = await openEverywhere([home, entry], { mode, ...await target() });
    if (!atHome || !tunnel) throw new Error('there are two listeners');
    await eventually(() => entry.engine.nodes?.linkTo(CLIENT.id), (link) => link !== undefined);
    return { home, entry, agent, atHome, tunnel };
  }

  test('is served; the home counts the bytes, the other node none', async () => {
    const { home, entry, tunnel } = await serving();
    const visitor = await visit(tunnel, entry);
    for (const text of ['hello', 'x'.repeat(1000), 'bye']) expect(await visitor.echo(text)).toBe(text);
    await eventually(() => stateOf(home, tunnel), ({ inletBytes, exportBytes }) => Math.min(inletBytes, exportBytes) >= 1008);
    await eventually(() => stateOf(home, tunnel).connections, (open) => open === 1);
    expect(stateOf(home, tunnel)).toMatchObject({ running: true, refusals: {} });
    expect(stateOf(entry, tunnel)).toMatchObject({ running: true, connections: 0, inletBytes: 0, exportBytes: 0, refusals: {} });
    expect(home.engine.connections(CLIENT.id, { offset: 0, limit: 9 }).rows).toMatchObject([{
      address: '127.0.0.1',
      through: { kind: 'tunnel', id: tunnel.id },
    }]);
    expect(entry.engine.served.connections).toBe(1);
  });

  if (!cannot['half close']) {
    test('may end first and still read the answer', async () => {
      const { entry, tunnel } = await serving();
      const text = 'x'.repeat(1000);
      expect(await (await visit(tunnel, entry)).finish?.(text)).toBe(text);
    });
  }

  test('counts for the connection limit together with those at the home', async () => {
    const { home, entry, atHome, tunnel } = await serving();
    const [one, two] = [await visit(tunnel, entry), await visit(atHome, home)];
    await Promise.all([one.echo('1'), two.echo('2')]);
    await eventually(() => stateOf(home, tunnel).connections, (open) => open === 2);
    await setClient([home, entry], { maxConnections: 2 });
    if (way === 'direct') return;
    knock(visit(tunnel, entry));
    await eventually(() => stateOf(home, tunnel).refusals.connections ?? 0, (count) => count > 0);
    expect(await Promise.all([one.echo('still'), two.echo('here')])).toEqual(['still', 'here']);
    expect(stateOf(home, tunnel).connections).toBe(2);
  });

  test('is cut off when the client has used up its traffic, at whichever node', async () => {
    const { home, entry, tunnel } = await serving();
    const visitor = await visit(tunnel, entry);
    await visitor.echo('x');
    await eventually(() => stateOf(home, tunnel).inletBytes, (bytes) => bytes > 0);
    const { inletBytes, exportBytes } = stateOf(home, tunnel);
    await setClient([home, entry], { flowLimit: inletBytes + exportBytes + 4000 });
    keepBusy(visitor);
    await eventually(() => stateOf(home, tunnel).connections, (open) => open === 0);
    await visitor.over?.();
    await eventually(() => entry.engine.served.connections, (open) => open === 0);
    expect(stateOf(home, tunnel).connections).toBe(0);
    // The server learns each second what passes on a direct path.
    if (way !== 'direct') expect(stateOf(home, tunnel).inletBytes + stateOf(home, tunnel).exportBytes).toBeLessThan(inletBytes + exportBytes + 4000 + 10_000);
  });

  test('loses the connection with the agent, and is served when the agent has come to the other node', async () => {
    const [home, entry] = await startNodes(['home', 'entry'], way === 'relayed' ? { p2pPort: (await occupyPort()).port } : {});
    if (!home || !entry) throw new Error('there are two nodes');
    const relay = await Relay.start(home.bridge.port);
    await startAgent({ bridge: relay.address }, agentOptions);
    const [, tunnel] = await openEverywhere([home, entry], { mode, ...await target() });
    if (!tunnel) throw new Error('there are two listeners');
    await eventually(() => entry.engine.nodes?.linkTo(CLIENT.id), (link) => link !== undefined);
    const visitor = await visit(tunnel, entry);
    await visitor.echo('x');
    relay.close();
    await eventually(() => entry.engine.served.connections, (open) => open === 0);
    await visitor.over?.();
    // It knows of the other node.
    await eventually(() => entry.engine.clientState(CLIENT.id)?.connected, (connected) => connected === true);
    expect(await (await visit(tunnel, entry)).echo('here')).toBe('here');
    expect(stateOf(entry, tunnel).inletBytes).toBeGreaterThan(0);
  });
});

function stateOf({ engine }: TestNode, { id }: WantedTunnel): TunnelState {
  const state = engine.tunnelState(id);
  if (!state) throw new Error('the tunnel is gone');
  return state;
}

function setClient(nodes: readonly TestNode[], changes: Partial<WantedClient>): Promise<void> {
  return applyEverywhere(nodes, { kind: 'client', client: { ...CLIENT, ...changes } });
}

/** Says something without hope of an answer. */
function knock(visiting: Promise<Visit>): void {
  visiting.then((visitor) => visitor.echo('open the door')).catch(() => undefined);
}

/** Says one thing after another, until the visit is over. */
function keepBusy(visitor: Visit): void {
  void (async () => {
    for (let said = 0;; said++) await visitor.echo(`${said}`.padEnd(500, '.'));
  })().catch(() => undefined);
}
