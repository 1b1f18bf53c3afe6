import { expect, test } from '@jest/globals';
import pino from 'pino';
import { Clients } from '../../../src/engine/client-index.ts';
import { ClientUsage } from '../../../src/engine/limits/client-usage.ts';
import { NO_BYTES, Ticker } from '../../../src/engine/limits/meter.ts';
import { Visitors } from '../../../src/engine/limits/visitors.ts';
import { Certificates } from '../../../src/engine/vhost/tls/certificates.ts';
import { Hosts } from '../../../src/engine/vhost/hosts.ts';
import { EmptySocket } from '../../support/empty-socket.ts';
import { CLIENT } from '../../support/tunnel.ts';
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
