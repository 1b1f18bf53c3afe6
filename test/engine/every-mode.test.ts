import { describe, expect, test } from '@jest/globals';
import type { TunnelState, WantedClient, WantedTunnel } from '../../src/engine/face.ts';
import { eventually } from '../support/eventually.ts';
import { modes, type Visit } from '../support/modes.ts';
import { Relay } from '../support/relay.ts';
import { CLIENT, openTunnel, startAgent, startEngine, type TestEngine } from '../support/tunnel.ts';

/** What holds for a tunnel of any mode. Each has a row in `test/support/modes.ts`. */
describe.each(modes)('a tunnel of type $mode', ({ mode, target, visit }) => {
  async function serving() {
    const server = await startEngine();
    const { agent } = await startAgent(server);
    return { server, agent, tunnel: await openTunnel(server, { mode, ...await target() }) };
  }

  test('carries traffic both ways, counts it, and runs', async () => {
    const { server, tunnel } = await serving();
    const visitor = await visit(tunnel, server);
    for (const text of ['hello', 'x'.repeat(1000), 'bye']) expect(await visitor.echo(text)).toBe(text);
    const state = stateOf(server, tunnel);
    expect(state).toMatchObject({ running: true, error: '', connections: 1, refusals: {} });
    expect(Math.min(state.inletBytes, state.exportBytes)).toBeGreaterThanOrEqual(1008);
    const client = server.engine.clientState(CLIENT.id);
    expect(client).toMatchObject({ connections: 1, inletBytes: state.inletBytes, exportBytes: state.exportBytes });
  });

  test('refuses visitors that a list turns away, and cuts those that are in', async () => {
    const { server, tunnel } = await serving();
    await (await visit(tunnel, server)).echo('x');
    await setClient(server, { blackIpList: ['127.0.0.0/8'] });
    await gone(server, tunnel);
    knock(visit(tunnel, server));
    await eventually(() => stateOf(server, tunnel).refusals.blackList ?? 0, (count) => count > 0);
    expect(stateOf(server, tunnel).connections).toBe(0);
  });

  test('lets in as many connections as the client may have', async () => {
    const { server, tunnel } = await serving();
    await setClient(server, { maxConnections: 2 });
    const [one, two] = [await visit(tunnel, server), await visit(tunnel, server)];
    await Promise.all([one.echo('1'), two.echo('2')]);
    knock(visit(tunnel, server));
    await eventually(() => stateOf(server, tunnel).refusals.connections ?? 0, (count) => count > 0);
    expect(await Promise.all([one.echo('still'), two.echo('here')])).toEqual(['still', 'here']);
    expect(stateOf(server, tunnel).connections).toBe(2);
  });

  test('holds its traffic to the rate of the client', async () => {
    const { server, tunnel } = await serving();
    await setClient(server, { rateLimit: 20_000 });
    const visitor = await visit(tunnel, server);
    const start = performance.now();
    // 16 KB both ways, of which the burst lets 3 KB pass at once.
    for (let i = 0; i < 8; i++) await visitor.echo('x'.repeat(1000));
    expect(performance.now() - start).toBeGreaterThan(500);
  });

  test('cuts its connections when the client is disabled, and serves again when it is enabled', async () => {
    const { server, agent, tunnel } = await serving();
    await (await visit(tunnel, server)).echo('x');
    await setClient(server, { enabled: false });
    await gone(server, tunnel);
    expect(stateOf(server, tunnel)).toMatchObject({ running: false, error: 'the client is disabled' });
    // It tries again and again, and would take the place of the next one.
    await agent.stop();
    await setClient(server, {});
    await startAgent(server);
    expect(await (await visit(tunnel, server)).echo('back')).toBe('back');
  });

  test('a lost agent ends its connections at once, the next agent serves new ones', async () => {
    const server = await startEngine();
    const relay = await Relay.start(server.bridge.port);
    await startAgent({ bridge: relay.address });
    const tunnel = await openTunnel(server, { mode, ...await target() });
    await (await visit(tunnel, server)).echo('x');
    relay.close();
    await gone(server, tunnel);
    await startAgent(server);
    expect(await (await visit(tunnel, server)).echo('again')).toBe('again');
  });

  test('stops and starts under load', async () => {
    const { server, tunnel } = await serving();
    for (let round = 0; round < 3; round++) {
      const visitors = await Promise.all(Array.from({ length: 8 }, () => visit(tunnel, server)));
      let echoes = 0;
      for (const visitor of visitors) {
        void (async () => {
          for (;;) {
            await visitor.echo(`${echoes}`);
            echoes++;
          }
        })().catch(() => undefined); // it ends when the tunnel does
      }
      await eventually(() => echoes, (count) => count > 100);
      await setTunnel(server, { ...tunnel, enabled: false });
      expect(stateOf(server, tunnel)).toMatchObject({ running: false, connections: 0 });
      await setTunnel(server, tunnel);
    }
    expect(await (await visit(tunnel, server)).echo('on')).toBe('on');
  });

  test('an edit that changes nothing of the way leaves open connections alone', async () => {
    const { server, tunnel } = await serving();
    const visitor = await visit(tunnel, server);
    expect(await visitor.echo('before')).toBe('before');
    await setTunnel(server, { ...tunnel });
    await setClient(server, { maxConnections: 100 });
    expect(await visitor.echo('after')).toBe('after');
    expect(stateOf(server, tunnel).connections).toBe(1);
  });

  test('a deleted tunnel ends its connections', async () => {
    const { server, tunnel } = await serving();
    await (await visit(tunnel, server)).echo('x');
    await server.engine.apply({ kind: 'tunnelRemoved', id: tunnel.id });
    await eventually(() => server.engine.clientState(CLIENT.id)?.connections, (open) => open === 0);
    expect(server.engine.tunnelState(tunnel.id)).toBeUndefined();
  });
});

function stateOf({ engine }: TestEngine, { id }: WantedTunnel): TunnelState {
  const state = engine.tunnelState(id);
  if (!state) throw new Error('the tunnel is gone');
  return state;
}

/** Waits until no connection is open. */
async function gone(server: TestEngine, tunnel: WantedTunnel): Promise<void> {
  await eventually(() => stateOf(server, tunnel).connections, (open) => open === 0);
}

function setClient({ engine }: TestEngine, changes: Partial<WantedClient>): Promise<void> {
  return engine.apply({ kind: 'client', client: { ...CLIENT, ...changes } });
}

function setTunnel({ engine }: TestEngine, tunnel: WantedTunnel): Promise<void> {
  return engine.apply({ kind: 'tunnel', tunnel });
}

/** Says something without hope of an answer. */
function knock(visiting: Promise<Visit>): void {
  visiting.then((visitor) => visitor.echo('let me in')).catch(() => undefined);
}
