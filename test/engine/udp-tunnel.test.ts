import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { dnsAnswer } from '../support/dns.ts';
import { eventually } from '../support/eventually.ts';
import { programPath } from '../support/find-program.ts';
import { describeWith, describeWithIpv6 } from '../support/programs.ts';
import { Relay } from '../support/relay.ts';
import { CLIENT, openTunnel, startAgent, startEngine } from '../support/tunnel.ts';
import { udpEcho, udpPeer } from '../support/udp.ts';

test('datagrams go both ways with their borders, and are counted for tunnel and client', async () => {
  const server = await startEngine();
  await startAgent(server);
  const target = await udpEcho('re: ');
  const { port, id } = await openTunnel(server, { mode: 'udp', targets: [target.address] });
  const visitor = await udpPeer();
  for (const text of ['one', 'two', 'three']) visitor.send(text, port);
  const answers = [await visitor.next(), await visitor.next(), await visitor.next()];
  expect(answers.map(String)).toEqual(['re: one', 're: two', 're: three']);
  expect(target.received.map(String)).toEqual(['one', 'two', 'three']);
  expect(server.engine.tunnelState(id)).toMatchObject({ running: true, connections: 1, dropped: 0 });
  expect(server.engine.clientState(CLIENT.id)).toMatchObject({ connections: 1 });
});

test.each([1, 2, 1472, 9000, 65_507])('a datagram of %i bytes arrives whole', async (size) => {
  const server = await startEngine();
  await startAgent(server);
  const target = await udpEcho();
  const { port } = await openTunnel(server, { mode: 'udp', targets: [target.address] });
  const visitor = await udpPeer();
  const sent = randomBytes(size);
  expect((await visitor.ask(sent, port)).equals(sent)).toBe(true);
  expect(target.received.map(({ length }) => length)).toEqual([size]);
});

test('every visitor has a session of its own, which sees only its own answers; targets are used in round-robin order', async () => {
  const server = await startEngine();
  await startAgent(server);
  const [one, two] = [await udpEcho('one '), await udpEcho('two ')];
  const tunnel = await openTunnel(server, { mode: 'udp', targets: [one.address, two.address] });
  const { port, id } = tunnel;
  const visitors = [await udpPeer(), await udpPeer(), await udpPeer()];
  const answers = [];
  for (const [i, visitor] of visitors.entries()) {
    answers.push(String(await visitor.ask(`from ${i}`, port)), String(await visitor.ask(`again ${i}`, port)));
    // A change continues the order.
    if (i === 0) await server.engine.apply({ kind: 'tunnel', tunnel });
  }
  expect(answers).toEqual(['one from 0', 'one again 0', 'two from 1', 'two again 1', 'one from 2', 'one again 2']);
  expect([one.senders.length, two.senders.length]).toEqual([2, 1]);
  expect(server.engine.tunnelState(id)?.connections).toBe(3);
});

test('an unreachable target leaves the rotation, a single one is retried', async () => {
  const server = await startEngine();
  await startAgent(server);
  const gone = await udpPeer();
  await gone.close();
  const there = await udpEcho();
  const both = await openTunnel(server, { mode: 'udp', targets: [gone.address, there.address] });
  const visitor = await udpPeer();
  visitor.send('lost', both.port);
  await eventually(() => {
    visitor.send('again', both.port);
    return visitor.received.length;
  }, (received) => received > 0);

  const alone = await openTunnel(server, { mode: 'udp', targets: [gone.address] });
  const waiting = await udpPeer();
  waiting.send('too early', alone.port);
  await eventually(() => server.engine.tunnelState(alone.id)?.connections, (open) => open === 1);
  const back = await udpPeer('127.0.0.1', gone.port);
  await eventually(() => {
    waiting.send('now', alone.port);
    return back.received.length;
  }, (received) => received > 0);
  expect(back.senders.length).toBe(1);
});

test('an idle session ends, an active one continues, and the next datagram begins a new session', async () => {
  const server = await startEngine({ udpIdleMs: 300 });
  await startAgent(server);
  const target = await udpEcho();
  const { port, id } = await openTunnel(server, { mode: 'udp', targets: [target.address] });
  const [idle, busy] = [await udpPeer(), await udpPeer()];
  await idle.ask('x', port);
  await busy.ask('x', port);
  const beating = setInterval(() => busy.send('x', port), 50);
  try {
    await eventually(() => server.engine.tunnelState(id)?.connections, (open) => open === 1);
  } finally {
    clearInterval(beating);
  }
  expect(target.senders.length).toBe(2);
  await idle.ask('back', port);
  expect(target.senders.length).toBe(3);
  await eventually(() => server.engine.tunnelState(id)?.connections, (open) => open === 0);
});

test('while the agent does not read, few datagrams are queued, and the rest is dropped and counted', async () => {
  const server = await startEngine();
  const relay = await Relay.start(server.bridge.port);
  await startAgent({ bridge: relay.address });
  const target = await udpEcho();
  const { port, id } = await openTunnel(server, { mode: 'udp', targets: [target.address] });
  const visitor = await udpPeer();
  await visitor.ask('x', port);
  relay.freeze();
  const flood = Buffer.alloc(60_000);
  await eventually(() => {
    for (let i = 0; i < 8; i++) visitor.send(flood, port);
    return server.engine.tunnelState(id)?.dropped ?? 0;
  }, (dropped) => dropped > 200);
  // What was taken waits in the kernel's buffers, in 256 KB of the tunnel's and 1 MB of the stream's.
  expect(server.engine.tunnelState(id)?.inletBytes).toBeLessThan(48 * 1024 * 1024);
});

test('datagrams of refused visitors, and without an agent, are dropped and counted', async () => {
  const server = await startEngine();
  const target = await udpEcho();
  const { port, id } = await openTunnel(server, { mode: 'udp', targets: [target.address] });
  const visitor = await udpPeer();
  visitor.send('nobody', port);
  await eventually(() => server.engine.tunnelState(id)?.dropped, (dropped) => dropped === 1);
  await startAgent(server);
  await visitor.ask('x', port);
  await server.engine.apply({ kind: 'blackIpList', list: ['127.0.0.9'] });
  (await udpPeer('127.0.0.9')).send('refused', port);
  await eventually(() => server.engine.tunnelState(id)?.dropped, (dropped) => dropped === 2);
  expect(target.received.map(String)).toEqual(['x']);
});

test('a lost agent ends the sessions, and the next datagram begins one with the next agent', async () => {
  const server = await startEngine();
  const { agent } = await startAgent(server);
  const target = await udpEcho();
  const { port, id } = await openTunnel(server, { mode: 'udp', targets: [target.address] });
  const visitor = await udpPeer();
  await visitor.ask('before', port);
  await agent.stop();
  await eventually(() => server.engine.tunnelState(id)?.connections, (open) => open === 0);
  await startAgent(server);
  expect(String(await visitor.ask('after', port))).toBe('after');
  expect(target.senders.length).toBe(2);
});

test('a stopped tunnel frees its port and its sessions, a changed target holds for new sessions', async () => {
  const server = await startEngine();
  await startAgent(server);
  const [old, other] = [await udpEcho('old '), await udpEcho('new ')];
  const tunnel = await openTunnel(server, { mode: 'udp', targets: [old.address] });
  const visitor = await udpPeer();
  await visitor.ask('x', tunnel.port);
  const edited = { ...tunnel, targets: [other.address] };
  await server.engine.apply({ kind: 'tunnel', tunnel: edited });
  expect(String(await visitor.ask('x', tunnel.port))).toBe('old x');
  expect(String(await (await udpPeer()).ask('x', tunnel.port))).toBe('new x');
  await server.engine.apply({ kind: 'tunnel', tunnel: { ...edited, enabled: false } });
  expect(server.engine.tunnelState(tunnel.id)).toMatchObject({ running: false, connections: 0 });
  await (await udpPeer('127.0.0.1', tunnel.port)).close();
  await server.engine.apply({ kind: 'tunnel', tunnel: edited });
  expect(String(await visitor.ask('x', tunnel.port))).toBe('new x');
});

test('a drain does not wait for sessions', async () => {
  const server = await startEngine();
  await startAgent(server);
  const target = await udpEcho();
  const { port } = await openTunnel(server, { mode: 'udp', targets: [target.address] });
  await (await udpPeer()).ask('x', port);
  expect(await server.engine.drain(60_000)).toBe(0);
});

describeWithIpv6('udp on IPv6', () => {
  test('IPv4 and IPv6 visitors reach a port on all addresses, and targets may be either', async () => {
    const server = await startEngine();
    await startAgent(server);
    const [six, four] = [await udpEcho('six ', '::1'), await udpEcho('four ')];
    const { port } = await openTunnel(server, { mode: 'udp', serverIp: '', targets: [six.address, four.address] });
    expect(String(await (await udpPeer('127.0.0.1')).ask('a', port))).toBe('six a');
    expect(String(await (await udpPeer('::1')).ask('b', port, '::1'))).toBe('four b');
  });
});

test('server_ip binds one address', async () => {
  const server = await startEngine();
  await startAgent(server);
  const target = await udpEcho();
  const { port } = await openTunnel(server, { mode: 'udp', serverIp: '127.0.0.2', targets: [target.address] });
  const free = await udpPeer('127.0.0.1', port);
  expect(String(await (await udpPeer()).ask('x', port, '127.0.0.2'))).toBe('x');
  expect(free.received).toEqual([]);
});

describeWith('dig', 'DNS through a udp tunnel', () => {
  test('dig gets its answers', async () => {
    const server = await startEngine();
    await startAgent(server);
    const target = await udpPeer();
    target.onDatagram((query, reply) => reply(dnsAnswer(query)));
    const { port } = await openTunnel(server, { mode: 'udp', targets: [target.address] });
    const asked = await promisify(execFile)(programPath('dig'), [
      '@127.0.0.1',
      '-p',
      String(port),
      '+tries=1',
      '+time=5',
      '+noedns',
      '+short',
      'www.example.com',
    ]);
    expect(asked.stdout).toBe('192.0.2.7\n');
  });
});

test('one address that asks from thousands of ports takes no session from others', async () => {
  const server = await startEngine();
  await startAgent(server);
  const target = await udpEcho('re: ');
  const { port, id } = await openTunnel(server, { mode: 'udp', targets: [target.address] });
  const others = await Promise.all(Array.from({ length: 8 }, () => udpPeer('127.0.0.1')));
  for (const other of others) await other.ask('first', port);
  // More ports than an address may have sessions, a few at a time.
  const ports = new Set<number>();
  while (ports.size < 1100) {
    const crowd = await Promise.all(Array.from({ length: 100 }, () => udpPeer('127.0.0.2')));
    for (const peer of crowd) ports.add(peer.port);
    await Promise.all(crowd.map((peer) => peer.ask('crowd', port)));
    await Promise.all(crowd.map((peer) => peer.close()));
  }
  expect(server.engine.tunnelState(id)?.connections).toBe(1024 + others.length);
  const before = target.senders.length;
  expect(await Promise.all(others.map(async (other) => String(await other.ask('again', port))))).toEqual(others.map(() => 're: again'));
  expect(target.senders).toHaveLength(before); // by the sessions they had
});
