import { expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { closed, readAll, refusedPort, roundTrip, startEcho, startTarget, visit, visitUntilClosed } from '../support/target.ts';
import { CLIENT, onEveryBackend, openTunnel, startAgent, startEngine } from '../support/tunnel.ts';

onEveryBackend(() => {
  test('bytes go both ways and are counted for tunnel and client', async () => {
    const server = await startEngine();
    await startAgent(server);
    const target = await startEcho();
    const tunnel = await openTunnel(server, { targets: [target.address] });
    const visitor = await visit(tunnel.port);
    expect(await roundTrip(visitor, 'hello')).toBe('hello');
    expect(server.engine.tunnelState(tunnel.id)).toMatchObject({ running: true, error: '', connections: 1, inletBytes: 5, exportBytes: 5 });
    expect(server.engine.clientState(CLIENT.id)).toMatchObject({
      connected: true,
      address: '127.0.0.1',
      version: '0.0.1',
      connections: 1,
      inletBytes: 5,
      exportBytes: 5,
    });
    visitor.end();
    await closed(visitor);
    await eventually(() => server.engine.clientState(CLIENT.id)?.connections, (open) => open === 0);
    expect(server.engine.tunnelState(tunnel.id)?.connections).toBe(0);
  });

  test('the visitor may end first and still read the answer', async () => {
    const server = await startEngine();
    await startAgent(server);
    const target = await startTarget(async (socket) => {
      const asked = await readAll(socket);
      socket.end(`got ${asked.toString()}`);
    });
    const { port } = await openTunnel(server, { targets: [target.address] });
    const visitor = await visit(port);
    visitor.end('question');
    expect((await readAll(visitor)).toString()).toBe('got question');
  });

  test('the target may end first and still read the rest', async () => {
    const server = await startEngine();
    await startAgent(server);
    const target = await startTarget((socket) => socket.end('bye'));
    const { port } = await openTunnel(server, { targets: [target.address] });
    const accepted = target.accepted();
    const visitor = await visit(port);
    expect((await readAll(visitor)).toString()).toBe('bye');
    visitor.end('late words');
    expect((await readAll(await accepted)).toString()).toBe('late words');
  });

  test('several targets are used in round-robin order, one that refuses is skipped', async () => {
    const server = await startEngine();
    await startAgent(server);
    const [one, two] = [await startTarget((socket) => socket.end('one')), await startTarget((socket) => socket.end('two'))];
    const tunnel = await openTunnel(server, { targets: [one.address, two.address, `127.0.0.1:${await refusedPort()}`] });
    const answers = [];
    for (let i = 0; i < 6; i++) {
      answers.push((await readAll(await visit(tunnel.port))).toString());
      // A change continues the order.
      if (i === 0) await server.engine.apply({ kind: 'tunnel', tunnel: { ...tunnel, proxyProtocol: '' } });
    }
    expect(answers).toEqual(['one', 'two', 'one', 'one', 'two', 'one']);
  });

  test('when no target responds the visitor is closed', async () => {
    const server = await startEngine();
    const { log } = await startAgent(server);
    const { port } = await openTunnel(server, { targets: [`127.0.0.1:${await refusedPort()}`] });
    await visitUntilClosed(port);
    expect((await log.line(/no target responds/)).msg).toMatch(/ECONNREFUSED/);
  });

  test('without an agent the visitor is closed at once', async () => {
    const server = await startEngine();
    const { port, id } = await openTunnel(server, { targets: ['127.0.0.1:9'] });
    await visitUntilClosed(port);
    expect(server.engine.tunnelState(id)).toMatchObject({ running: true, connections: 0 });
  });

  test('a lost agent takes its visitors with it at once', async () => {
    const server = await startEngine();
    await startAgent(server);
    const target = await startEcho();
    const { port } = await openTunnel(server, { targets: [target.address] });
    const visitor = await visit(port);
    await roundTrip(visitor, 'x');
    await server.engine.apply({ kind: 'client', client: { ...CLIENT, enabled: false } });
    await Promise.all([visitor, ...target.connections].map(closed));
    expect(target.connections).toHaveLength(1);
  });

  test('beyond the most visitors the server takes, one more is closed and the others go on', async () => {
    const server = await startEngine({ visitorShares: { total: 2, perAddress: 2 } });
    await startAgent(server);
    const { port, id } = await openTunnel(server, { targets: [(await startEcho()).address] });
    const visitors = [await visit(port), await visit(port)];
    for (const visitor of visitors) await roundTrip(visitor, 'x');
    await visitUntilClosed(port);
    expect(await roundTrip(visitors[0] ?? await visit(port), 'still here')).toBe('still here');
    expect(server.engine.tunnelState(id)).toMatchObject({ connections: 2 });
  });
});
