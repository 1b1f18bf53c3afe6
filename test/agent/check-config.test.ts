import { writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { expect, jest, test } from '@jest/globals';
import { runAgentCommand } from '../../src/agent-commands.ts';
import { checkConfig } from '../../src/agent/program.ts';
import { serveStatus } from '../../src/agent/status/status-socket.ts';
import { LogRecorder } from '../support/log-recorder.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const file = path.join(temporaryDirectory(), 'agent.toml');
const given = { servers: undefined, tls: undefined, vkey: undefined, allowFiles: [] };

/** What `--json` prints: one line that ends. */
async function jsonLine(): Promise<string> {
  const { text } = await checkConfig(file, given, true);
  expect(text).toMatch(/^.+\n$/);
  return text;
}

test('what a configuration file would do is listed, without secrets', async () => {
  writeFileSync(
    file,
    `
    server = "[::1]:8024"
    vkey = "hush"
    [tunnels.fixed]
    type = "tcp"
    port = 2222
    server_ip = "192.0.2.1"
    targets = ["10.0.0.1:22", "10.0.0.2:22"]
    [tunnels.free]
    type = "udp"
    targets = ["53"]
    [tunnels.hidden]
    type = "secret"
    password = "hush"
    targets = ["5432"]
    [tunnels.near]
    type = "p2p"
    password = "hush-too"
    targets = ["80"]
    [visitors.db]
    type = "secret"
    password = "hush"
    listen = 5432
  `,
  );
  const { ok, text } = await checkConfig(file, given, false);
  expect(text).not.toContain('hush');
  expect({ ok, lines: text.split('\n') }).toEqual({
    ok: true,
    lines: [
      `${file} is right. It would`,
      '  connect to [::1]:8024 as an agent',
      '  declare tunnel fixed: tcp on 192.0.2.1 port 2222 to 10.0.0.1:22, 10.0.0.2:22',
      '  declare tunnel free: udp on a free port to 53',
      '  declare tunnel hidden: secret to 5432',
      '  declare tunnel near: p2p to 80',
      '  open 127.0.0.1:5432 for visitor db, to a secret tunnel by way of [::1]:8024',
      '',
    ],
  });
  expect(JSON.parse(await jsonLine())).toEqual({ file, ok: true, steps: text.split('\n').slice(1, -1).map((line) => line.trim()) });
});

test('of hosts, files and servers it is listed where they are', async () => {
  const digits = 'ab'.repeat(32);
  writeFileSync(
    file,
    `server = "[::1]:8025,b.example:1"\nvkey = "hush"\ntls_fingerprint = "${digits}"\nallow_files = ["share", "/srv"]\n`
      + 'tunnels.files = { type = "file", port = 1, local_path = "share/x" }\ntunnels.proxy = { type = "socks5" }\n'
      + 'hosts.own = { host = "a.example", location = "/app", scheme = "https", targets = ["80"] }\n'
      + 'hosts.below = { platform_domain = "d", platform_prefix = "p", targets = ["81"] }\n',
  );
  const share = path.join(path.dirname(file), 'share');
  expect(JSON.parse(await jsonLine())).toMatchObject({
    steps: [
      `connect to [::1]:8025 or b.example:1 over TLS, with the certificate ${digits} as an agent`,
      `let tunnels serve files below ${share}`,
      'let tunnels serve files below /srv',
      `declare tunnel files: file on port 1 of ${share}/x`,
      'declare tunnel proxy: socks5 on a free port',
      'declare host own: a.example/app (https) to 80',
      'declare host below: p below d/ (all) to 81',
    ],
  });
});

test('of a visitor alone it is listed, over TLS with any certificate', async () => {
  writeFileSync(file, 'server = "a:1"\ntls = true\nvisitors.db = { type = "p2p", password = "hush", listen = 5432 }\n');
  expect(JSON.parse(await jsonLine())).toMatchObject({
    steps: ['open 127.0.0.1:5432 for visitor db, to a p2p tunnel by way of a:1 over TLS'],
  });
});

test('problems are listed with their lines instead', async () => {
  writeFileSync(file, 'server = "a:1"\nvkey = "k"\n[tunnels.x]\ntype = "tcp"\nport = 99999\ntargets = ["1"]\n');
  const { ok, text } = await checkConfig(file, given, false);
  expect(ok).toBe(false);
  expect(text).toMatch(/^.*agent\.toml:5: .*\n$/);
  expect(JSON.parse(await jsonLine())).toEqual({ file, ok: false, problems: [text.trim()] });
});

test('the command prints what it found to stdout, and problems to stderr unless JSON is wanted, with exit code 1; also if there is no agent to show', async () => {
  const out = jest.spyOn(process.stdout, 'write').mockImplementation(() => true);
  const err = jest.spyOn(process.stderr, 'write').mockImplementation(() => true);
  const { exitCode, env: { ADIT_RUNTIME_DIR: runtimeDir } } = process;
  process.env['ADIT_RUNTIME_DIR'] = path.dirname(file);
  try {
    const ended = async (flags: Parameters<typeof runAgentCommand>[0]) => {
      process.exitCode = undefined;
      await runAgentCommand(flags);
      const printed = [out, err].map((spy) => spy.mock.calls.splice(0).map(([text]) => String(text)).join(''));
      return [process.exitCode, ...printed];
    };
    writeFileSync(file, 'server = "a:1"\nvkey = "k"\n');
    expect(await ended({ check: true, config: file })).toEqual([undefined, expect.stringMatching(/./), '']);
    writeFileSync(file, 'server = 1\n');
    expect(await ended({ check: true, config: file })).toEqual([1, '', expect.stringContaining('server')]);
    expect(await ended({ check: true, config: file, json: true })).toEqual([1, expect.stringMatching(/^\{.*\}\n$/), '']);
    expect(await ended({ status: true })).toEqual([1, 'no agent of this user is running\n', '']);
    expect(await ended({ status: true, json: true })).toEqual([1, '', '']);
    await expect(ended({ check: true, server: 'a:1', vkey: 'k' })).rejects.toThrow('--check: give the file');
    const snapshot = { pid: 1, version: '1', config: file, problems: [], session: null, entries: null, visitors: [] };
    const close = await serveStatus(path.dirname(file), async () => snapshot, new LogRecorder().logger);
    expect(await ended({ status: true, json: true, config: path.relative(process.cwd(), file) })).toEqual([undefined, `${JSON.stringify(snapshot)}\n`, '']);
    expect(await ended({ status: true, json: true, config: path.basename(file) })).toEqual([1, '', '']);
    await close();
  } finally {
    process.exitCode = exitCode;
    if (runtimeDir === undefined) delete process.env['ADIT_RUNTIME_DIR'];
    else process.env['ADIT_RUNTIME_DIR'] = runtimeDir;
    out.mockRestore();
    err.mockRestore();
  }
});
