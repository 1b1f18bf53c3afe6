import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { adit, client, directory, graphql, hosts, httpText, server, serveConfigured, startWeb, tunnels } from '../support/configured.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { roundTrip, startEcho, visit } from '../support/target.ts';
import { udpEcho, udpPeer } from '../support/udp.ts';

serveConfigured();

test('every kind of entry carries traffic, and lists show it as not stored', async () => {
  const { id, file, save } = await client();
  const echo = await startEcho();
  const udp = await udpEcho();
  const web = await startWeb('the web server');
  mkdirSync(path.join(directory, 'files'), { recursive: true });
  writeFileSync(path.join(directory, 'files', 'hello.txt'), 'the file');
  save(`
    allow_files = ["files"]
    [tunnels.echo]
    type = "tcp"
    targets = ["${echo.address}"]
    remark = "over TCP"
    [tunnels.datagrams]
    type = "udp"
    targets = ["127.0.0.1:${udp.port}"]
    [tunnels.proxy]
    type = "httpProxy"
    [tunnels.socks]
    type = "socks5"
    [tunnels.files]
    type = "file"
    local_path = "files"
    [tunnels.hidden]
    type = "secret"
    password = "the password of hidden"
    targets = ["${echo.address}"]
    [tunnels.direct]
    type = "p2p"
    password = "the password of direct"
    targets = ["${echo.address}"]
    [hosts.web]
    host = "web.config.test"
    targets = ["${web}"]
    [visitors.hidden]
    type = "secret"
    password = "the password of hidden"
    listen = 0
    [visitors.direct]
    type = "p2p"
    password = "the password of direct"
    listen = 0
  `);
  const agent = adit('--config', file);
  for (const name of ['echo', 'datagrams', 'proxy', 'socks', 'files', 'hidden', 'direct']) await agent.says(new RegExp(`tunnel ${name}: .*\\(id \\d+\\)`));
  await agent.says(/host web: web\.config\.test to 127\.0\.0\.1:\d+ \(id \d+\)/);
  const rows = await tunnels(id);
  expect(rows.map(({ Mode, NoStore, RunStatus }) => ({ Mode, NoStore, RunStatus }))).toEqual(
    ['tcp', 'udp', 'httpProxy', 'socks5', 'file', 'secret', 'p2p'].map((Mode) => ({ Mode, NoStore: true, RunStatus: true })),
  );
  expect(rows[0]?.Remark).toBe('over TCP');
  expect(await hosts(id)).toMatchObject([{ Host: 'web.config.test', NoStore: true }]);
  expect(await graphql(`{ tunnels(filter: { clientId: ${id} }) { rows { noStore } } hosts(filter: { clientId: ${id} }) { rows { noStore } } }`))
    .toEqual({ data: { tunnels: { rows: rows.map(() => ({ noStore: true })) }, hosts: { rows: [{ noStore: true }] } } });

  const portOf = (mode: string): number => rows.find(({ Mode }) => Mode === mode)?.Port ?? 0;
  expect(await roundTrip(await visit(portOf('tcp')), 'over tcp')).toBe('over tcp');
  expect(String(await (await udpPeer()).ask('over udp', portOf('udp')))).toBe('over udp');
  expect(await httpText({ port: portOf('httpProxy'), path: `http://${web}/`, headers: { host: web } })).toBe('the web server');
  const socks = await visit(portOf('socks5'));
  socks.write(Buffer.from([5, 1, 0]));
  expect([...(await once(socks, 'data'))[0] as Buffer]).toEqual([5, 0]);
  const [, webPort = ''] = web.split(':');
  socks.write(Buffer.from([5, 1, 0, 1, 127, 0, 0, 1, Number(webPort) >> 8, Number(webPort) & 255]));
  expect(((await once(socks, 'data'))[0] as Buffer)[1]).toBe(0);
  socks.end('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  expect(String((await once(socks, 'data'))[0])).toContain('200 OK');
  expect(await httpText({ port: portOf('file'), path: '/hello.txt' })).toBe('the file');
  expect(await httpText({ port: server().hostsPort, headers: { host: 'web.config.test' } })).toBe('the web server');
  for (const name of ['hidden', 'direct']) {
    const [, port] = await agent.says(new RegExp(`listening on 127\\.0\\.0\\.1:(\\d+) visitor=${name}`));
    await eventuallyAsync(async () => {
      try {
        return await roundTrip(await visit(Number(port)), name);
      } catch {
        return '';
      }
    }, (text) => text === name);
  }
});
