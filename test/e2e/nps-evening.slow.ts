import { readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import { sign } from '../../src/legacy/signature.ts';
import { Child, endChildren } from '../support/child.ts';
import { eventuallyAsync } from '../support/eventually.ts';
import { freePort, freePortRange } from '../support/free-port.ts';
import { startHttpTarget } from '../support/http-target.ts';
import { runCommand } from '../support/nps-command.ts';
import { npsClient, npsFolder, npsTunnel, npsUser } from '../support/nps-folder.ts';
import { newDataDir, programOf, quickStart } from '../support/processes.ts';
import { removeScratchDirectories, scratchDirectory } from '../support/scratch.ts';
import { refusal, roundTrip, startEcho, visit } from '../support/target.ts';

// Short form: test/migration/import-nps.test.ts

afterEach(endChildren);
afterAll(removeScratchDirectories);

const done = { code: 0, signal: null };

/** A request whose response is read. @returns status and body */
function ask(options: http.RequestOptions, body = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = http.request({ host: '127.0.0.1', agent: false, ...options }, (response) => {
      text(response).then((answer) => resolve(`${response.statusCode} ${answer}`), reject);
    });
    request.once('error', reject);
    request.end(body);
  });
}

// docs/migrating.md, with real processes: nps.conf and npc.conf are verified by starting what they become.
test('an evening: a conf directory and three start scripts move to Adit, and back', async () => {
  const [echo, web] = [await startEcho(), await startHttpTarget()];
  const first = await freePortRange(6);
  const [tcp, ranged, , declared, socks, local] = Array.from({ length: 6 }, (_, index) => first + index);
  const [bridge, tls, hosts, secureHosts, api, p2p] = await Promise.all(Array.from({ length: 6 }, () => freePort()));
  const conf = [
    '# NPS',
    'appname = nps',
    'bridge_type=both',
    `bridge_port = ${bridge}`,
    `tls_bridge_port=${tls}`,
    'http_proxy_ip=127.0.0.1',
    `http_proxy_port=${hosts}`,
    `https_proxy_port=${secureHosts}`,
    'web_ip=127.0.0.1',
    `web_port = ${api}`,
    'web_base_url=/nps/',
    'web_username=root',
    'web_password=the "old" password',
    'auth_key=the old key',
    'auth_crypt_key=1234567812345678',
    'public_vkey=123',
    `allow_ports=${first}-${first + 5}`,
    `p2p_port=${p2p}`,
    'log_level=7',
    'http_cache=true',
    'some_key=x',
    '',
  ].join('\r\n');
  const folder = npsFolder({
    conf,
    users: [npsUser({ Id: 1, UserName: 'alice', Password: 'her password' })],
    clients: [npsClient({ Id: 2, VerifyKey: 'first key', UserId: 1 }), npsClient({ Id: 3, VerifyKey: 'second key', ConfigConnAllow: true })],
    tasks: [
      npsTunnel({ Port: tcp, Target: { TargetStr: echo.address } }),
      npsTunnel({ Id: 6, Mode: 'secret', Password: 'visitors know it', Target: { TargetStr: echo.address } }),
    ],
  });
  const directory = scratchDirectory();
  const [settingsFile, agentFile, npcConf] = ['adit.toml', 'agent.toml', 'npc.conf'].map((name) => path.join(directory, name));
  if (settingsFile === undefined || agentFile === undefined || npcConf === undefined) throw new Error('three files');
  const dataDir = newDataDir();
  const environment = { ADIT_DATA_DIR: dataDir, ADIT_SOCKETS: 'captured', ADIT_RUNTIME_DIR: path.join(directory, 'run') } as const;
  const start = (...words: string[]) => new Child(process.execPath, [...quickStart, programOf(), ...words], environment);

  expect(await runCommand(['import', 'nps-conf', path.join(folder, 'nps.conf'), '--out', settingsFile], {})).toMatchObject(done);
  expect(readFileSync(settingsFile, 'utf8')).toMatch(
    /# {3}auth_crypt_key: not carried over: it is a publicly known value[^]*# {3}http_cache: put a cache[^]*# {3}some_key: unknown/,
  );
  expect(await runCommand(['import', 'nps-conf', path.join(folder, 'nps.conf'), '--out', settingsFile], {})).toMatchObject({
    code: 1,
    output: expect.stringContaining('exists already'),
  });
  expect(await runCommand(['import', 'nps', folder, '--config', settingsFile], environment)).toMatchObject({
    ...done,
    output: expect.stringContaining('\nImported.\n'),
  });

  const server = start('server', '--config', settingsFile);
  await server.says(new RegExp(`API +http://127\\.0\\.0\\.1:${api}/nps[^]*Bridge +\\S+:${bridge}, over TLS :${tls}[^]*Hosts +HTTP 127\\.0\\.0\\.1:${hosts}`));
  const query = (auth: string) =>
    ask(
      { port: api, path: '/nps/graphql', method: 'POST', headers: { 'content-type': 'application/json' }, auth },
      JSON.stringify({ query: '{ clients { rows { id } } }' }),
    );
  expect(await query('root:the "old" password')).toMatch(/^200 .*"id":"2".*"id":"3"/);
  expect(await query('root:another')).toMatch(/^401 /);
  const login = (username: string, password: string) =>
    ask(
      { port: api, path: '/nps/login/verify', method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      String(new URLSearchParams({ username, password })),
    );
  expect(await login('alice', 'another password')).toMatch(/"status":0/);
  expect(await login('alice', 'her password')).toMatch(/^200 .*"status":1/);
  const timestamp = Math.floor(Date.now() / 1000);
  const signed = (key: string) => ask({ port: api, path: `/nps/client/list/?auth_key=${sign(key, timestamp)}&timestamp=${timestamp}&limit=10` });
  expect(await signed('the old key')).toMatch(/^200 .*"VerifyKey":"first key"/);
  expect(await signed('another key')).toMatch(/^401 /);

  // The start scripts: each with `npc` replaced by `adit npc`.
  await start('npc', `-server=127.0.0.1:${bridge}`, '-vkey=first key', '-type=tcp').says(/connected to/);
  expect(await roundTrip(await visit(tcp ?? 0), 'by flags')).toBe('by flags');
  await start('npc', `-server=127.0.0.1:${bridge}`, '-vkey=x', '-local_type=secret', '-password=visitors know it', `-local_port=${local}`).says(/connected to/);
  expect(await roundTrip(await visit(local ?? 0), 'as a visitor')).toBe('as a visitor');
  const fileTls = '\ntls_enable=true\ntls_insecure_skip_verify=true';
  writeFileSync(path.join(directory, 'multi_account.conf'), '# accounts\nbob=another = secret\n');
  writeFileSync(
    npcConf,
    `[common]
server_addr=127.0.0.1:${tls}
conn_type=tcp
vkey=second key
auto_reconnection=true
remark=kept on the server${fileTls}

[health_web]
health_check_timeout=1
health_check_max_failed=3
health_check_interval=1
health_check_type=tcp
health_check_target=127.0.0.1:${web.port}

[web]
host=web.example.com
target_addr=127.0.0.1:${web.port}
header_X-From=npc

[range]
mode=tcp
server_port=${ranged}-${(ranged ?? 0) + 1}
target_port=${echo.port}-${echo.port + 1}

[tcp]
mode=tcp
target_addr=${echo.address}
server_port=${declared}

[socks5]
mode=socks5
server_port=${socks}
multi_account=multi_account.conf
`,
  );
  expect(await runCommand(['import', 'npc-conf', npcConf, '--out', agentFile], {})).toMatchObject(done);
  const agent = start('agent', '--config', agentFile);
  await agent.says(/connected to/);
  const works = () => eventuallyAsync(() => refusal(declared ?? 0), (reason) => reason === '');
  await works();
  expect(await roundTrip(await visit(declared ?? 0), 'from a file')).toBe('from a file');
  expect(await roundTrip(await visit(ranged ?? 0), 'from a range')).toBe('from a range');
  await eventuallyAsync(() => ask({ port: hosts, path: '/', headers: { host: 'web.example.com' } }), (answer) => answer === '200 GET / ');
  expect(web.requests.at(-1)?.headers['x-from']).toBe('npc');
  await agent.end();
  const npc = start('npc', `-config=${npcConf}`);
  await npc.says(/connected to/);
  await works();
  expect(await roundTrip(await visit(declared ?? 0), 'from npc.conf')).toBe('from npc.conf');

  await endChildren();
  const back = path.join(directory, 'back');
  const exported = await runCommand(['export', 'nps', back, '--lineage', 'Z', '--config', settingsFile], environment);
  expect(exported).toMatchObject({ ...done, output: expect.stringMatching(/2 clients, 2 tunnels, 0 hosts, 1 users[^]*Lost:/) });
  expect(await runCommand(['import', 'nps', back], { ADIT_DATA_DIR: scratchDirectory() })).toMatchObject({
    ...done,
    output: expect.stringMatching(/clients +2 +0 +0\ntunnels +2 [^]*\nImported\.\n/),
  });
});
