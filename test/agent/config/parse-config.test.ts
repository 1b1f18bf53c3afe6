import { describe, expect, test } from '@jest/globals';
import { hostOf } from '../../../src/agent/config/host-table.ts';
import { problemLine } from '../../../src/agent/config/problem.ts';
import { parseAgentConfig } from '../../../src/agent/config/parse-config.ts';
import { tunnelOf } from '../../../src/agent/config/tunnel-table.ts';
import { declaredHostOf, declaredTunnelOf } from '../../support/declared-entries.ts';

/** What its operator would read. */
function problems(text: string): string[] {
  const parsed = parseAgentConfig(text);
  return 'problems' in parsed ? parsed.problems.map((problem) => problemLine('a.toml', problem)) : [];
}

function configOf(text: string) {
  const parsed = parseAgentConfig(text);
  if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems));
  return parsed.config;
}

describe("the text of an agent's configuration file", () => {
  test('becomes a session, entries and visitors', () => {
    const config = configOf(`
      server = "[::1]:8024"
      vkey = "secret"
      allow_files = ["files"]
      [tunnels.ssh]
      type = "tcp"
      targets = ["22"]
      [visitors.db]
      type = "secret"
      password = "p"
      listen = 5432
    `);
    expect(config).toMatchObject({
      server: [{ host: '::1', port: 8024 }],
      vkey: 'secret',
      tls: false,
      allow_files: ['files'],
      visitors: { db: { listen: { host: '127.0.0.1', port: 5432 } } },
    });
    expect(Object.values(config.tunnels).map(tunnelOf)).toEqual([declaredTunnelOf({ targets: ['22'] })]);
  });

  test('declares every setting of a host', () => {
    const config = configOf(`
      [hosts.web]
      host = "a.example"
      location = "/app"
      scheme = "https"
      targets = ["80", "81"]
      headers = ["X-One: 1", "X-Two: 2"]
      host_change = "inner.example"
      auto_https = true
      acme = true
      remark = "the shop"
      [hosts.platform]
      platform_domain = "d"
      platform_prefix = "p"
      targets = ["1"]
    `);
    const { certificate, privateKey, ...others } = declaredHostOf({
      host: 'a.example',
      location: '/app',
      scheme: 'https',
      targets: ['80', '81'],
      headers: ['X-One: 1', 'X-Two: 2'],
      hostChange: 'inner.example',
      autoHttps: true,
      acme: true,
      remark: 'the shop',
    });
    expect(Object.values(config.hosts).map(hostOf)).toMatchObject([others, { host: '', platformDomainId: 'd', platformPrefix: 'p', targets: ['1'] }]);
    expect([certificate, privateKey]).toEqual(['', '']);
  });

  test.each([
    ['a TOML error, without quoting the line', 'vkey = "abc', ['a.toml:1: Invalid TOML document: unfinished string']],
    ['unknown keys', 'serverr = "a:1"\n[tunnels.a]\ntype = "tcp"\ntargets = ["1"]\npassword = "p"', [
      'a.toml:5: tunnels.a.password: only for tunnels of type secret, p2p',
      'a.toml:1: serverr: unknown key',
    ]],
    ['what is missing', '[tunnels.a]\ntype = "secret"\n', ['a.toml:1: tunnels.a.targets: is missing', 'a.toml:1: tunnels.a.password: is missing']],
    ['a wrong type', '[tunnels.a]\ntype = "ftp"', ['a.toml:2: tunnels.a.type: must be "tcp", "udp", "httpProxy", "socks5", "file", "secret" or "p2p"']],
    ['a target that is none', '[hosts.a]\nhost = "a.example"\ntargets = ["1", "nope"]', [
      'a.toml:3: hosts.a.targets.1: must be host:port, [IPv6]:port or a port',
    ]],
    ['a key inside an inline table', 'tunnels = { a = { type = "tcp", targets = [] } }', ['a.toml:1: tunnels.a.targets: must name at least one target']],
    ['a text that is far too long', `#${'x'.repeat(256 * 1024)}`, ['a.toml: is too long to be a configuration file']],
    ['two keys', 'vkey = "a"\nvkey_file = "b"', ['a.toml:2: vkey_file: must not be given together with vkey']],
    ['one port of two tunnels', '[tunnels.a]\ntype = "tcp"\ntargets = ["1"]\nport = 80\n[tunnels.b]\ntype = "socks5"\nport = 80', [
      'a.toml:7: tunnels.b.port: is that of tunnels.a too',
    ]],
    [
      'one password of two tunnels',
      [['a', 'secret'], ['b', 'p2p']].map(([name, type]) => `[tunnels.${name}]\ntype = "${type}"\ntargets = ["1"]\npassword = "p"`).join('\n'),
      [
        'a.toml:8: tunnels.b.password: is that of tunnels.a too',
      ],
    ],
    ['half a certificate', '[hosts.a]\nhost = "a.example"\ntargets = ["1"]\ncertificate = "a.pem"', ['a.toml:1: hosts.a.private_key: is missing']],
    ['a name of its own below a platform domain', '[hosts.a]\nhost = "a.example"\nplatform_domain = "d"\nplatform_prefix = "a"\ntargets = ["1"]', [
      'a.toml:2: hosts.a.host: must not be given together with a platform domain',
    ]],
    ['a name that nobody could read', '[tunnels."a\\nb"]\ntype = "socks5"', [
      'a.toml: tunnels.a?b: must be a name of 1 to 64 letters, digits, blanks, dots, - and _',
    ]],
    ['a table __proto__', '[tunnels.__proto__]\ntype = "socks5"', ['a.toml: tunnels: must have no table of the name __proto__']],
  ])('%s: the field is named, with its line', (_, text, expected) => {
    expect(problems(text)).toEqual(expected);
  });

  test('no secret is quoted', () => {
    const text = 'vkey = "hush-hush"\nvkey_file = ["hush-hush"]\n[visitors.a]\ntype = "secret"\npassword = ["hush-hush"]\nlisten = "hush-hush:x"';
    expect(problems(text)).not.toHaveLength(0);
    expect(problems(text).join()).not.toContain('hush-hush');
    expect(problems(`vkey = "hush-hush"\n[tunnels.a\n`).join()).not.toContain('hush-hush');
  });

  test('thousands of invalid tables are read quickly, and the first twenty problems are reported', () => {
    const text = Array.from({ length: 10_000 }, (_, index) => `[tunnels.k${index}]`).join('\n');
    const from = performance.now();
    expect(problems(text)).toHaveLength(21);
    // Ten times what it takes: each table must not cost a look at all of them.
    expect(performance.now() - from).toBeLessThan(5000);
    expect(problems(text).at(-1)).toMatch(/^a\.toml: \d+ more problems$/);
  });
});
