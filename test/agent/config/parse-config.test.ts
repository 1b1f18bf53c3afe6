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

  test('declares every setting of a tunnel of each type', () => {
    const { tunnels } = configOf(`
      tunnels.a = { type = "tcp", port = 1, server_ip = "127.0.0.1", targets = ["11", "12"], proxy_protocol = "V1", remark = "r1" }
      tunnels.b = { type = "udp", port = 2, server_ip = "127.0.0.2", targets = ["13"], remark = "r2" }
      tunnels.c = { type = "httpProxy", port = 3, server_ip = "127.0.0.3", accounts = { u1 = "p1", u2 = "p2" }, remark = "r3" }
      tunnels.d = { type = "socks5", port = 4, server_ip = "127.0.0.4", accounts = { u3 = "p3" }, remark = "r4" }
      tunnels.e = { type = "file", port = 5, server_ip = "127.0.0.5", local_path = "share", strip_prefix = "/pre", remark = "r5" }
      tunnels.f = { type = "secret", targets = ["14"], password = "pw f", remark = "r6" }
      tunnels.g = { type = "p2p", targets = ["15"], password = "pw g", remark = "r7" }
      tunnels.h = { type = "tcp", targets = ["16"], proxy_protocol = "V2" }
    `);
    const declared = (tunnel: Parameters<typeof declaredTunnelOf>[0]) => declaredTunnelOf({ targets: [], accounts: [], ...tunnel });
    expect(Object.values(tunnels).map(tunnelOf)).toEqual([
      declared({ mode: 'tcp', port: 1, serverIp: '127.0.0.1', targets: ['11', '12'], proxyProtocol: 'V1', remark: 'r1' }),
      declared({ mode: 'udp', port: 2, serverIp: '127.0.0.2', targets: ['13'], remark: 'r2' }),
      declared({ mode: 'httpProxy', port: 3, serverIp: '127.0.0.3', accounts: [{ user: 'u1', password: 'p1' }, { user: 'u2', password: 'p2' }], remark: 'r3' }),
      declared({ mode: 'socks5', port: 4, serverIp: '127.0.0.4', accounts: [{ user: 'u3', password: 'p3' }], remark: 'r4' }),
      declared({ mode: 'file', port: 5, serverIp: '127.0.0.5', localPath: 'share', stripPrefix: '/pre', remark: 'r5' }),
      declared({ mode: 'secret', targets: ['14'], password: 'pw f', remark: 'r6' }),
      declared({ mode: 'p2p', targets: ['15'], password: 'pw g', remark: 'r7' }),
      declared({ mode: 'tcp', targets: ['16'], proxyProtocol: 'V2' }),
    ]);
  });

  const text = (length: number) => JSON.stringify('x'.repeat(length));
  const tables = (count: number, table: (at: number) => string, first = 0) => Array.from({ length: count }, (_, at) => table(first + at)).join('\n');
  const tunnel = (more: string) => `[tunnels.t]\ntype = "tcp"\n${more}\n`;
  const host = (more: string) => `[hosts.h]\nhost = "h.example"\ntargets = ["1"]\n${more}\n`;
  const visitor = (at: number) => `visitors.v${at} = { type = "p2p", password = "p", listen = 0 }`;
  const proxy = (at: number) => `tunnels.t${at} = { type = "socks5" }`;
  const page = (at: number) => `hosts.h${at} = { host = "h${at}.example", targets = ["1"] }`;

  test.each<readonly [what: string, most: number, text: (size: number) => string, problem: string]>([
    ['characters of the key', 255, (size) => `vkey = ${text(size)}`, 'vkey: must be at most 255 characters'],
    ['characters of the path of the key', 4096, (size) => `vkey_file = ${text(size)}`, 'vkey_file: must be at most 4096 characters'],
    ['directories', 100, (size) => `allow_files = [${'"a",'.repeat(size)}]`, 'allow_files: must be at most 100'],
    ['a port', 65_535, (size) => tunnel(`targets = ["1"]\nport = ${size}`), 'tunnels.t.port: must be a port'],
    ['targets', 1000, (size) => tunnel(`targets = [${'"1",'.repeat(size)}]`), 'tunnels.t.targets: must name at most 1000 targets'],
    ['characters of a remark', 255, (size) => tunnel(`targets = ["1"]\nremark = ${text(size)}`), 'tunnels.t.remark: must be at most 255 characters'],
    [
      'characters of a password',
      255,
      (size) => `[tunnels.t]\ntype = "secret"\ntargets = ["1"]\npassword = ${text(size)}`,
      'tunnels.t.password: must be at most 255 characters',
    ],
    [
      'accounts',
      1000,
      (size) => `[tunnels.t]\ntype = "socks5"\n[tunnels.t.accounts]\n${tables(size, (at) => `u${at} = "p"`)}`,
      'tunnels.t.accounts: must be at most 1000',
    ],
    ['headers', 100, (size) => host(`headers = [${'"a: b",'.repeat(size)}]`), 'hosts.h.headers: must be at most 100'],
    [
      'characters of the path of a health check',
      1024,
      (size) => host(`health = { type = "http", path = "/${'x'.repeat(size - 1)}" }`),
      'hosts.h.health.path: must be at most 1024 characters',
    ],
    [
      'characters of the password of a visitor',
      255,
      (size) => `visitors.v = { type = "p2p", password = ${text(size)}, listen = 1 }`,
      'visitors.v.password: must be at most 255 characters',
    ],
    [
      'letters of a name',
      64,
      (size) => `[tunnels.${'n'.repeat(size)}]\ntype = "socks5"`,
      `tunnels.${'n'.repeat(65)}: must be a name of 1 to 64 letters, digits, blanks, dots, - and _`,
    ],
    ['visitors', 100, (size) => tables(size, visitor), 'visitors: must be at most 100'],
    ['tunnels', 1000, (size) => tables(size, proxy), 'tunnels: must be at most 1000'],
    ['hosts', 1000, (size) => tables(size, page), 'hosts: must be at most 1000'],
    ['tunnels and hosts together', 1000, (size) => `${tables(400, proxy)}\n${tables(size - 400, page)}`, 'tunnels and hosts must be at most 1000'],
  ])('%s: %i and no more', (_what, most, textOf, problem) => {
    expect(problems(textOf(most))).toEqual([]);
    expect(problems(textOf(most + 1)).join()).toContain(problem);
  });

  test('the least that a value may be: one character, one target, port 0', () => {
    expect(problems('vkey = "k"\n[tunnels.t]\ntype = "secret"\ntargets = ["1"]\npassword = "p"\n[visitors.v]\ntype = "p2p"\npassword = "p"\nlisten = 0'))
      .toEqual([]);
    expect(problems('vkey = ""\nvkey_file = ""')).toEqual([
      'a.toml:1: vkey: must not be empty',
      'a.toml:2: vkey_file: must not be empty',
      'a.toml:2: vkey_file: must not be given together with vkey',
    ]);
    expect(problems(tunnel('targets = []\nport = -1'))).toEqual([
      'a.toml:4: tunnels.t.port: must be a port',
      'a.toml:3: tunnels.t.targets: must name at least one target',
    ]);
    expect(problems('[tunnels.t]\ntype = "p2p"\ntargets = ["1"]\npassword = ""\n[visitors.v]\ntype = "p2p"\npassword = ""\nlisten = 1')).toEqual([
      'a.toml:4: tunnels.t.password: must not be empty',
      'a.toml:7: visitors.v.password: must not be empty',
    ]);
  });

  test.each([
    ['ports of other transports', '{ type = "tcp", port = 1, targets = ["1"] }', '{ type = "udp", port = 1, targets = ["1"] }'],
    [
      'ports of other addresses',
      '{ type = "tcp", port = 1, server_ip = "127.0.0.1", targets = ["1"] }',
      '{ type = "socks5", port = 1, server_ip = "127.0.0.2" }',
    ],
    ['any free ports', '{ type = "socks5" }', '{ type = "socks5" }'],
  ])('%s do not clash', (_, one, other) => {
    expect(problems(`tunnels.a = ${one}\ntunnels.b = ${other}`)).toEqual([]);
  });

  test('hosts clash when name, path and scheme are equal, visitors when the local port is', () => {
    const two = (kind: string, one: string, other: string) => problems(`[${kind}.a]\n${one}\n[${kind}.b]\n${other}`);
    const at = (more: string) => `targets = ["1"]\nhost = "h.example"\n${more}`;
    expect(two('hosts', at(''), at(''))).toEqual(['a.toml:7: hosts.b.host: is that of hosts.a too']);
    for (const other of ['location = "/x"', 'scheme = "http"']) expect(two('hosts', at(''), at(other))).toEqual([]);
    const below = 'platform_domain = "d"\nplatform_prefix = "p"\ntargets = ["1"]';
    expect(two('hosts', below, below)).toEqual([]);
    const listening = (listen: string) => `type = "p2p"\npassword = "p"\nlisten = ${listen}`;
    expect(two('visitors', listening('1'), listening('"127.0.0.1:1"'))).toEqual(['a.toml:8: visitors.b.listen: is that of visitors.a too']);
    for (const other of ['2', '"127.0.0.2:1"']) expect(two('visitors', listening('1'), listening(other))).toEqual([]);
    expect(two('visitors', listening('0'), listening('0'))).toEqual([]);
  });

  test.each([
    ['platform_domain = "d"', ['a.toml:1: hosts.a.platform_prefix: is missing']],
    ['platform_prefix = "p"', ['a.toml:1: hosts.a.platform_domain: is missing']],
    ['', ['a.toml:1: hosts.a.host: is missing']],
    ['host = "h"\nplatform_prefix = "p"\nplatform_domain = "d"', ['a.toml:3: hosts.a.host: must not be given together with a platform domain']],
    ['platform_prefix = "p"\nplatform_domain = "d"\ncertificate = "c"\nprivate_key = "k"', [
      'a.toml:5: hosts.a.certificate: must not be given: the platform domain has one',
    ]],
    ['host = "h"\nprivate_key = "k"', ['a.toml:1: hosts.a.certificate: is missing']],
    ['host = "h"\ncertificate = "c"\nprivate_key = "k"', []],
    ['host = "h"\nlocation = "/a b"', ['a.toml:4: hosts.a.location: must be a path without blanks, ? and #, and without dot segments above its root']],
    ['host = "h"\nlocation = "/../a"', ['a.toml:4: hosts.a.location: must be a path without blanks, ? and #, and without dot segments above its root']],
    ['host = "h"\nhost_change = "a b"', ['a.toml:4: hosts.a.host_change: must be ASCII without blanks']],
    ['host = "h"\nheaders = ["a"]', ['a.toml:4: hosts.a.headers.0: must be "Name: value"']],
    ['host = "a..b"', ['a.toml:3: hosts.a.host: must be a name, an address, or *. and a name']],
    ['host = "h"\nremark = "a\\u0007"', ['a.toml:4: hosts.a.remark: must not hold control characters']],
  ])('a host with %j', (keys, expected) => {
    expect(problems(`[hosts.a]\ntargets = ["1"]\n${keys}`)).toEqual(expected);
  });

  test.each([
    ['tunnels.t', 'type = "tcp"\ntargets = ["1"]'],
    ['tunnels.t', 'type = "udp"\ntargets = ["1"]'],
    ['tunnels.t', 'type = "httpProxy"'],
    ['tunnels.t', 'type = "socks5"'],
    ['tunnels.t', 'type = "file"\nlocal_path = "/srv"'],
    ['tunnels.t', 'type = "secret"\ntargets = ["1"]\npassword = "p"'],
    ['tunnels.t', 'type = "p2p"\ntargets = ["1"]\npassword = "p"'],
    ['hosts.h', 'host = "h.example"\ntargets = ["1"]'],
    ['visitors.v', 'type = "p2p"\npassword = "p"\nlisten = 1'],
  ])('an unknown key of [%s] with %j is a problem', (table, keys) => {
    expect(problems(`[${table}]\n${keys}`)).toEqual([]);
    expect(problems(`[${table}]\nremarks = ""\n${keys}`)).toEqual([`a.toml:2: ${table}.remarks: unknown key`]);
  });

  test.each([
    ['a TOML error, without quoting the line', 'vkey = "abc', ['a.toml:1: Invalid TOML document: unfinished string']],
    ['unknown keys', 'serverr = "a:1"\n[tunnels.a]\ntype = "tcp"\ntargets = ["1"]\npassword = "p"', [
      'a.toml:5: tunnels.a.password: only for tunnels of type secret, p2p',
      'a.toml:1: serverr: unknown key',
    ]],
    ['what is missing', '[tunnels.a]\ntype = "secret"\n', ['a.toml:1: tunnels.a.targets: is missing', 'a.toml:1: tunnels.a.password: is missing']],
    ['a wrong type', '[tunnels.a]\ntype = "ftp"', ['a.toml:2: tunnels.a.type: must be "tcp", "udp", "httpProxy", "socks5", "file", "secret" or "p2p"']],
    ['a number for a table', '[tunnels]\na = 1\n[hosts]\nb = 1\n[visitors]\nc = 1\n[tunnels.d]\ntype = "tcp"\ntargets = ["1"]\nhealth = 1', [
      'a.toml:2: tunnels.a: must be a table',
      'a.toml:10: tunnels.d.health: must be a table',
      'a.toml:4: hosts.b: must be a table',
      'a.toml:6: visitors.c: must be a table',
    ]],
    ['what is no fingerprint', 'tls_fingerprint = "ab:cd"', ['a.toml:1: tls_fingerprint: must be a SHA-256 fingerprint, 64 hex digits with or without colons']],
    ['what is nested too deeply', `vkey = ${'['.repeat(10_000)}`, [expect.stringMatching(/^a\.toml:1: ./)]],
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
    ['a key in quotes', `[tunnels."a b"]\ntype = "socks5"\nport = -1\n[tunnels.'c d']\ntype = "socks5"\n"port" = -1`, [
      'a.toml:3: tunnels.a b.port: must be a port',
      'a.toml:6: tunnels.c d.port: must be a port',
    ]],
    ['what no password may hold', '[tunnels.a]\ntype = "secret"\ntargets = ["1"]\npassword = "a\\u0000b"', ['a.toml:4: tunnels.a.password: must not hold NUL']],
    ['what no path may hold', '[tunnels.a]\ntype = "file"\nlocal_path = "a\\u0000b"', ['a.toml:3: tunnels.a.local_path: must not hold NUL']],
    ['the name of an address', '[tunnels.a]\ntype = "socks5"\nserver_ip = "localhost"', ['a.toml:3: tunnels.a.server_ip: must be an IP address']],
    ['an account that a proxy cannot ask for', '[tunnels.a]\ntype = "socks5"\n[tunnels.a.accounts]\n"u:v" = "p"', [
      expect.stringMatching(/^a\.toml:4: tunnels\.a\.accounts\.u:v: cannot be used: ./),
    ]],
    ['an entry that is longer than the server takes', tunnel(`targets = [${`"${'x'.repeat(60)}.${'y'.repeat(50)}:1",`.repeat(300)}]`), [
      'a.toml:1: tunnels.t: is too long: the server takes no such entry',
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
