import { networkInterfaces, tmpdir } from 'node:os';
import { afterAll, describe, expect, test } from '@jest/globals';
import type { TunnelState, WantedClient, WantedTunnel } from '../../src/engine/face.ts';
import { transportOf } from '../../src/rules/tunnel-mode.ts';
import { isShort } from '../support/endurance.ts';
import { eventually } from '../support/eventually.ts';
import { modes, type ModeUnderTest, type Visit } from '../support/modes.ts';
import { describeWithIpv6 } from '../support/programs.ts';
import { Relay } from '../support/relay.ts';
import { removeScratchDirectories } from '../support/scratch.ts';
import { occupyPort, refusal } from '../support/target.ts';
import { CLIENT, openTunnel, startAgent, startEngine, type TestEngine } from '../support/tunnel.ts';

afterAll(removeScratchDirectories);

/** Files of tunnels of type file are made there. */
const agentOptions = { allowFiles: [tmpdir()] };
/** A direct path needs an address that leads from the machine to itself and is not the loopback's. */
const canMeet = Object.values(networkInterfaces()).some((list) => list?.some(({ internal, family }) => !internal && family === 'IPv4'));
/** In `npm test`, one for each kind of connection: each mode has a suite of its own beside this one. */
const tested = isShort ? modes.filter(({ mode, way }) => mode === 'tcp' || mode === 'udp' || way === 'direct') : modes;
const named = tested.map((row) => ({ ...row, name: row.way ? `${row.mode}, ${row.way}` : row.mode }));

if (!canMeet) leftOut('a tunnel of type p2p goes directly', "this machine has no address but the loopback's");

/** What holds for a tunnel of any mode. Each has a row in `test/support/modes.ts`. */
describe.each(named.filter(({ way }) => way !== 'direct' || canMeet))('a tunnel of type $name', ({ mode, way, target, visit, cannot = {} }) => {
  /** An engine whose visitors go the way of the row. */
  async function engine(): Promise<TestEngine> {
    return startEngine(way === 'relayed' ? { p2pPort: (await occupyPort()).port } : {});
  }

  async function serving() {
    const server = await engine();
    const { agent } = await startAgent(server, agentOptions);
    return { server, agent, tunnel: await openTunnel(server, { mode, ...await target() }) };
  }

  test('carries traffic both ways, counts it, and runs', async () => {
    const { server, tunnel } = await serving();
    const visitor = await visit(tunnel, server);
    for (const text of ['hello', 'x'.repeat(1000), 'bye']) expect(await visitor.echo(text)).toBe(text);
    // What goes past the server is reported every second.
    await eventually(() => stateOf(server, tunnel), ({ inletBytes, exportBytes }) => Math.min(inletBytes, exportBytes) >= 1008);
    await eventually(() => stateOf(server, tunnel).connections, (open) => open === 1);
    const state = stateOf(server, tunnel);
    expect(state).toMatchObject({ running: true, error: '', refusals: {} });
    expect(server.engine.clientState(CLIENT.id)).toMatchObject({ connections: 1, inletBytes: state.inletBytes, exportBytes: state.exportBytes });
  });

  const noHalfClose = cannot['half close'];
  if (noHalfClose) {
    leftOut('allows a visitor to end first and still read the answer', noHalfClose);
  } else {
    test('allows a visitor to end first and still read the answer', async () => {
      const { server, tunnel } = await serving();
      const visitor = await visit(tunnel, server);
      const text = 'x'.repeat(1000);
      expect(await visitor.finish?.(text)).toBe(text);
    });
  }

  test.each<[string, keyof TunnelState['refusals'], Partial<WantedClient>]>([
    ['a black list', 'blackList', { blackIpList: '127.0.0.0/8' }],
    ['a white list', 'whiteList', { ipWhite: true, ipWhiteList: '192.0.2.0/24' }],
  ])('refuses visitors because of %s, cuts their open connections, and admits them again afterwards', async (_, cause, lists) => {
    const { server, tunnel } = await serving();
    const visitor = await visit(tunnel, server);
    await visitor.echo('x');
    await setClient(server, lists);
    await gone(server, tunnel, visitor);
    knock(visiting(tunnel, server));
    await eventually(() => stateOf(server, tunnel).refusals[cause] ?? 0, (count) => count > 0);
    expect(stateOf(server, tunnel).connections).toBe(0);
    await setClient(server, {});
    expect(await (await visit(tunnel, server)).echo('in')).toBe('in');
  });

  test('the global blacklist refuses visitors', async () => {
    const { server, tunnel } = await serving();
    const visitor = await visit(tunnel, server);
    await visitor.echo('x');
    await server.engine.apply({ kind: 'blackIpList', list: ['127.0.0.1'] });
    await gone(server, tunnel, visitor);
    knock(visiting(tunnel, server));
    await eventually(() => stateOf(server, tunnel).refusals.globalBlackList ?? 0, (count) => count > 0);
    expect(stateOf(server, tunnel).connections).toBe(0);
  });

  test('admits as many connections as the client may have', async () => {
    const { server, tunnel } = await serving();
    const [one, two] = [await visit(tunnel, server), await visit(tunnel, server)];
    await Promise.all([one.echo('1'), two.echo('2')]);
    await eventually(() => stateOf(server, tunnel).connections, (open) => open === 2);
    await setClient(server, { maxConnections: 2 });
    knock(visiting(tunnel, server));
    await eventually(() => stateOf(server, tunnel).refusals.connections ?? 0, (count) => count > 0);
    expect(await Promise.all([one.echo('still'), two.echo('here')])).toEqual(['still', 'here']);
    expect(stateOf(server, tunnel).connections).toBe(2);
  });

  const noRate = cannot.rate;
  if (noRate) {
    leftOut('limits its traffic to the rate of the client', noRate);
  } else {
    test('limits its traffic to the rate of the client', async () => {
      const { server, tunnel } = await serving();
      const visitor = await visit(tunnel, server);
      await visitor.echo('x');
      await setClient(server, { rateLimit: 20_000 });
      const start = performance.now();
      // 16 KB both ways, of which the burst lets 3 KB pass at once.
      for (let i = 0; i < 8; i++) await visitor.echo('x'.repeat(1000));
      expect(performance.now() - start).toBeGreaterThan(500);
    });
  }

  test('cuts its connections when the client has used up its traffic, and refuses new ones', async () => {
    const { server, tunnel } = await serving();
    const visitor = await visit(tunnel, server);
    await visitor.echo('x');
    const { inletBytes, exportBytes } = stateOf(server, tunnel);
    await setClient(server, { flowLimit: inletBytes + exportBytes + 4000 });
    keepBusy([visitor]);
    await gone(server, tunnel, visitor);
    knock(visiting(tunnel, server));
    await eventually(() => stateOf(server, tunnel).refusals.flow ?? 0, (count) => count > 0);
    expect(stateOf(server, tunnel).connections).toBe(0);
  });

  test('cuts its connections when the client is disabled, and serves again when it is enabled', async () => {
    const { server, agent, tunnel } = await serving();
    const visitor = await visit(tunnel, server);
    await visitor.echo('x');
    await setClient(server, { enabled: false });
    await gone(server, tunnel, visitor);
    expect(stateOf(server, tunnel)).toMatchObject({ running: false, error: 'the client is disabled' });
    // It tries again and again, and would take the place of the next one.
    await agent.stop();
    await setClient(server, {});
    await startAgent(server, agentOptions);
    expect(await (await visit(tunnel, server)).echo('back')).toBe('back');
  });

  test('cuts its connections when the client expires, and runs again when it expires later', async () => {
    const { server, tunnel } = await serving();
    const visitor = await visit(tunnel, server);
    await visitor.echo('x');
    await setClient(server, { expiresAt: Date.now() + 100 });
    await gone(server, tunnel, visitor);
    expect(stateOf(server, tunnel)).toMatchObject({ running: false });
    await setClient(server, { expiresAt: Date.now() + 3_600_000 });
    expect(stateOf(server, tunnel)).toMatchObject({ running: true, error: '' });
  });

  test('cuts its connections when it belongs to another client', async () => {
    const { server, tunnel } = await serving();
    const visitor = await visit(tunnel, server);
    await visitor.echo('x');
    await setClient(server, { id: 2, vkey: 'of another client' });
    await setTunnel(server, { ...tunnel, clientId: 2 });
    await gone(server, tunnel, visitor);
    expect(server.engine.clientState(CLIENT.id)).toMatchObject({ connections: 0 });
  });

  test('a lost agent ends its connections at once, the next agent serves new ones', async () => {
    const server = await engine();
    const relay = await Relay.start(server.bridge.port);
    const { agent } = await startAgent({ bridge: relay.address }, agentOptions);
    const tunnel = await openTunnel(server, { mode, ...await target() });
    const visitor = await visit(tunnel, server);
    await visitor.echo('x');
    relay.close();
    // With a second server it would come back there, past the relay, and compete with the next agent.
    const stopped = agent.stop();
    await gone(server, tunnel, visitor);
    await stopped;
    await startAgent(server, agentOptions);
    expect(await (await visit(tunnel, server)).echo('again')).toBe('again');
  });

  test('stops and starts under load', async () => {
    const { server, tunnel } = await serving();
    for (let round = 0; round < 3; round++) {
      const load = keepBusy(await Promise.all(Array.from({ length: 4 }, () => visit(tunnel, server))));
      await eventually(() => load.echoes, (count) => count > 40);
      await setTunnel(server, { ...tunnel, enabled: false });
      expect(stateOf(server, tunnel)).toMatchObject({ running: false, connections: 0 });
      await setTunnel(server, tunnel);
    }
    expect(await (await visit(tunnel, server)).echo('on')).toBe('on');
  });

  test('edits while it is busy leave open connections alone, and new ones get through', async () => {
    const { server, tunnel } = await serving();
    const load = keepBusy(await Promise.all(Array.from({ length: 4 }, () => visit(tunnel, server))));
    await eventually(() => load.echoes, (count) => count > 20);
    let edited = tunnel;
    for (let edit = 0; edit < 5; edit++) {
      edited = { ...tunnel, ...await target() };
      await setTunnel(server, edited);
      await setClient(server, { maxConnections: 100 + edit });
      const seen = load.echoes;
      await eventually(() => load.echoes, (count) => count > seen + 20);
    }
    expect(await (await visit(edited, server)).echo('new')).toBe('new');
    expect(load.over).toEqual([]);
  });

  test('a deleted tunnel ends its connections', async () => {
    const { server, tunnel } = await serving();
    const visitor = await visit(tunnel, server);
    await visitor.echo('x');
    await server.engine.apply({ kind: 'tunnelRemoved', id: tunnel.id });
    await visitor.over?.();
    await eventually(() => server.engine.clientState(CLIENT.id)?.connections, (open) => open === 0);
    expect(server.engine.tunnelState(tunnel.id)).toBeUndefined();
  });

  if (transportOf(mode) === 'tcp') {
    describeWithIpv6('where there is IPv6', () => {
      test('serves IPv4 and IPv6 on all addresses, to targets of either', async () => {
        const server = await engine();
        await startAgent(server, agentOptions);
        for (const host of ['127.0.0.1', '::1']) {
          const tunnel = await openTunnel(server, { mode, serverIp: '', ...await target(host) });
          expect(await (await visit(tunnel, server, '127.0.0.1')).echo('four')).toBe('four');
          expect(await (await visit(tunnel, server, '::1')).echo('six')).toBe('six');
        }
      });

      test.each([['127.0.0.2', '127.0.0.3'], ['::1', '127.0.0.3']])('opens its port on %s alone where server_ip says so', async (serverIp, other) => {
        const server = await engine();
        await startAgent(server, agentOptions);
        const tunnel = await openTunnel(server, { mode, serverIp, ...await target() });
        expect(await (await visit(tunnel, server, serverIp)).echo('in')).toBe('in');
        expect(await refusal(tunnel.port, other)).toBe('ECONNREFUSED');
      });
    });
  }

  /** A visit that is refused: no path opens that it could wait for. */
  function visiting(tunnel: WantedTunnel, server: TestEngine): Promise<Visit> {
    return way === 'direct' ? relayed().visit(tunnel, server) : visit(tunnel, server);
  }
});

/** A line that a mode cannot pass, and why. */
function leftOut(line: string, reason: string): void {
  // oxlint-disable-next-line jest/no-disabled-tests, jest/expect-expect -- its name says why
  test.skip(`${line} (cannot apply: ${reason})`, () => undefined);
}

function relayed(): ModeUnderTest {
  const row = modes.find(({ way }) => way === 'relayed');
  if (!row) throw new Error('there is no such row');
  return row;
}

function stateOf({ engine }: TestEngine, { id }: WantedTunnel): TunnelState {
  const state = engine.tunnelState(id);
  if (!state) throw new Error('the tunnel is gone');
  return state;
}

/** Waits until no connection is open, at the server and at the visitor. */
async function gone(server: TestEngine, tunnel: WantedTunnel, visitor: Visit): Promise<void> {
  await eventually(() => stateOf(server, tunnel).connections, (open) => open === 0);
  await visitor.over?.();
}

function setClient({ engine }: TestEngine, changes: Partial<WantedClient>): Promise<void> {
  return engine.apply({ kind: 'client', client: { ...CLIENT, ...changes } });
}

function setTunnel({ engine }: TestEngine, tunnel: WantedTunnel): Promise<void> {
  return engine.apply({ kind: 'tunnel', tunnel });
}

/** Says something without hope of an answer. */
function knock(visiting: Promise<Visit>): void {
  visiting.then((visitor) => visitor.echo('open the door')).catch(() => undefined);
}

/** Every visitor says one thing after another, until its visit is over. */
function keepBusy(visitors: readonly Visit[]): { readonly echoes: number; readonly over: readonly unknown[] } {
  const load = { echoes: 0, over: new Array<unknown>() };
  for (const visitor of visitors) {
    void (async () => {
      for (;;) {
        const text = `${load.echoes}`.padEnd(500, '.');
        if (await visitor.echo(text) !== text) throw new Error('something else came back');
        load.echoes++;
      }
    })().catch((error: unknown) => load.over.push(error));
  }
  return load;
}
