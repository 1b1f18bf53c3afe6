import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadSettings, readSettings, type SettingsInput } from '../../src/settings/load.ts';
import { secretsFile } from '../../src/settings/secrets.ts';
import { environmentName, type SettingName, settingNames } from '../../src/settings/settings.ts';
import { SettingsError } from '../../src/settings/settings-error.ts';
import { fileSource } from '../../src/settings/sources.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory();
let files = 0;

/** A file with this content; its name is new each time. */
function file(content: string): string {
  const name = path.join(directory, `file-${++files}`);
  writeFileSync(name, content);
  return name;
}

function read(input: SettingsInput) {
  return readSettings({ configFile: file(''), ...input, flags: { '--data-dir': path.join(directory, 'data'), ...input.flags } });
}

function problems(input: SettingsInput): readonly string[] {
  try {
    read(input);
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
  return [];
}

describe('a setting', () => {
  const configFile = file('http_port = 3003');

  test('is taken from its flag before its variable before adit.toml before its default', () => {
    const environment = { ADIT_HTTP_PORT: '2002' };
    expect(read({ configFile, environment, flags: { '--http-port': '1001' } }).settings.httpPort).toBe(1001);
    expect(read({ configFile, environment }).settings.httpPort).toBe(2002);
    expect(read({ configFile }).settings.httpPort).toBe(3003);
    expect(read({}).settings.httpPort).toBe(8080);
  });

  test('has the documented default', () => {
    expect(read({}).settings).toMatchObject({
      httpHost: '127.0.0.1',
      httpPort: 8080,
      basePath: '',
      bridgeHost: '0.0.0.0',
      bridgePort: 8024,
      bridgeTlsPort: 8025,
      bridgeTlsCert: '',
      bridgeTlsKey: '',
      vhostHost: '0.0.0.0',
      vhostHttpPort: 8000,
      vhostHttpsPort: 8443,
      p2pPort: 6000,
      databaseUrl: '',
      adminUsername: 'admin',
      allowPorts: [],
      allowLocalProxy: false,
      trustedProxies: [],
      logLevel: { level: 'info', modules: {} },
      logFormat: 'text',
      sockets: 'auto',
      apiAuthFailureStatus: 401,
      udpIdleSeconds: 60,
      halfClosedSeconds: 300,
      dialTimeoutSeconds: 10,
      drainSeconds: 30,
      leaveSeconds: 5,
    });
  });

  test('means the same as a text and as a native value of TOML', () => {
    const native = read({
      configFile: file('allow_local_proxy = true\ntrusted_proxies = ["10.0.0.0/8", "::1"]\napi_auth_failure_status = 302\nallow_ports = 9001'),
    });
    const text = read({
      environment: {
        ADIT_ALLOW_LOCAL_PROXY: 'true',
        ADIT_TRUSTED_PROXIES: '10.0.0.0/8, ::1',
        ADIT_API_AUTH_FAILURE_STATUS: '302',
        ADIT_ALLOW_PORTS: '9001',
      },
    });
    expect(native.settings).toEqual(text.settings);
    expect(native.settings).toMatchObject({
      allowLocalProxy: true,
      trustedProxies: ['10.0.0.0/8', '::1'],
      apiAuthFailureStatus: 302,
      allowPorts: [{ from: 9001, to: 9001 }],
    });
  });

  /** Values as texts, and what becomes of them where that is something else; the least and the most of a number, with what is refused. */
  const texts: Readonly<Record<SettingName, { readonly takes: Readonly<Record<string, unknown>>; readonly refuses: readonly string[] }>> = {
    dataDir: { takes: { '/a': '/a' }, refuses: [''] },
    httpHost: { takes: { '::1': '::1', 'a-b.c': 'a-b.c', 'fe80::1%eth0': 'fe80::1%eth0' }, refuses: ['', 'a b', '[::1]', 'x'.repeat(256)] },
    httpPort: numbers(0, 65_535),
    httpTls: { takes: { off: 'off', 'self-signed': 'self-signed', acme: 'acme' }, refuses: ['', 'on'] },
    httpTlsCert: { takes: { '': '', '/a': '/a', 'a/b': path.resolve('a/b') }, refuses: [] },
    httpTlsKey: { takes: { '': '', '/a': '/a', 'a/b': path.resolve('a/b') }, refuses: [] },
    httpRedirectPort: emptyOr(numbers(0, 65_535)),
    basePath: { takes: { '': '', '/a': '/a', '/a/b~.-c': '/a/b~.-c' }, refuses: ['/', 'a', '/a/', '/a//b', '/a?b'] },
    publicUrl: {
      takes: { '': '', 'https://a.example': 'https://a.example', 'http://a:1/b': 'http://a:1/b' },
      refuses: ['ftp://a', 'a', `https://${'x'.repeat(250)}`],
    },
    bridgeHost: { takes: { '::': '::' }, refuses: [''] },
    bridgePort: numbers(0, 65_535),
    bridgeTlsPort: numbers(0, 65_535),
    bridgeTlsCert: { takes: { '': '', 'a/b': path.resolve('a/b') }, refuses: [] },
    bridgeTlsKey: { takes: { '': '', 'a/b': path.resolve('a/b') }, refuses: [] },
    vhostHost: { takes: { '::': '::' }, refuses: [''] },
    vhostHttpPort: numbers(0, 65_535),
    vhostHttpsPort: numbers(0, 65_535),
    acme: booleans(),
    acmeDirectory: {
      takes: { 'https://ca.example/d': 'https://ca.example/d' },
      refuses: ['', 'http://ca.example/d', `https://ca.example/${'x'.repeat(1000)}`],
    },
    acmeEmail: { takes: { '': '', 'a@b.example': 'a@b.example' }, refuses: ['a'] },
    acmeCa: { takes: { '': '', 'a/b': path.resolve('a/b') }, refuses: [] },
    p2pPort: numbers(0, 65_535),
    databaseUrl: {
      takes: { '': '', 'postgres://h/d': 'postgres://h/d', 'postgresql://h/d': 'postgresql://h/d' },
      refuses: ['mysql://h/d', 'postgresql://h:x/d'],
    },
    authKey: { takes: { '': '', ' a b ': 'a b' }, refuses: [] },
    authCryptKey: { takes: { '': '', ' a b ': ' a b ' }, refuses: [] },
    adminUsername: { takes: { a: 'a', ['x'.repeat(255)]: 'x'.repeat(255) }, refuses: ['', 'x'.repeat(256)] },
    adminPassword: { takes: { ' 23456': ' 23456' }, refuses: ['', '12345'] },
    node: { takes: { '': '', 'A_b.c-1': 'A_b.c-1', ['x'.repeat(63)]: 'x'.repeat(63) }, refuses: ['a b', 'x'.repeat(64)] },
    nodeAddress: { takes: { '': '', '::1': '::1', 'a.b': 'a.b' }, refuses: ['a b', 'a/b'] },
    nodeLinks: { takes: { tls: 'tls', plain: 'plain' }, refuses: ['', 'off'] },
    processes: numbers(1, 64),
    linkPort: numbers(0, 65_535),
    processHttpPort: emptyOr(numbers(0, 65_535)),
    invitation: { takes: { '': '', ' a ': 'a' }, refuses: [] },
    tunnelHost: { takes: { '': '', '::1': '::1', '127.0.0.1': '127.0.0.1' }, refuses: ['localhost', '::1%1'] },
    allowPorts: { takes: { '': [], '1-2,4': [{ from: 1, to: 2 }, { from: 4, to: 4 }] }, refuses: ['x', '65536'] },
    allowLocalProxy: booleans(),
    allowVkeyLogin: booleans(),
    trustedProxies: { takes: { '': [], '::1, 10.0.0.0/8': ['::1', '10.0.0.0/8'] }, refuses: ['a', '10.0.0.0/33'] },
    logLevel: { takes: { 'engine:debug,warn': { level: 'warn', modules: { engine: 'debug' } } }, refuses: ['loud'] },
    logFormat: { takes: { text: 'text', json: 'json' }, refuses: ['', 'xml'] },
    sockets: { takes: { auto: 'auto', net: 'net', onread: 'onread', captured: 'captured' }, refuses: ['', 'raw'] },
    apiAuthFailureStatus: { takes: { 401: 401, 302: 302 }, refuses: ['', '403'] },
    auditDays: numbers(1, 36_500),
    trafficMinuteDays: numbers(1, 36_500),
    trafficHourDays: numbers(1, 36_500),
    trafficDayDays: numbers(1, 36_500),
    udpIdleSeconds: numbers(1, 86_400),
    halfClosedSeconds: numbers(1, 86_400),
    dialTimeoutSeconds: numbers(1, 60),
    vhostHeadSeconds: numbers(1, 600),
    vhostIdleSeconds: numbers(1, 86_400),
    vhostResponseSeconds: numbers(1, 86_400),
    vhostMaxHeadBytes: numbers(1024, 1_048_576),
    vhostMaxHeaders: numbers(8, 1000),
    drainSeconds: numbers(0, 3600),
    leaveSeconds: numbers(0, 3600),
  };

  function numbers(least: number, most: number) {
    return { takes: { [least]: least, [most]: most }, refuses: [String(least - 1), String(most + 1), '', '1.5', '0x1'] };
  }

  function emptyOr({ takes, refuses }: ReturnType<typeof numbers>) {
    return { takes: { '': '', ...takes }, refuses: refuses.filter((text) => text !== '') };
  }

  function booleans() {
    return { takes: { true: true, false: false }, refuses: ['', '1', 'yes'] };
  }

  test.each(settingNames)('%s takes what it may have, and nothing else', (name) => {
    const given = (text: string): SettingsInput => {
      const environment = { [environmentName(name)]: text };
      return name === 'dataDir' ? { environment, configFile: file('') } : { environment };
    };
    const { takes, refuses } = texts[name];
    for (const [text, value] of Object.entries(takes)) {
      const { settings } = name === 'dataDir' ? readSettings(given(text)) : read(given(text));
      expect([text, settings[name]]).toEqual([text, value]);
    }
    for (const text of refuses) expect([text, problems(given(text))]).toEqual([text, [expect.stringMatching(`^${environmentName(name)}: must `)]]);
  });

  test('that names a directory is made absolute', () => {
    expect(read({ flags: { '--data-dir': 'some/where' } }).settings.dataDir).toBe(path.resolve('some/where'));
  });
});

describe('a secret', () => {
  test('is read from the file that a flag, a variable or adit.toml names, without the line end', () => {
    const secretFile = file('a key\n');
    const named = { '--auth-key-file': secretFile };
    expect(read({ flags: named }).settings.authKey).toBe('a key');
    expect(read({ environment: { ADIT_AUTH_KEY_FILE: secretFile } }).settings.authKey).toBe('a key');
    expect(read({ configFile: file(`auth_key_file = ${JSON.stringify(secretFile)}`) }).settings.authKey).toBe('a key');
    expect(read({ environment: { ADIT_DATABASE_URL_FILE: file('postgresql://u:p@h/d\n') } }).settings.databaseUrl).toBe('postgresql://u:p@h/d');
    // Of a password, anything else belongs to it.
    expect(read({ environment: { ADIT_ADMIN_PASSWORD_FILE: file(' pass word \n\r\n') } }).settings.adminPassword).toBe(' pass word \n');
  });

  test('may come from a file in one source although another gives it as such', () => {
    expect(read({ environment: { ADIT_AUTH_KEY: 'lower' }, flags: { '--auth-key-file': file('upper') } }).settings.authKey).toBe('upper');
  });
});

describe('the start is refused, with name, problem and source, for', () => {
  const configFile = file('http_port = 70000\nhttp-port = 80\n[bridge]\nport = 1');
  const unnamed = file('auth_key_file = 1');

  test.each<[string, SettingsInput, string[]]>([
    ['an unknown flag', { flags: { '--http-prot': '1' } }, ['--http-prot: unknown setting; "adit server --help" lists them (command line)']],
    ['an unknown variable', { environment: { ADIT_HTTP_PROT: '1', HOME: '/' } }, [
      'ADIT_HTTP_PROT: unknown setting; "adit server --help" lists them (environment)',
    ]],
    ['unknown and bad keys in the file', { configFile }, [
      `http_port: must be a port (0 = any free one) from 0 to 65535, not 70000 (${configFile})`,
      `http-port: unknown setting; "adit server --help" lists them (${configFile})`,
      `bridge: unknown setting; "adit server --help" lists them (${configFile})`,
    ]],
    ['a certificate authority without TLS, and no e-mail address', {
      environment: { ADIT_ACME_DIRECTORY: 'http://ca.example.com/dir', ADIT_ACME_EMAIL: 'somebody' },
    }, [
      'ADIT_ACME_DIRECTORY: must be a URL that begins with https://, not "http://ca.example.com/dir" (environment)',
      'ADIT_ACME_EMAIL: must be an e-mail address, not "somebody" (environment)',
    ]],
    ['a bad value that another source overrides', { environment: { ADIT_HTTP_PORT: 'x' }, flags: { '--http-port': '1' } }, [
      'ADIT_HTTP_PORT: must be a port (0 = any free one) from 0 to 65535, not "x" (environment)',
    ]],
    ['a secret file without a name', { configFile: unnamed }, [`auth_key_file: must be the name of a file (${unnamed})`]],
    ['a long value, of which the beginning is shown', { flags: { '--http-port': 'x'.repeat(100) } }, [
      `--http-port: must be a port (0 = any free one) from 0 to 65535, not "${'x'.repeat(79)}... (command line)`,
    ]],
    ['an empty number', { environment: { ADIT_DRAIN_SECONDS: '' } }, ['ADIT_DRAIN_SECONDS: must be seconds from 0 to 3600, not "" (environment)']],
    ['a fraction', { flags: { '--drain-seconds': '1.5' } }, ['--drain-seconds: must be seconds from 0 to 3600, not "1.5" (command line)']],
    ['a boolean that is neither', { flags: { '--allow-local-proxy': 'yes' } }, ['--allow-local-proxy: must be true or false, not "yes" (command line)']],
    ['another word', { flags: { '--log-format': 'xml' } }, ['--log-format: must be one of text, json, not "xml" (command line)']],
    ['another status', { flags: { '--api-auth-failure-status': '403' } }, ['--api-auth-failure-status: must be 401 or 302, not "403" (command line)']],
    ['a base path', { flags: { '--base-path': 'nps/' } }, [
      '--base-path: must be empty, or a path like /adit that begins with a slash and ends without one, not "nps/" (command line)',
    ]],
    ['a host with a port', { flags: { '--http-host': 'http://x' } }, [
      '--http-host: must be an IP address or a host name, without a port, not "http://x" (command line)',
    ]],
    ['ports', { flags: { '--allow-ports': '9-8' } }, [
      '--allow-ports: must be ports like 9001-9009,10001 (9-8 ends before it begins), not "9-8" (command line)',
    ]],
    ['networks', { flags: { '--trusted-proxies': '10.0.0.0/8,me' } }, [
      '--trusted-proxies: must be a list of IP addresses and networks like 10.0.0.0/8 ("me" is neither), not "10.0.0.0/8,me" (command line)',
    ]],
    ['a file that is not TOML', { configFile: path.join(directory, 'missing.toml') }, [
      `--config: ENOENT: no such file or directory, open '${path.join(directory, 'missing.toml')}' (command line)`,
    ]],
    ['a secret given twice', { environment: { ADIT_AUTH_KEY: 'k', ADIT_AUTH_KEY_FILE: '/f' } }, [
      'ADIT_AUTH_KEY_FILE: must not be given together with ADIT_AUTH_KEY (environment)',
    ]],
    ['a missing secret file', { environment: { ADIT_AUTH_KEY_FILE: '/nowhere' } }, [
      "ADIT_AUTH_KEY_FILE: ENOENT: no such file or directory, open '/nowhere' (environment)",
    ]],
  ])('%s', (_, input, expected) => {
    expect(problems(input)).toEqual(expected);
  });

  test('every problem at once, from every source', () => {
    const all = problems({
      configFile: file('nonsense = 1'),
      environment: { ADIT_HTTP_PORT: 'x', ADIT_NONSENSE: '1' },
      flags: { '--nonsense': '', '--log-level': 'loud' },
    });
    expect(all.map((problem) => problem.split(':')[0])).toEqual(['nonsense', 'ADIT_HTTP_PORT', 'ADIT_NONSENSE', '--log-level', '--nonsense']);
  });

  test('a broken file, by line, without quoting it', () => {
    const [problem = '', ...others] = problems({ configFile: file('http_port = 1\nauth_key = "hunter2hunter2\n') });
    expect(others).toEqual([]);
    expect(problem).toMatch(/^line 2, column \d+: .*\(.*\)$/);
    expect(problem).not.toContain('hunter2');
  });

  test('a bad secret, without showing it', () => {
    expect(problems({ environment: { ADIT_ADMIN_PASSWORD: 'hush', ADIT_DATABASE_URL: 'mysql://u:hush@h/d' } })).toEqual([
      'ADIT_DATABASE_URL: must be empty (SQLite in the data directory) or a URL like postgresql://user:password@host:5432/database (environment)',
      'ADIT_ADMIN_PASSWORD: must have at least 6 characters (environment)',
    ]);
  });
});

describe('keys that protect nothing (contract D30)', () => {
  const load = (environment: NodeJS.ProcessEnv) =>
    loadSettings({
      configFile: file(''),
      environment: { ADIT_DATA_DIR: path.join(directory, 'weak'), ADIT_AUTH_KEY: 'k', ADIT_AUTH_CRYPT_KEY: '0123456789abcdef', ...environment },
    });

  test('an auth_key that is set to empty stays empty: the signed API is off, which is logged', () => {
    const { settings, notices } = load({ ADIT_AUTH_KEY: '' });
    expect(settings.authKey).toBe('');
    expect(notices).toEqual(['auth_key is empty: the signed API is off']);
  });

  test.each(['123', '213', ' CHANGE_ME ', 'CHANGE_ME_16CHAR', '1234567812345678'])('the well-known auth_key %j turns the signed API off, too', (key) => {
    const { settings, notices } = load({ ADIT_AUTH_KEY: key });
    expect(settings.authKey).toBe('');
    expect(notices).toEqual(['auth_key is a publicly known key: the signed API is off; set another one']);
  });

  test('a well-known auth_crypt_key is kept, with a warning in the log', () => {
    const { settings, notices } = load({ ADIT_AUTH_CRYPT_KEY: '1234567812345678' });
    expect(settings.authCryptKey).toBe('1234567812345678');
    expect(notices).toEqual([expect.stringContaining('auth_crypt_key is a publicly known key')]);
  });

  test('an auth_crypt_key of another length is kept, and the log reports what is disabled', () => {
    for (const key of ['short', 'x'.repeat(17), 'ü'.repeat(16)]) {
      const { settings, notices } = load({ ADIT_AUTH_CRYPT_KEY: key });
      expect(settings.authCryptKey).toBe(key);
      expect(notices).toEqual(['auth_crypt_key is not 16 bytes long: /auth/getauthkey/ is off']);
    }
    expect(load({ ADIT_AUTH_CRYPT_KEY: 'ü'.repeat(8) }).notices).toEqual([]);
  });

  test('other keys are taken as they are, without a word', () => {
    expect(load({}).notices).toEqual([]);
    expect(load({}).settings).toMatchObject({ authKey: 'k', authCryptKey: '0123456789abcdef' });
  });
});

test('a stored secret is named as the origin only where no source gives another', () => {
  const flags = { '--data-dir': path.join(directory, 'with secrets') };
  loadSettings({ flags, configFile: file('') });
  const { settings, origins } = readSettings({ flags, configFile: file(''), environment: { ADIT_AUTH_KEY: 'mine' } });
  expect(settings.authKey).toBe('mine');
  expect(origins.get('authKey')).toBe('ADIT_AUTH_KEY (environment)');
  expect(origins.get('authCryptKey')).toBe(secretsFile(path.join(directory, 'with secrets')));
});

test('what agents and tests find in the environment is no setting of a server', () => {
  const environment = Object.fromEntries(['ADIT_VKEY', 'ADIT_VKEY_FILE', 'ADIT_RUNTIME_DIR', 'ADIT_REQUIRE_PROGRAMS'].map((name) => [name, 'x']));
  expect(problems({ environment })).toEqual([]);
});

test('without a file that is named, there need be none', () => {
  expect(fileSource(undefined)).toMatchObject({ label: path.resolve('adit.toml') });
});
