import { once } from 'node:events';
import tls from 'node:tls';
import { describe, expect, test } from '@jest/globals';
import type { WantedHost, WantedTunnel } from '../../src/engine/face.ts';
import { listenProblem } from '../../src/engine/ports/listen-error.ts';
import { netBackend } from '../../src/wire/net-socket.ts';
import type { SocketBackend } from '../../src/wire/socket.ts';
import { covering } from '../support/certificates.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { closed, occupyPort, readAll, refusal, roundTrip, startEcho, startTarget, visit, visitUntilClosed } from '../support/target.ts';
import { CLIENT, fresh, openTunnel, startAgent, startEngine, type TestEngine, tunnelOf } from '../support/tunnel.ts';
import { hostOf } from '../support/vhost.ts';

/** A tunnel with an agent and one open visitor. */
async function serving(server: TestEngine) {
  await startAgent(server);
  const target = await startEcho();
  const tunnel = await openTunnel(server, { targets: [target.address] });
  const visitor = await visit(tunnel.port);
  await roundTrip(visitor, 'x');
  return { tunnel, visitor };
}

function edit({ engine }: TestEngine, tunnel: WantedTunnel): Promise<void> {
  return engine.apply({ kind: 'tunnel', tunnel });
}

test('the listeners of stored tunnels are open when they have been loaded, and closed when the engine is', async () => {
  const tunnel = { ...tunnelOf({ port: await freePort() }), ...fresh };
  const { engine } = await startEngine({ stored: { tunnels: [tunnel] } });
  expect(engine.tunnelState(tunnel.id)).toMatchObject({ running: true });
  const lease = await engine.reservePort({ mode: 'tcp', port: 0, serverIp: '127.0.0.1' });
  await engine.close();
  for (const port of [tunnel.port, lease.port]) await expect(visit(port)).rejects.toThrow('ECONNREFUSED');
});

test('the time for half-closed connections of the settings holds for visitors of tunnels and hosts, not for agents', async () => {
  const times: unknown[] = [];
  const sockets: SocketBackend = {
    ...netBackend,
    listen: (place) => {
      times.push(place.halfClosedMs);
      return netBackend.listen(place);
    },
    secured: (socket, carrier, halfClosedMs) => {
      times.push(`over TLS ${halfClosedMs}`);
      return netBackend.secured(socket, carrier, halfClosedMs);
    },
  };
  const server = await startEngine({ sockets, halfClosedMs: 1234 });
  expect(new Set(times.splice(0))).toEqual(new Set([undefined]));
  await openTunnel(server, {});
  const { httpsPort } = await server.engine.listenHosts({ host: '127.0.0.1', httpPort: 0, httpsPort: 0 });
  expect(new Set(times.splice(0))).toEqual(new Set([1234]));
  await server.engine.apply({ kind: 'host', host: hostOf({ host: 'x.p.example.com', certificate: covering.certificate, privateKey: covering.key }) });
  const visitor = tls.connect({ port: httpsPort, host: '127.0.0.1', servername: 'x.p.example.com', ca: covering.certificate });
  await once(visitor, 'secureConnect');
  expect(await eventually(() => times, ({ length }) => length > 0)).toEqual(['over TLS 1234']);
  visitor.destroy();
});

test.each<[code: string | undefined, port: number | undefined, text: string]>([
  ['EADDRNOTAVAIL', 80, 'address 192.0.2.1 does not belong to this machine'],
  ['EAFNOSUPPORT', 80, 'address 192.0.2.1 is of a family that this machine lacks'],
  ['EADDRINUSE', 80, 'port 80 is occupied'],
  ['EACCES', 80, 'port 80 needs rights that the server does not have'],
  ['EMFILE', 80, 'port 80 cannot be opened: why'],
  [undefined, 80, 'port 80 cannot be opened: why'],
  ['EADDRNOTAVAIL', undefined, 'address 192.0.2.1 does not belong to this machine'],
  ['EACCES', undefined, 'why'],
])('%s of port %s at 192.0.2.1: %s', (code, port, text) => {
  expect(listenProblem(Object.assign(new Error('why'), { code }), '192.0.2.1', port)).toBe(text);
});

describe('reserving a port', () => {
  test('it is bound at once, and connections before the tunnel exists are closed', async () => {
    const { engine } = await startEngine();
    const lease = await engine.reservePort({ mode: 'tcp', port: 0, serverIp: '127.0.0.1' });
    await visitUntilClosed(lease.port);
    await expect(engine.reservePort({ mode: 'tcp', port: lease.port, serverIp: '127.0.0.1' })).rejects.toThrow(`port ${lease.port} is occupied`);
    await engine.releasePort(lease.id);
    await engine.releasePort((await engine.reservePort({ mode: 'tcp', port: lease.port, serverIp: '127.0.0.1' })).id);
  });

  test('a port of another program is refused, whatever the address', async () => {
    const { engine } = await startEngine();
    const { port } = await occupyPort();
    for (const serverIp of ['', '127.0.0.1']) {
      await expect(engine.reservePort({ mode: 'tcp', port, serverIp })).rejects.toMatchObject({
        name: 'PortUnavailableError',
        message: `port ${port} is occupied`,
        holder: null,
      });
    }
  });

  test("an address that is not this machine's is refused", async () => {
    const { engine } = await startEngine();
    await expect(engine.reservePort({ mode: 'tcp', port: 0, serverIp: '203.0.113.7' })).rejects.toThrow('address 203.0.113.7 does not belong to this machine');
    await expect(engine.reservePort({ mode: 'tcp', port: 0, serverIp: 'localhost' })).rejects.toThrow('is not an IP address');
    await expect(engine.reservePort({ mode: 'tcp', port: await freePort(), serverIp: '203.0.113.7' })).rejects.toMatchObject({ holder: undefined });
  });

  test('only allowed ports are taken, and any free one among them when none is named', async () => {
    const first = await occupyPort();
    const second = await occupyPort();
    await second.release();
    const { engine } = await startEngine({ allowPorts: [first.port, second.port].map((port) => ({ from: port, to: port })) });
    const lease = await engine.reservePort({ mode: 'tcp', port: 0, serverIp: '' });
    expect(lease.port).toBe(second.port);
    await expect(engine.reservePort({ mode: 'tcp', port: 0, serverIp: '' })).rejects.toThrow('none of the allowed ports is free');
    await expect(engine.reservePort({ mode: 'tcp', port: 1, serverIp: '' })).rejects.toThrow('port 1 is not among the allowed ports');
    await engine.releasePort(lease.id);
  });

  test('the port of an enabled tunnel is held for it while its client is disabled, that of a stopped one is free', async () => {
    const server = await startEngine();
    const tunnel = await openTunnel(server, {});
    await server.engine.apply({ kind: 'client', client: { ...CLIENT, enabled: false } });
    expect(server.engine.tunnelState(tunnel.id)).toMatchObject({ running: false, error: 'the client is disabled' });
    await expect(server.engine.reservePort(tunnel)).rejects.toThrow('held by another tunnel');
    await edit(server, { ...tunnel, enabled: false });
    await server.engine.releasePort((await server.engine.reservePort(tunnel)).id);
  });

  test('the port of a tunnel that is made stopped is free again', async () => {
    const server = await startEngine();
    const { port } = await openTunnel(server, { enabled: false });
    expect(await refusal(port)).toBe('ECONNREFUSED');
  });

  test('a lease that was not used gives the old listener back when it stood in the way', async () => {
    const server = await startEngine({ node: undefined });
    const tunnel = await openTunnel(server, {});
    const lease = await server.engine.reservePort({ ...tunnel, serverIp: '', replaces: tunnel.id });
    expect(server.engine.tunnelState(tunnel.id)?.running).toBe(false);
    await server.engine.releasePort(lease.id);
    expect(server.engine.tunnelState(tunnel.id)).toMatchObject({ running: true, error: '' });
  });
});

test('an address that is refused for a running tunnel leaves its listener as it was', async () => {
  const server = await startEngine();
  const { tunnel } = await serving(server);
  const other = await occupyPort('127.0.0.2', tunnel.port);
  await expect(server.engine.reservePort({ ...tunnel, serverIp: '127.0.0.2', replaces: tunnel.id })).rejects.toThrow('is occupied');
  expect(server.engine.tunnelState(tunnel.id)).toMatchObject({ running: true, error: '' });
  expect(await roundTrip(await visit(tunnel.port), 'still here')).toBe('still here');
  await other.release();
});

describe('changes of a running tunnel', () => {
  test('another address holds although nobody has reserved the port there, as for a change by another server', async () => {
    const server = await startEngine();
    const tunnel = await openTunnel(server, { targets: [(await startEcho()).address] });
    await startAgent(server);
    await edit(server, { ...tunnel, serverIp: '127.0.0.2' });
    expect(await refusal(tunnel.port)).toBe('ECONNREFUSED');
    expect(await roundTrip(await visit(tunnel.port, '127.0.0.2'), 'hello')).toBe('hello');
  });

  test('stop closes the listener and its connections, start serves again on the same port', async () => {
    const server = await startEngine();
    const { tunnel, visitor } = await serving(server);
    await edit(server, { ...tunnel, enabled: false });
    await closed(visitor);
    expect(server.engine.tunnelState(tunnel.id)).toMatchObject({ running: false, error: '', connections: 0, inletBytes: 1 });
    await expect(visit(tunnel.port)).rejects.toThrow('ECONNREFUSED');
    await server.engine.apply({ kind: 'tunnel', tunnel, lease: await server.engine.reservePort({ ...tunnel, replaces: tunnel.id }) });
    expect(await roundTrip(await visit(tunnel.port), 'back')).toBe('back');
  });

  test('delete closes the listener and its connections', async () => {
    const server = await startEngine();
    const { tunnel, visitor } = await serving(server);
    await server.engine.apply({ kind: 'tunnelRemoved', id: tunnel.id });
    await closed(visitor);
    expect(server.engine.tunnelState(tunnel.id)).toBeUndefined();
    await server.engine.releasePort((await server.engine.reservePort(tunnel)).id);
  });

  test('deleting the client deletes its tunnels', async () => {
    const server = await startEngine();
    const { tunnel, visitor } = await serving(server);
    await server.engine.apply({ kind: 'clientRemoved', id: CLIENT.id });
    await closed(visitor);
    expect([server.engine.clientState(CLIENT.id), server.engine.tunnelState(tunnel.id)]).toEqual([undefined, undefined]);
    await server.engine.releasePort((await server.engine.reservePort(tunnel)).id);
  });

  test('a changed target serves the next connection; open ones go on', async () => {
    const server = await startEngine();
    const { tunnel, visitor } = await serving(server);
    const other = await startTarget((socket) => socket.end('other'));
    await edit(server, { ...tunnel, targets: [other.address] });
    expect((await readAll(await visit(tunnel.port))).toString()).toBe('other');
    expect(await roundTrip(visitor, 'still here')).toBe('still here');
  });

  test('a changed port moves the listener and frees the old port; counters are kept', async () => {
    const server = await startEngine();
    const { tunnel, visitor } = await serving(server);
    const lease = await server.engine.reservePort({ ...tunnel, port: 0, replaces: tunnel.id });
    await server.engine.apply({ kind: 'tunnel', tunnel: { ...tunnel, port: lease.port }, lease });
    // The tunnel has taken it over.
    await server.engine.releasePort(lease.id);
    await closed(visitor);
    expect(await roundTrip(await visit(lease.port), 'moved')).toBe('moved');
    await expect(visit(tunnel.port)).rejects.toThrow('ECONNREFUSED');
    expect(server.engine.tunnelState(tunnel.id)).toMatchObject({ running: true, inletBytes: 1 + 5 });
    await server.engine.releasePort((await server.engine.reservePort(tunnel)).id);
  });

  test('a changed address rebinds the same port', async () => {
    const server = await startEngine();
    const { tunnel } = await serving(server);
    const wanted = { ...tunnel, serverIp: '127.0.0.2' };
    const lease = await server.engine.reservePort({ ...wanted, replaces: tunnel.id });
    await server.engine.apply({ kind: 'tunnel', tunnel: wanted, lease });
    expect(await roundTrip(await visit(tunnel.port, '127.0.0.2'), 'here')).toBe('here');
    await expect(visit(tunnel.port, '127.0.0.1')).rejects.toThrow('ECONNREFUSED');
  });

  test('reserving what a tunnel has already costs it nothing', async () => {
    const server = await startEngine();
    const { tunnel, visitor } = await serving(server);
    const lease = await server.engine.reservePort({ ...tunnel, replaces: tunnel.id });
    await server.engine.apply({ kind: 'tunnel', tunnel, lease });
    expect(await roundTrip(visitor, 'undisturbed')).toBe('undisturbed');
  });

  test('a tunnel that is moved to another client is served by that client', async () => {
    const second = { ...CLIENT, id: 2, vkey: 'the-second-vkey' };
    const server = await startEngine({ stored: { clients: [{ ...CLIENT, ...fresh }, { ...second, ...fresh }] } });
    const { tunnel, visitor } = await serving(server);
    await edit(server, { ...tunnel, clientId: second.id });
    await closed(visitor);
    await visitUntilClosed(tunnel.port);
    await startAgent(server, { vkey: second.vkey });
    expect(await roundTrip(await visit(tunnel.port), 'second')).toBe('second');
    expect(server.engine.clientState(second.id)).toMatchObject({ connections: 1, inletBytes: 6 });
    expect(server.engine.clientState(CLIENT.id)).toMatchObject({ connections: 0, inletBytes: 1 });
  });
});

describe('boot', () => {
  test('stored tunnels listen before the first agent is there, stopped ones do not', async () => {
    const [one, two] = [await occupyPort(), await occupyPort()];
    await Promise.all([one.release(), two.release()]);
    const tunnel = { ...tunnelOf({ id: 901, port: one.port }), inletBytes: 7, exportBytes: 8 };
    const { engine } = await startEngine({ stored: { tunnels: [tunnel, { ...tunnel, id: 902, port: two.port, enabled: false }] } });
    expect(engine.tunnelState(901)).toMatchObject({ running: true, error: '', connections: 0, rate: 0, inletBytes: 7, exportBytes: 8 });
    expect(engine.tunnelState(902)).toMatchObject({ running: false, error: '' });
  });

  test('an occupied port is shown as the error of its tunnel and tried again until it is free', async () => {
    const occupied = await occupyPort();
    const tunnel = { ...tunnelOf({ id: 903, port: occupied.port, serverIp: '' }), ...fresh };
    const { engine, log } = await startEngine({ node: undefined, stored: { tunnels: [tunnel] } });
    expect(engine.tunnelState(903)).toMatchObject({ running: false, error: `port ${occupied.port} is occupied` });
    expect(await log.line(/listener cannot be opened/)).toMatchObject({ tunnelId: 903, port: occupied.port, retryMs: 1000 });
    await occupied.release();
    await eventually(() => engine.tunnelState(903), (state) => state?.running === true);
    expect(engine.tunnelState(903)?.error).toBe('');
  });
});

test('what is not served shows why, and what is stopped shows nothing', async () => {
  const client = (id: number, more: Partial<typeof CLIENT>) => ({ ...CLIENT, id, vkey: `key ${id}`, ...fresh, ...more });
  const tunnel = (id: number, more: Partial<WantedTunnel>) => ({ ...tunnelOf({ id, mode: 'secret', password: `of tunnel ${id}`, ...more }), ...fresh });
  const host = (id: number, more: Partial<WantedHost>) => ({ ...hostOf({ id, host: `${id}.test`, ...more }), ...fresh });
  const { engine } = await startEngine({
    now: () => 1000,
    stored: {
      clients: [client(1, {}), client(2, { enabled: false }), client(3, { expiresAt: 1000 }), client(4, { expiresAt: 1001 })],
      tunnels: [
        tunnel(1, {}),
        tunnel(2, { clientId: 2 }),
        tunnel(3, { clientId: 3 }),
        tunnel(4, { clientId: 4 }),
        tunnel(5, { clientId: 5 }),
        tunnel(6, { clientId: 2, enabled: false }),
        tunnel(7, { mode: 'of a later version' }),
        tunnel(8, { password: '' }),
        tunnel(9, { mode: 'p2p', password: '' }),
      ],
      hosts: [
        host(1, {}),
        host(2, { clientId: 2 }),
        host(3, { clientId: 3, localProxy: true }),
        host(4, { localProxy: true }),
        host(5, { clientId: 5 }),
        host(6, { enabled: false }),
        host(7, { host: 'own.test', namedByAdmin: false }),
      ],
      serverName: 'own.test',
    },
  });
  const [disabled, expired, none] = ['the client is disabled', 'the client has expired', 'its client does not exist'];
  const needed = expect.stringMatching(/password/);
  expect(Array.from({ length: 9 }, (_, index) => engine.tunnelState(index + 1)).map((state) => [state?.running, state?.error])).toEqual([
    [true, ''],
    [false, disabled],
    [false, expired],
    [true, ''],
    [false, none],
    [false, ''],
    [false, 'tunnels of type of a later version cannot be served'],
    [false, needed],
    [false, needed],
  ]);
  expect(Array.from({ length: 7 }, (_, index) => engine.hostState(index + 1)).map((state) => [state?.running, state?.error])).toEqual([
    [false, 'the agent is not connected'],
    [false, disabled],
    [false, expired],
    [false, 'the server would have to dial the target itself, but its settings do not allow that'],
    [false, none],
    [false, ''],
    [false, "its name is one of the server's own: only administrators give one to a host"],
  ]);
});
