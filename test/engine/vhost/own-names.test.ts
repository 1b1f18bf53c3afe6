import path from 'node:path';
import { expect, test } from '@jest/globals';
import { writePrivately } from '../../../src/settings/private-file.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { startEngine } from '../../support/tunnel.ts';
import { exchange, hostOf, startRawOrigin, startVhost } from '../../support/vhost.ts';

const hello = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello';
const directory = temporaryDirectory();
const byUser = { namedByAdmin: false } as const;

test("when a name becomes the server's own, requests go to the administrator's host instead of users' hosts and wildcards", async () => {
  const origin = await startRawOrigin((_text, socket) => socket.end(hello));
  const { httpPort, hosts } = await startVhost([
    hostOf({ id: 1001, host: 'panel.example.org', targets: [origin.target], ...byUser }),
    hostOf({ host: '*.example.org', targets: [origin.target], ...byUser }),
    hostOf({ host: '127.0.0.1', targets: [origin.target], ...byUser }),
  ]);
  const status = async (host: string) => /^HTTP\/1.1 (\d+)/.exec(await exchange(httpPort, `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`))?.[1];
  expect(await status('panel.example.org')).toBe('200');
  expect(await status('127.0.0.1')).toBe('404');
  hosts.serverName = 'panel.example.org';
  expect(await status('panel.example.org')).toBe('404');
  expect(await status('other.example.org')).toBe('200');
  expect(hosts.state(1001, () => '')).toMatchObject({ running: false, error: expect.stringMatching(/own/) });
  hosts.set(hostOf({ id: 1001, host: 'panel.example.org', targets: [origin.target] }));
  expect(await status('panel.example.org')).toBe('200');
  hosts.set(hostOf({ id: 1001, host: 'panel.example.org', targets: [origin.target], ...byUser }));
  hosts.serverName = '';
  expect(await status('panel.example.org')).toBe('200');
});

test("no certificate is ordered for one of the server's own names while a user's host has it", async () => {
  const acme = { directory: 'https://127.0.0.1:1/dir', email: '', dir: path.join(directory, 'acme'), write: writePrivately };
  const stored = [
    hostOf({ id: 1, host: 'api.example.org', acme: true, ...byUser }),
    hostOf({ id: 2, host: 'www.example.org', acme: true, ...byUser }),
    hostOf({ id: 3, host: 'api.example.org', location: '/x', acme: true }),
  ]
    .map((host) => ({ ...host, inletBytes: 0, exportBytes: 0 }));
  const { engine, log } = await startEngine({ stored: { hosts: stored.slice(0, 2) }, acme, publicUrl: 'https://api.example.org:8080' });
  const ordered = async (id: number) => (await engine.hostCertificate(id))?.acme !== undefined;
  expect([await ordered(1), await ordered(2)]).toEqual([false, true]);
  expect(await log.line(/^hosts are not served/)).toMatchObject({ hosts: ['api.example.org'], count: 1 });
  await engine.apply({ kind: 'serverName', name: 'www.example.org' });
  expect(await ordered(2)).toBe(false);
  await engine.apply({ kind: 'serverName', name: '' });
  expect(await ordered(2)).toBe(true);
  const [, , granted] = stored;
  if (granted) await engine.apply({ kind: 'host', host: granted });
  expect(await ordered(3)).toBe(true);
});
