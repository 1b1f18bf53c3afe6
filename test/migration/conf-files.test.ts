import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { afterAll, describe, expect, test } from '@jest/globals';
import { parseAgentConfig } from '../../src/agent/config/parse-config.ts';
import { convertNpcConf, convertNpsConf, temporaryAgentFile } from '../../src/migration/convert-conf.ts';
import { agentFileOf } from '../../src/migration/npc/agent-file.ts';
import { readNpcFlags } from '../../src/migration/npc/flags.ts';
import { settingsFileOf } from '../../src/migration/nps/settings-file.ts';
import { readSettings } from '../../src/settings/load.ts';
import { SettingsError } from '../../src/settings/settings-error.ts';
import { removeScratchDirectories, scratchDirectory } from '../support/scratch.ts';

afterAll(removeScratchDirectories);

/** The settings that a server reads from what an nps.conf becomes, and the file's text. */
function converted(conf: string) {
  const { text, problems } = settingsFileOf(conf, '/etc/nps');
  const configFile = path.join(scratchDirectory(), 'adit.toml');
  writeFileSync(configFile, text);
  return { text, problems, settings: readSettings({ configFile }).settings };
}

describe('nps.conf', () => {
  test('every setting that has an equivalent is one of the server; HTTPS, log levels and booleans in its form', () => {
    const { text, problems, settings } = converted(`
      # comment
      bridge_ip=0.0.0.0
      BRIDGE_PORT = 08124
      tls_bridge_port=8125
      http_proxy_ip=0.0.0.0
      http_proxy_port=80
      https_proxy_port=443
      web_ip=0.0.0.0
      web_port=8081
      web_host=nps.example.com
      web_base_url=/nps/
      web_open_ssl=true
      web_cert_file=conf/server.pem
      web_key_file=/etc/ssl/server.key
      web_username=root
      web_password=a "quoted" \\ pass\u007Fword
      auth_key=old key==
      auth_crypt_key=0123456789abcdef
      allow_ports=9001-9009,10001
      allow_local_proxy=1
      p2p_port=6000
      log_level=7
    `);
    expect(problems).toEqual([]);
    expect(text).not.toContain('no equivalent');
    expect(settings).toMatchObject({
      bridgeHost: '0.0.0.0',
      bridgePort: 8124,
      bridgeTlsPort: 8125,
      vhostHost: '0.0.0.0',
      vhostHttpPort: 80,
      vhostHttpsPort: 443,
      httpHost: '0.0.0.0',
      httpPort: 8081,
      publicUrl: 'https://nps.example.com:8081',
      basePath: '/nps',
      httpTlsCert: '/etc/nps/conf/server.pem',
      httpTlsKey: '/etc/ssl/server.key',
      httpTls: 'off',
      adminUsername: 'root',
      adminPassword: 'a "quoted" \\ pass\u007Fword',
      authKey: 'old key==',
      authCryptKey: '0123456789abcdef',
      allowPorts: [{ from: 9001, to: 9009 }, { from: 10_001, to: 10_001 }],
      allowLocalProxy: true,
      p2pPort: 6000,
      logLevel: { level: 'debug' },
    });
  });

  test('HTTPS without a certificate file gets a generated one; without HTTPS the files have no effect', () => {
    expect(converted('web_open_ssl=true').settings).toMatchObject({ httpTls: 'self-signed', httpTlsCert: '' });
    expect(converted('web_open_ssl=false').settings).toMatchObject({ httpTls: 'off' });
    const off = converted('web_open_ssl=false\nweb_cert_file=conf/a.pem\nweb_key_file=conf/a.key');
    expect(off.settings).toMatchObject({ httpTls: 'off', httpTlsCert: '', httpTlsKey: '' });
    expect(off.text).toContain('web_cert_file: web_open_ssl is not on');
  });

  test('keys without an equivalent, known secrets, empty ports, bad values and names of prototypes become comments', () => {
    const { text, settings } = converted([
      'web_password=123',
      'auth_key=',
      'http_proxy_port=',
      'https_proxy_port=0',
      'p2p_port=00',
      'web_port=70000',
      'log_level=9',
      'http_cache=true',
      'flow_store_interval=1',
      'web_host=a.o.com',
      'constructor=x',
      '__proto__=x',
      'a\rb\u001B[2J=x',
    ].join('\n'));
    for (
      const line of [
        'web_password: not carried over: it is a publicly known value',
        'web_port: not carried over: ',
        'log_level: not carried over: it must be 0 to 7',
        'http_cache: put a cache in front of the hosts',
        'constructor: unknown',
        '__proto__: unknown',
        'a?b?[2j: unknown',
        'http_proxy_port: it was empty or 0, which switched the port off',
        'https_proxy_port: it was empty or 0, which switched the port off',
        'p2p_port: it was empty or 0; the default applies',
        'auth_key: it was empty',
        'flow_store_interval: counters are always stored',
        'web_host: it has the value of the template',
      ]
    ) expect(text).toContain(`\n#   ${line}`);
    expect(settings).toMatchObject({ httpPort: 8080, vhostHttpsPort: 8443, p2pPort: 6000, adminUsername: 'admin' });
  });

  test('every key of the lineages is known: it becomes a setting, needs none, or has no equivalent', () => {
    const named = 'p2p_port=6001\nweb_port=8082\n';
    const unneeded = [
      'bridge_type',
      'tls_enable',
      'https_just_proxy',
      'allow_user_login',
      'allow_flow_limit',
      'allow_rate_limit',
      'allow_tunnel_num_limit',
      'allow_connection_num_limit',
      'allow_multi_ip',
      'flow_store_interval',
      'p2p_ip',
      'disconnect_timeout',
      'http_add_origin_header',
      'show_http_proxy_port',
      'appname',
      'runmode',
    ];
    const instead = [
      'https_default_cert_file',
      'https_default_key_file',
      'public_vkey',
      'allow_user_register',
      'allow_user_change_username',
      'ip_limit',
      'http_cache',
      'http_cache_length',
      'system_info_display',
      'open_captcha',
      'log_path',
      'pprof_ip',
      'pprof_port',
    ];
    const { text } = converted(named + [...instead, ...unneeded].map((key) => `${key}=1\n`).join(''));
    const keysBelow = (title: string) =>
      text.split(`# ${title}\n`)[1]?.split('\n\n')[0]?.split('\n').filter((line) => line !== '').map((line) => /^# {3}(\w+): /.exec(line)?.[1]);
    expect(keysBelow('These keys need no setting:')).toEqual(unneeded);
    expect(keysBelow('These keys have no equivalent:')).toEqual(instead);
    expect(text).not.toContain('unknown');
    expect(text.split('\n').filter((line) => /^\w+ = /.test(line))).toEqual(['p2p_port = 6001  # p2p_port', 'http_port = 8082  # web_port']);
  });

  test('each value of a template that is publicly known, and each log level', () => {
    for (const key of ['web_password', 'auth_key', 'auth_crypt_key']) {
      for (const value of ['123', '213', 'CHANGE_ME', 'CHANGE_ME_16CHAR', '1234567812345678']) {
        expect(settingsFileOf(`${key}=${value}`, '/etc/nps').text).toContain(`#   ${key}: not carried over: it is a publicly known value`);
      }
    }
    const levels = Array.from({ length: 8 }, (_, level) => converted(`log_level=${level}`).settings.logLevel.level);
    expect(levels).toEqual(['fatal', 'fatal', 'fatal', 'error', 'warn', 'info', 'info', 'debug']);
  });

  test('the address of the panel has the scheme and the port of the API; without a port, the usual one', () => {
    expect(converted('web_host=h.example.com').settings.publicUrl).toBe('http://h.example.com:8080');
    expect(converted('web_host=h.example.com\nweb_port=81').settings.publicUrl).toBe('http://h.example.com:81');
  });

  test('lines that cannot be read, and keys that are set twice, are named by their lines', () => {
    expect(settingsFileOf('web_port=1\n[section]\nWEB_PORT=2', '/etc/nps').problems).toEqual([
      { line: 2, text: expect.stringContaining('key=value') },
      { line: 3, key: 'web_port', text: expect.stringContaining('second time') },
    ]);
    const { text, problems } = settingsFileOf('nonsense\nnonsense\n=x\n; a comment\n', '/etc/nps');
    expect(problems.map(({ line }) => line)).toEqual([1, 2, 3]);
    expect(text).toBe(settingsFileOf('', '/etc/nps').text);
  });
});

describe('npc.conf', () => {
  const common = '[common]\nserver_addr=tunnel.example.com:8024\nvkey=k\n';
  const agentFile = (conf: string, directory = '/srv') => {
    const file = agentFileOf(conf, directory);
    const parsed = parseAgentConfig(file.text);
    return { ...file, config: 'problems' in parsed ? undefined : parsed.config };
  };
  const made = (sections: string, directory?: string) => agentFile(`${common}${sections}`, directory);

  test('every key of every kind of section is a key of its entry', () => {
    const digits = 'ab'.repeat(32);
    const { config, notes, problems } = agentFile(`
      [Common]
      server=old.example.com:8024
      server_addr=tunnel.example.com:8024
      vkey=the=key =
      tls_fingerprint=${digits}
      [web]
      host=a.example.com
      target_addr=10.0.0.1:80, 10.0.0.2：81
      location=/app
      scheme=https
      host_change=inner.example.com
      header_x-one=1
      header_x-two=a: 2
      [plain]
      host=b.example.com
      scheme=all
      header_x-three=3
      target_addr=82
      [over-tcp]
      mode=tcp
      server_ip=127.0.0.1
      server_port=9001
      target_addr=10.0.0.3:22
      [over-udp]
      mode=udp
      server_ip=127.0.0.2
      server_port=9002
      target_addr=10.0.0.3:22
      [ hp ] 
      mode=httpProxy
      server_port=9003
      [s5]
      mode=socks5
      server_ip=127.0.0.3
      server_port=9004
      [files]
      mode=file
      server_port=9005
      local_path=share
      strip_pre=/pre
      [hidden]
      mode=secret
      password=pw 1
      target_addr=10.0.0.4:1
      [direct]
      mode=p2p
      password=pw 2
      target_addr=10.0.0.5:1
      [secret_db]
      password=pw 3
      local_port=2001
      [P2P_desk]
      password=pw 4
      local_ip=0.0.0.0
      local_port=2002
      [health_web]
      health_check_type=http
      health_check_target=10.0.0.2:81
      health_check_interval=11
      health_check_timeout=4
      health_check_max_failed=5
      health_http_url=/alive
      [Health_rest]
      health_check_type=tcp
      health_http_url=/unused
      health_check_target=10.0.0.3:22,10.0.0.4:1
    `);
    expect(problems).toEqual([]);
    expect(notes).toEqual([]);
    const tcpCheck = { type: 'tcp', intervalMs: 10_000, timeoutMs: 3000, maxFailed: 3, path: '' };
    const hostDefaults = { location: '/', scheme: 'all', headers: [], host_change: '', auto_https: false, acme: false };
    expect(config).toEqual({
      server: [{ host: 'tunnel.example.com', port: 8024 }],
      vkey: 'the=key =',
      tls: true,
      tls_fingerprint: digits,
      allow_files: ['/srv/share'],
      hosts: {
        web: {
          ...hostDefaults,
          host: 'a.example.com',
          targets: ['10.0.0.1:80', '10.0.0.2:81'],
          remark: 'web',
          location: '/app',
          scheme: 'https',
          host_change: 'inner.example.com',
          headers: ['x-one: 1', 'x-two: a: 2'],
          health: { type: 'http', intervalMs: 11_000, timeoutMs: 4000, maxFailed: 5, path: '/alive' },
        },
        plain: { ...hostDefaults, host: 'b.example.com', targets: ['82'], remark: 'plain', headers: ['x-three: 3'] },
      },
      tunnels: {
        'over-tcp': { type: 'tcp', server_ip: '127.0.0.1', port: 9001, targets: ['10.0.0.3:22'], remark: 'over-tcp', health: tcpCheck },
        'over-udp': { type: 'udp', server_ip: '127.0.0.2', port: 9002, targets: ['10.0.0.3:22'], remark: 'over-udp' },
        hp: { type: 'httpProxy', server_ip: '', port: 9003, remark: 'hp' },
        s5: { type: 'socks5', server_ip: '127.0.0.3', port: 9004, remark: 's5' },
        files: { type: 'file', server_ip: '', port: 9005, local_path: '/srv/share', strip_prefix: '/pre', remark: 'files' },
        hidden: { type: 'secret', password: 'pw 1', targets: ['10.0.0.4:1'], remark: 'hidden', health: tcpCheck },
        direct: { type: 'p2p', password: 'pw 2', targets: ['10.0.0.5:1'], remark: 'direct' },
      },
      visitors: {
        secret_db: { type: 'secret', password: 'pw 3', listen: { host: '127.0.0.1', port: 2001 } },
        P2P_desk: { type: 'p2p', password: 'pw 4', listen: { host: '0.0.0.0', port: 2002 } },
      },
    });
  });

  test.each([
    ['', false],
    ['conn_type=tcp\ntp=tls\n', false],
    ['tp=TLS\n', true],
    ['conn_type=tls\n', true],
    ...['true', '1', 'T', 'yes', 'on'].map((on) => [`tls_enable=${on}\n`, true] as const),
    ['tls_enable=false\n', false],
  ])('%j in [common]: over TLS: %j', (lines, tls) => {
    expect(agentFile(`[common]\nserver=h:1\nvkey=k\n${lines}`)).toMatchObject({ config: { server: [{ host: 'h', port: 1 }], tls }, notes: [] });
  });

  test('each key of the client names its parameter, each key that needs nothing is passed over, all others are named', () => {
    const ofClient = [
      'remark',
      'max_conn',
      'rate_limit',
      'flow_limit',
      'basic_username',
      'basic_password',
      'web_username',
      'web_password',
      'crypt',
      'compress',
    ];
    const parameters = ofClient.map((key) => ({ basic_username: 'u', basic_password: 'p' })[key] ?? key);
    const unneeded = ['auto_reconnection', 'disconnect_timeout', 'tls_insecure_skip_verify'];
    const others = ['conn_type', 'proxy_url', 'tls_ca_file', 'tls_server_name', 'pprof_addr'];
    const conf = [...ofClient, ...unneeded, ...others].map((key) => `${key}=kcp\n`).join('');
    expect(agentFile(`[common]\nserver=h:1\nvkey=k\n${conf}`).notes).toEqual([
      expect.stringMatching(/^conn_type kcp: there is only TCP, and TLS/),
      ...ofClient.map((key, at) => `${key}: set ${parameters[at]} of the client on the server instead`),
      'proxy_url: the agent connects directly',
      expect.stringMatching(/^tls_ca_file: set tls_fingerprint/),
      expect.stringMatching(/^tls_server_name: set tls_fingerprint/),
      'pprof_addr: has no equivalent',
    ]);
  });

  test('what a section cannot be is a problem or a note that names it', () => {
    const { notes, problems } = made(
      '[v_p2p]\npassword=a\n[secret_v]\npassword=b\nlocal_port=1\ntarget_addr=2\n[l]\nmode=tcp\nserver_port=1\ntarget_addr=3\nlocal_proxy=true\n[health_x]\nhealth_check_target=4\n'
        + 'no equals sign\n',
    );
    expect(problems).toEqual(['line 17: is neither key=value nor a comment']);
    expect(notes).toEqual([
      expect.stringMatching(/^\[v_p2p\]: is no tunnel/),
      expect.stringMatching(/^\[secret_v\]: target_addr: /),
      expect.stringMatching(/^\[l\]: local_proxy: /),
      expect.stringMatching(/^\[health_x\]: none of its targets/),
    ]);
    expect(agentFile('[other]\nmode=socks5\n').problems).toContain('has no [common] section');
    expect(agentFile(` \r\n\n\t\n${common}`)).toMatchObject({ problems: [], config: { vkey: 'k' } });
    // Lines before the first section are those of [common].
    expect(agentFile('server=h:1\nvkey=k\n[v]\nmode=socks5\n')).toMatchObject({ problems: [], config: { vkey: 'k', tunnels: { v: { port: 0 } } } });
  });

  test('each key of a section that has no equivalent is named, and values that mean nothing are problems', () => {
    const { config, notes, problems } = made(
      '[h]\nhost=a.example.com, b.example.com,\ntarget_addr=1\nscheme=HTTPS\nheader_a=b\nauto_https=true\nlocal_proxy=true\n[t]\nmode=socks5\ncrypt=true\n'
        + '[secret_v]\npassword=p\nlocal_ip=::1\nlocal_port=2\ncompress=true\n[health_h]\nhealth_check_target=1\nhealth_check_type=HTTP\nhealth_check_interval=0\nx=y\n',
    );
    expect(problems).toEqual([]);
    expect(notes).toEqual([
      '[h]: auto_https: has no equivalent',
      expect.stringMatching(/^\[h\]: local_proxy: the agent always dials/),
      '[t]: crypt: has no equivalent',
      '[secret_v]: compress: has no equivalent',
      '[health_h]: x: has no equivalent',
    ]);
    const both = { scheme: 'https', targets: ['1'], headers: ['a: b'], health: { type: 'http', intervalMs: 10_000 } };
    expect(config).toMatchObject({
      hosts: { h: { host: 'a.example.com', ...both }, 'h-2': { host: 'b.example.com', ...both } },
      visitors: { secret_v: { listen: { host: '::1', port: 2 } } },
    });
    const host = '[h]\nhost=a.example.com\ntarget_addr=1\n';
    const problem = (sections: string) => made(sections).problems.join();
    expect(problem(`${host}scheme=ftp\n`)).toMatch(/^hosts\.h\.scheme: /);
    for (const [key, named] of [['check_type', 'type'], ['check_interval', 'interval'], ['check_timeout', 'timeout'], ['check_max_failed', 'max_failed']]) {
      expect(problem(`${host}[health]\nhealth_check_target=1\nhealth_${key}=abc\n`)).toContain(`hosts.h.health.${named}: `);
    }
    expect(problem('[f]\nmode=file\nserver_port=1\n')).toBe('[f]: local_path: is missing');
  });

  test('names have what a name of the agent file may have, and each is another one', () => {
    const section = 'mode=socks5\nserver_port=';
    const long = 'x'.repeat(60);
    const { config, problems } = made(
      ['a/b', 'a-b', '.c', '-', long, `${long}y`].map((name, at) => `[${name}]\n${section}${at + 1}\n`).join(''),
    );
    expect(problems).toEqual([]);
    expect(Object.entries(config?.tunnels ?? {}).map(([name, table]) => [name, 'port' in table && table.port])).toEqual([
      ['a-b', 1],
      ['a-b-2', 2],
      ['c', 3],
      ['entry', 4],
      [long.slice(0, 56), 5],
      [`${long.slice(0, 56)}-2`, 6],
    ]);
  });

  test('ranges become one tunnel for each port, and sections of one name get different names', () => {
    const { text, problems } = made(
      '[t]\nmode=tcp\nserver_port=9001-9003,9010\ntarget_port=1-3,7\ntarget_ip=10.0.0.2\n[t]\nmode=udp\nserver_port=53\ntarget_addr=53\n',
    );
    expect(problems).toEqual([]);
    for (const entry of ['[tunnels.t-9001]', '[tunnels.t-9003]', '[tunnels.t-9010]', '"10.0.0.2:7"', '[tunnels.t]']) expect(text).toContain(entry);
    expect(made('[t]\nmode=tcp\nserver_port=9001,9002\ntarget_addr=10.0.0.2:5\n')).toMatchObject({
      problems: [],
      text: expect.stringMatching(/10\.0\.0\.2:5[^]*10\.0\.0\.2:5/),
    });
    expect(made('[t]\nmode=tcp\nserver_port=9001\ntarget_port=7\n').text).toContain('"127.0.0.1:7"');
    expect(made('[t]\nmode=tcp\nserver_port=9001-10000\ntarget_addr=1\n').problems).toEqual([]);
    const problem = (ports: string) => made(`[t]\nmode=tcp\n${ports}\ntarget_addr=1\n`).problems[0];
    expect(problem('server_port=9001-9003\ntarget_port=1-2')).toMatch(/\[t\]: .*different numbers of ports/);
    for (const ports of ['9001-10001', '9003-9001', 'abc', '-5', '9001-', '9001-9002-9003', '1e3']) {
      expect(problem(`server_port=${ports}`)).toMatch(/\[t\]: server_port: ".*" is no port, nor a range/);
    }
  });

  test('what belongs to the client, and what has no equivalent, become comments; names of prototypes are no keys', () => {
    const { text, problems } = made(
      'constructor=1\nrate_limit=5\nproxy_url=socks5://x\n[__proto__]\nmode=tcp\nserver_port=9001\ntarget_addr=127.0.0.1:1\n[other]\nx=y\n[\u001B[2J]\nx=y\n',
    );
    expect(problems).toEqual([]);
    expect(text).toContain('# rate_limit: set rate_limit of the client on the server instead');
    expect(text).toContain('# constructor: has no equivalent');
    expect(text).toContain('# proxy_url: the agent connects directly');
    expect(text).toMatch(/# \[other\]: is no tunnel/);
    expect(text).toContain('# [?[2J]: is no tunnel');
    expect(text).toContain('port = 9001');
  });

  test('accounts come from the file that multi_account names, from the directory of the npc.conf', () => {
    const directory = scratchDirectory();
    writeFileSync(path.join(directory, 'accounts.conf'), '# comment\r\nalice = a=b\r\n\r\nAlice=other\r\n');
    const section = '[s]\nmode=socks5\nserver_port=1080\nmulti_account=accounts.conf\n';
    const { text, problems } = made(section, directory);
    expect(problems).toEqual([]);
    expect(text).toMatch(/alice = "a=b"\nAlice = "other"/);
    expect(made(section.replace('socks5', 'httpProxy'), directory).text).toContain('alice = "a=b"');
    writeFileSync(path.join(directory, 'broken.conf'), '\na=1\n=2\nnone\n a = 3\n');
    expect(made(section.replace('accounts', 'broken'), directory).problems).toEqual([
      'broken.conf: line 3: is neither user=password nor a comment',
      'broken.conf: line 4: is neither user=password nor a comment',
      'broken.conf: line 5: this user occurs twice',
    ]);
    expect(made('[s]\nmode=socks5\nserver_port=1080\nmulti_account=none.conf\n', directory).problems).toEqual([expect.stringContaining('ENOENT')]);
  });
});

describe('the flags of npc', () => {
  const problemsOf = (...words: string[]): readonly string[] => {
    try {
      readNpcFlags(words);
      return [];
    } catch (error) {
      if (error instanceof SettingsError) return error.problems;
      throw error;
    }
  };

  test('connecting, over TLS, with a file, and as a visitor', () => {
    expect(readNpcFlags(['-server=h:8024', '-vkey', 'k', '-type=tcp'])).toEqual({ run: 'agent', notices: [], flags: { server: 'h:8024', vkey: 'k' } });
    expect(readNpcFlags(['--server=h:8025', '-vkey=k=', '-type=tls'])).toMatchObject({ flags: { server: 'h:8025', vkey: 'k=', tls: true } });
    expect(readNpcFlags(['-server=h:1', '-vkey=k', '-tls_enable=true', '-debug=false'])).toMatchObject({
      flags: { tls: true },
      notices: [expect.stringContaining('-debug is ignored')],
    });
    expect(readNpcFlags(['-config=/etc/npc.conf'])).toMatchObject({ run: 'config', file: '/etc/npc.conf' });
    expect(readNpcFlags([])).toMatchObject({ run: 'config', file: 'conf/npc.conf' });
    expect(readNpcFlags(['-server=h:1', '-password=p', '-local_type=secret', '-local_port=2001', '-local_ip=0.0.0.0'])).toMatchObject({
      run: 'visit',
      flags: { server: 'h:1', type: 'secret', password: 'p', listen: '0.0.0.0:2001' },
    });
  });

  test('each flag has its place, over TLS and as a visitor, too', () => {
    const whole = ['-server=h:1', '-type=TLS', '-tls_fingerprint=ab'];
    const session = { server: 'h:1', tls: true, tlsFingerprint: 'ab' };
    expect(readNpcFlags([...whole, '-vkey=k'])).toEqual({ run: 'agent', notices: [], flags: { ...session, vkey: 'k' } });
    expect(readNpcFlags([...whole, '-password=p'])).toEqual({ run: 'visit', notices: [], flags: { ...session, type: 'p2p', password: 'p', listen: '2000' } });
    expect(readNpcFlags(['-vkey=k', '-tls_fingerprint=ab'])).toMatchObject({ flags: { tls: true } });
    expect(readNpcFlags(['-vkey=k', '-tls_enable'])).toMatchObject({ flags: { tls: true } });
    for (const value of ['true', 'T', '1']) expect(readNpcFlags(['-vkey=k', `-tls_enable=${value}`])).toMatchObject({ flags: { tls: true } });
    expect(readNpcFlags(['-vkey=k', '-tls_enable=false'])).toEqual({ run: 'agent', notices: [], flags: { vkey: 'k' } });
    for (const type of ['p2p', 'p2ps', 'p2pt']) {
      expect(readNpcFlags([`-local_type=${type}`, '-local_port=3'])).toMatchObject({ flags: { type: 'p2p', listen: '3' } });
    }
    expect(readNpcFlags(['-password=p', '-local_ip=::1'])).toMatchObject({ flags: { listen: '[::1]:2000' } });
    expect(readNpcFlags(['-vkey=k', '-local_ip=a', '-local_port=1']).notices).toEqual(
      ['port', 'ip'].map((name) => expect.stringContaining(`-local_${name} is ignored`)),
    );
    expect(readNpcFlags(['-password=p', '-vkey=k']).notices).toEqual([expect.stringMatching(/^-vkey is ignored/)]);
    expect(readNpcFlags(['-config=f', '-server=h:1', '-vkey=k', '-type=tcp', '-tls_enable=true'])).toEqual({
      run: 'config',
      file: 'f',
      notices: ['server', 'vkey', 'type', 'tls_enable'].map((name) => `-${name} is ignored: the file has it`),
    });
    const ignored = [
      'debug',
      'log',
      'log_level',
      'log_path',
      'log_color',
      'pprof',
      'auto_reconnection',
      'disconnect_timeout',
      'stun_addr',
      'skip_verify',
    ];
    expect(readNpcFlags(['-vkey=k', ...ignored.map((name) => `-${name}=1`)]).notices).toEqual(
      ignored.map((name) => expect.stringMatching(new RegExp(`^-${name} is ignored: .`))),
    );
  });

  test('every flag and command without a meaning is named at once', () => {
    expect(problemsOf('install', '-server=h:1', '-vkey=a,b', '-type=kcp', '-proxy=x', '-constructor', '-__proto__=1', '---server=h:1')).toEqual([
      expect.stringMatching(/^install: /),
      expect.stringMatching(/^-__proto__=1: /),
      expect.stringMatching(/^---server=h:1: /),
      '-proxy: has no meaning here',
      '-constructor: has no meaning here',
      expect.stringMatching(/^-type: "kcp"/),
      expect.stringMatching(/^-vkey: one agent has one key/),
    ]);
    expect(problemsOf('-server=h:1', '-local_type=file', '-config=x')).toHaveLength(2);
    const pinned = [expect.stringMatching(/^-tls_fingerprint: not together with -config/)];
    expect([problemsOf('-config=x', '-vkey=k', '-tls_fingerprint=ab'), problemsOf('-tls_fingerprint=ab')]).toEqual([pinned, pinned]);
  });
});

describe('the files that commands write', () => {
  test('what is made is returned, or written to a new file for this user only; a file that is there stays', () => {
    const directory = scratchDirectory();
    const place = (name: string): string => path.join(directory, name);
    writeFileSync(place('nps.conf'), 'web_port=81\nweb_open_ssl=true\nweb_cert_file=c.pem\nweb_key_file=k.pem\n');
    writeFileSync(place('npc.conf'), '[common]\nserver_addr=h:1\nvkey=k\n[f]\nmode=file\nserver_port=1\nlocal_path=share\n');
    const settings = convertNpsConf(place('nps.conf'), undefined);
    // Relative paths count from the directory above that of the file.
    expect(settings).toContain(`http_tls_cert = ${JSON.stringify(path.join(path.dirname(directory), 'c.pem'))}`);
    expect(convertNpsConf(place('nps.conf'), place('adit.toml'))).toBe(`Written to ${place('adit.toml')}.\n`);
    expect(readFileSync(place('adit.toml'), 'utf8')).toBe(settings);
    const agent = convertNpcConf(place('npc.conf'), undefined);
    expect(agent).toContain(`local_path = ${JSON.stringify(place('share'))}`);
    expect(convertNpcConf(place('npc.conf'), place('agent.toml'))).toBe(`Written to ${place('agent.toml')}.\n`);
    expect(readFileSync(place('agent.toml'), 'utf8')).toBe(agent);
    const listeners = process.listeners('exit');
    const temporary = temporaryAgentFile(place('npc.conf'));
    expect(readFileSync(temporary, 'utf8')).toBe(agent);
    expect([place('agent.toml'), place('adit.toml'), temporary].map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
    // It has the key.
    for (const listener of process.listeners('exit').filter((each) => !listeners.includes(each))) {
      process.off('exit', listener);
      listener(0);
    }
    expect(existsSync(path.dirname(temporary))).toBe(false);
    expect(() => convertNpsConf(place('nps.conf'), place('agent.toml'))).toThrow('agent.toml exists already: remove it, or name another file');
    expect(readFileSync(place('agent.toml'), 'utf8')).toBe(agent);
    expect(() => convertNpsConf(place('nps.conf'), place('none/adit.toml'))).toThrow('ENOENT');
  });

  test('problems are named with their file', () => {
    const file = path.join(scratchDirectory(), 'a.conf');
    writeFileSync(file, 'a\nb=1\nB=2\n');
    expect(() => convertNpsConf(file, undefined)).toThrow(`${file}:1: is neither key=value nor a comment\nadit: ${file}:3: b is set a second time`);
    expect(() => convertNpcConf(file, undefined)).toThrow(`${file}: line 1: is neither key=value nor a comment\nadit: ${file}: line 3: `);
    writeFileSync(file, Buffer.from([0xE9]));
    expect(() => convertNpsConf(file, undefined)).toThrow(`${file}: is not UTF-8`);
  });
});
