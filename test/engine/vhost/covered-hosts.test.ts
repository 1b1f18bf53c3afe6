import { once } from 'node:events';
import tls from 'node:tls';
import { expect, jest, test } from '@jest/globals';
import { coveredHosts } from '../../../src/engine/vhost/tls/covered-hosts.ts';
import { covering } from '../../support/certificates.ts';

test('a connection may request the host of its handshake and those that the certificate covers; what is known of 64 is kept', async () => {
  const server = tls.createServer({ cert: covering.certificate, key: covering.key }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('it does not listen');
  const client = tls.connect({ port: address.port, rejectUnauthorized: false });
  const [shown]: tls.TLSSocket[] = await once(server, 'secureConnection');
  if (!shown) throw new Error('no connection');
  const looks = jest.spyOn(shown, 'getX509Certificate');
  const covers = coveredHosts('other.org', shown);
  /** How often the certificate was looked at, for these hosts. */
  const looked = (...hosts: readonly string[]) => {
    looks.mockClear();
    for (const host of hosts) covers(host);
    return looks.mock.calls.length;
  };
  expect(['other.org', 'a.p.example.com', 'a.org'].map((host) => covers(host))).toEqual([true, true, false]);
  const hosts = Array.from({ length: 63 }, (_, index) => `${index}.org`);
  expect([looked(...hosts.slice(1)), looked('a.org', 'a.p.example.com', 'other.org', ...hosts.slice(1))]).toEqual([62, 0]);
  expect([looked('0.org'), looked('0.org'), looked('1.org')]).toEqual([1, 0, 1]);
  client.destroy();
  shown.destroy();
  server.close();
  await once(server, 'close');
});
