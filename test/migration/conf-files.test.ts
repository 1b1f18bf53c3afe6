import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { parseAgentConfig } from '../../src/agent/config/parse-config.ts';
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
      auth_key=old key
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
      adminUsername: 'root',
      adminPassword: 'a "quoted" \\ pass\u007Fword',
      authKey: 'old key',
      authCryptKey: '0123456789abcdef',
      allowPorts: [{ from: 9001, to: 9009 }, { from: 10_001, to: 10_001 }],
      allowLocalProxy: true,
      p2pPort: 6000,
      logLevel: { level: 'debug' },
    });
  });

  test('HTTPS without a certificate file gets a generated one; without HTTPS the files have no effect', () => {
    expect(converted('web_open_ssl=true').settings).toMatchObject({ httpTls: 'self-signed', httpTlsCert: '' });
    const off = converted('web_open_ssl=false\nweb_cert_file=conf/a.pem\nweb_key_file=conf/a.key');
    expect(off.settings).toMatchObject({ httpTls: 'off', httpTlsCert: '', httpTlsKey: '' });
    expect(off.text).toContain('web_cert_file: web_open_ssl is not on');
  });

  test('keys without an equivalent, known secrets, empty ports, bad values and names of prototypes become comments', () => {
    const { text, settings } = converted([
      'web_password=123',
      'auth_key=',
      'http_proxy_port=',
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
        'http_proxy_port: it was empty, which switched the port off',
        'auth_key: it was empty',
        'flow_store_interval: counters are always stored',
        'web_host: it has the value of the template',
      ]
    ) expect(text).toContain(`\n#   ${line}`);
    expect(settings).toMatchObject({ httpPort: 8080, adminUsername: 'admin' });
  });

  test('lines that cannot be read, and keys that are set twice, are named by their lines', () => {
    expect(settingsFileOf('web_port=1\n[section]\nWEB_PORT=2', '/etc/nps').problems).toEqual([
      { line: 2, text: expect.stringContaining('key=value') },
      { line: 3, key: 'web_port', text: expect.stringContaining('second time') },
    ]);
  });
});

describe('npc.conf', () => {
  const common = '[common]\nserver_addr=tunnel.example.com:8024\nvkey=k\n';
  const made = (sections: string, directory = '/srv') => {
    const file = agentFileOf(`${common}${sections}`, directory);
    const parsed = parseAgentConfig(file.text);
    return { ...file, config: 'problems' in parsed ? undefined : parsed };
  };

  test('ranges become one tunnel for each port, and sections of one name get different names', () => {
    const { text, problems } = made(
      '[t]\nmode=tcp\nserver_port=9001-9003,9010\ntarget_port=1-3,7\ntarget_ip=10.0.0.2\n[t]\nmode=udp\nserver_port=53\ntarget_addr=53\n',
    );
    expect(problems).toEqual([]);
    for (const entry of ['[tunnels.t-9001]', '[tunnels.t-9003]', '[tunnels.t-9010]', '"10.0.0.2:7"', '[tunnels.t]']) expect(text).toContain(entry);
    const problem = (ports: string) => made(`[t]\nmode=tcp\n${ports}\ntarget_addr=1\n`).problems[0];
    expect(problem('server_port=9001-9003\ntarget_port=1-2')).toMatch(/\[t\]: .*different numbers of ports/);
    for (const ports of ['9001-10001', '9003-9001', 'abc']) expect(problem(`server_port=${ports}`)).toMatch(/\[t\]: server_port: ".*" is no port, nor a range/);
  });

  test('what belongs to the client, and what has no equivalent, become comments; names of prototypes are no keys', () => {
    const { text, problems } = made(
      'constructor=1\nrate_limit=5\nproxy_url=socks5://x\n[__proto__]\nmode=tcp\nserver_port=9001\ntarget_addr=127.0.0.1:1\n[other]\nx=y\n',
    );
    expect(problems).toEqual([]);
    expect(text).toContain('# rate_limit: set rate_limit of the client on the server instead');
    expect(text).toContain('# constructor: has no equivalent');
    expect(text).toContain('# proxy_url: the agent connects directly');
    expect(text).toMatch(/# \[other\]: is no tunnel/);
    expect(text).toContain('port = 9001');
  });

  test('accounts come from the file that multi_account names, from the directory of the npc.conf', () => {
    const directory = scratchDirectory();
    writeFileSync(path.join(directory, 'accounts.conf'), '# comment\r\nalice = a=b\r\n\r\nAlice=other\r\n');
    const section = '[s]\nmode=socks5\nserver_port=1080\nmulti_account=accounts.conf\n';
    const { text, problems } = made(section, directory);
    expect(problems).toEqual([]);
    expect(text).toMatch(/alice = "a=b"\nAlice = "other"/);
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

  test('every flag and command without a meaning is named at once', () => {
    expect(problemsOf('install', '-server=h:1', '-vkey=a,b', '-type=kcp', '-proxy=x', '-constructor', '-__proto__=1')).toEqual([
      expect.stringMatching(/^install: /),
      expect.stringMatching(/^-__proto__=1: /),
      '-proxy: has no meaning here',
      '-constructor: has no meaning here',
      expect.stringMatching(/^-type: "kcp"/),
      expect.stringMatching(/^-vkey: one agent has one key/),
    ]);
    expect(problemsOf('-server=h:1', '-local_type=file', '-config=x')).toHaveLength(2);
  });
});
