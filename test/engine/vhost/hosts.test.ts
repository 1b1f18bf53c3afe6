import { expect, test } from '@jest/globals';
import pino from 'pino';
import { Clients } from '../../../src/engine/client-index.ts';
import { ClientUsage } from '../../../src/engine/limits/client-usage.ts';
import { NO_BYTES, Ticker } from '../../../src/engine/limits/meter.ts';
import { Visitors } from '../../../src/engine/limits/visitors.ts';
import { Certificates } from '../../../src/engine/vhost/tls/certificates.ts';
import { Hosts } from '../../../src/engine/vhost/hosts.ts';
import { EmptySocket } from '../../support/empty-socket.ts';
import { CLIENT, fresh, startEngine, tunnelOf } from '../../support/tunnel.ts';
import { hostOf } from '../../support/vhost.ts';

test.each([
  ['has other settings', { location: '/other' }, false],
  ['is stopped', { enabled: false }, true],
  ['belongs to another client', { clientId: 2 }, true],
])('a host that %s: its open connections are cut or not', (_, change, cut) => {
  const ticker = new Ticker();
  const hosts = new Hosts(new Clients(), ticker, new Visitors(), new Certificates(pino({ level: 'silent' })), 5000);
  const host = hostOf({ clientId: CLIENT.id });
  hosts.set(host);
  let resets = 0;
  const stream = { join: () => undefined, reset: () => resets++, over: false };
  const client = new ClientUsage(ticker, CLIENT, NO_BYTES, () => undefined);
  hosts.get(host.id)?.connections.carry(new EmptySocket(), { open: () => stream }, client, Buffer.alloc(0));
  hosts.set({ ...host, ...change });
  expect(resets).toBe(cut ? 1 : 0);
});

test('a report on the health of a host that is gone is ignored', () => {
  const hosts = new Hosts(new Clients(), new Ticker(), new Visitors(), new Certificates(pino({ level: 'silent' })), 5000);
  expect(() => hosts.onHealth({ type: 'health', of: 'host', id: 1, targets: [] }, 0)).not.toThrow();
});

test('a host and a tunnel that moved to another client are no longer those of the former one, and go with the new one', async () => {
  const own = { ...CLIENT, ...fresh };
  const { engine } = await startEngine({ stored: { clients: [own, { ...own, id: 2, vkey: 'another' }] } });
  const hosts = ['one', 'two', 'three'].map((name) => hostOf({ clientId: CLIENT.id, host: `${name}.test` }));
  const tunnels = [1, 2, 3].map(() => tunnelOf({ mode: 'secret', password: `word ${Math.random()}` }));
  for (const host of hosts) await engine.apply({ kind: 'host', host });
  for (const tunnel of tunnels) await engine.apply({ kind: 'tunnel', tunnel });
  for (const host of hosts.slice(1, 2)) await engine.apply({ kind: 'host', host: { ...host, clientId: 2 } });
  for (const tunnel of tunnels.slice(1, 2)) await engine.apply({ kind: 'tunnel', tunnel: { ...tunnel, clientId: 2 } });
  const left = () => [hosts.map(({ id }) => engine.hostState(id) !== undefined), tunnels.map(({ id }) => engine.tunnelState(id) !== undefined)];
  expect(left()).toEqual([[true, true, true], [true, true, true]]);
  await engine.apply({ kind: 'clientRemoved', id: CLIENT.id });
  expect(left()).toEqual([[false, true, false], [false, true, false]]);
  await engine.apply({ kind: 'clientRemoved', id: 2 });
  expect(left()).toEqual([[false, false, false], [false, false, false]]);
});
