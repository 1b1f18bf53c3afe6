import { expect, test } from '@jest/globals';
import { roundTrip, startEcho, visit } from '../support/target.ts';
import { openTunnel, startAgent, startEngine } from '../support/tunnel.ts';

/** An engine whose tunnels listen on an address, with an agent. */
async function engineAt(tunnelHost: string) {
  const server = await startEngine({ tunnelHost });
  await startAgent(server);
  return server;
}

test('two engines on one machine open the same ports, each on its own address; a tunnel with an address of its own keeps it', async () => {
  const [one, two] = [await engineAt('127.0.0.2'), await engineAt('127.0.0.3')];
  const targets = [(await startEcho()).address];
  const { port, ...tunnel } = await openTunnel(one, { id: 1, targets, serverIp: '' });
  await openTunnel(two, { id: 1, targets, serverIp: '', port });
  expect(await roundTrip(await visit(port, '127.0.0.2'), 'one')).toBe('one');
  expect(await roundTrip(await visit(port, '127.0.0.3'), 'two')).toBe('two');
  await expect(visit(port, '127.0.0.1')).rejects.toThrow('ECONNREFUSED');
  await expect(openTunnel(two, { id: 2, targets, serverIp: '127.0.0.2', port })).rejects.toThrow(`port ${port} is held by another tunnel`);

  const own = await openTunnel(one, { id: 3, targets, serverIp: '127.0.0.4' });
  expect(await roundTrip(await visit(own.port, '127.0.0.4'), 'own')).toBe('own');
  await expect(visit(own.port, '127.0.0.2')).rejects.toThrow('ECONNREFUSED');

  // Stopped and started again, without a lease.
  await one.engine.apply({ kind: 'tunnel', tunnel: { ...tunnel, port, enabled: false } });
  await expect(visit(port, '127.0.0.2')).rejects.toThrow('ECONNREFUSED');
  await one.engine.apply({ kind: 'tunnel', tunnel: { ...tunnel, port } });
  expect(await roundTrip(await visit(port, '127.0.0.2'), 'again')).toBe('again');
  await expect(visit(port, '127.0.0.1')).rejects.toThrow('ECONNREFUSED');
});

test('udp tunnels listen there, too, and an address that the machine lacks is named in the refusal', async () => {
  const [one, two] = [await engineAt('127.0.0.2'), await engineAt('127.0.0.3')];
  const { port } = await openTunnel(one, { id: 1, mode: 'udp', serverIp: '' });
  expect(await openTunnel(two, { id: 1, mode: 'udp', serverIp: '', port })).toMatchObject({ port });
  const nowhere = await startEngine({ tunnelHost: '203.0.113.7' });
  await expect(openTunnel(nowhere, { serverIp: '' })).rejects.toThrow('address 203.0.113.7 does not belong to this machine');
});
