import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { readAgentOptions, type AgentFlags } from '../../src/settings/agent-options.ts';
import { SettingsError } from '../../src/settings/settings-error.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const vkeyFile = path.join(temporaryDirectory(), 'vkey');
writeFileSync(vkeyFile, 'from-file\n');

test.each([
  ['tunnel.example.com:8024', [{ host: 'tunnel.example.com', port: 8024 }]],
  ['127.0.0.1:1', [{ host: '127.0.0.1', port: 1 }]],
  ['[::1]:65535', [{ host: '::1', port: 65535 }]],
  ['one:1, two:2', [{ host: 'one', port: 1 }, { host: 'two', port: 2 }]],
])('the server %s is understood', (server, expected) => {
  expect(readAgentOptions({ server, vkey: 'k' }, {})).toEqual({
    session: { servers: expected, tls: undefined, vkey: 'k', allowFiles: [] },
    config: undefined,
    json: false,
    logLevel: { level: 'info', modules: {} },
    logFormat: 'text',
    sockets: 'auto',
  });
});

test('the directories that may be served are made absolute', () => {
  expect(readAgentOptions({ server: 'h:1', vkey: 'k', allowFiles: ['/srv/a', 'b/../c'] }, {}).session.allowFiles).toEqual(['/srv/a', path.resolve('c')]);
});

test.each(['example.com', 'example.com:0', 'example.com:65536', '::1:80', 'http://example.com:80', 'a b:1', ':80', 'a:1,', 'a:1,b', `a:1${',a:1'.repeat(16)}`])(
  'the server %j is refused',
  (server) => {
    expect(() => readAgentOptions({ server, vkey: 'k' }, {}))
      .toThrow(
        new SettingsError([
          `--server: must be HOST:PORT, such as tunnel.example.com:8024, or up to 16 of them, separated by commas, not ${JSON.stringify(server)}`,
        ]),
      );
  },
);

test.each<[string, AgentFlags, NodeJS.ProcessEnv, string]>([
  ['a flag', { vkey: 'flag' }, { ADIT_VKEY: 'environment' }, 'flag'],
  ['a file', { vkeyFile }, { ADIT_VKEY: 'environment' }, 'from-file'],
  ['the environment', {}, { ADIT_VKEY: 'environment' }, 'environment'],
  ['a file that the environment names', {}, { ADIT_VKEY_FILE: vkeyFile }, 'from-file'],
])('the key comes from %s', (_, flags, environment, expected) => {
  expect(readAgentOptions({ server: 'h:1', ...flags }, environment).session.vkey).toBe(expected);
});

test('TLS is off unless asked for; a pinned fingerprint asks for it', () => {
  const digits = '0123456789abcdef'.repeat(4);
  const tlsOf = (flags: AgentFlags) => readAgentOptions({ server: 'h:1', vkey: 'k', ...flags }, {}).session.tls;
  expect(tlsOf({})).toBeUndefined();
  expect(tlsOf({ tls: true })).toEqual({ fingerprint: '' });
  for (const text of [digits, digits.toUpperCase(), digits.match(/../g)?.join(':') ?? '', `SHA256:${digits}`, ` sha-256=${digits}\n`]) {
    expect(tlsOf({ tlsFingerprint: text })).toEqual({ fingerprint: digits });
  }
  for (const text of ['', digits.slice(1), `${digits}0`, digits.replace('a', 'g')]) {
    expect(() => tlsOf({ tls: true, tlsFingerprint: text })).toThrow('--tls-fingerprint: must be a SHA-256 fingerprint');
  }
});

test('all problems are reported at once, and the key is not shown', () => {
  expect(() => readAgentOptions({ server: 'h', vkey: 'hush', vkeyFile, logLevel: 'loud' }, {})).toThrow(
    new SettingsError([
      '--server: must be HOST:PORT, such as tunnel.example.com:8024, or up to 16 of them, separated by commas, not "h"',
      '--vkey-file: must not be given together with --vkey',
      '--log-level: must be log levels like info or engine:debug,info ("loud" is not a level: there are trace, debug, info, warn, error, fatal, silent)',
    ]),
  );
  expect(() => readAgentOptions({ server: 'h:1' }, {})).toThrow('the key is missing');
  expect(() => readAgentOptions({ server: 'h:1' }, { ADIT_VKEY: '' })).toThrow('ADIT_VKEY: the key must not be empty');
  expect(() => readAgentOptions({ server: 'h:1', vkeyFile: '/nowhere' }, {})).toThrow('--vkey-file: ENOENT');
});

test('with a configuration file, no other option is required', () => {
  expect(readAgentOptions({ config: 'a.toml', json: true }, {})).toMatchObject({
    session: { servers: undefined, vkey: undefined, tls: undefined, allowFiles: [] },
    config: path.resolve('a.toml'),
    json: true,
  });
  expect(readAgentOptions({ config: 'a.toml', server: 'h:1' }, { ADIT_VKEY: 'k' }).session).toMatchObject({ servers: [{ host: 'h', port: 1 }], vkey: 'k' });
  expect(() => readAgentOptions({}, { ADIT_VKEY: 'k' })).toThrow('--server: give the bridge of the server, such as tunnel.example.com:8024, or --config FILE');
});

test('with a configuration file, a key of any place goes before that of the file', () => {
  const config = 'a.toml';
  for (
    const [flags, environment] of [
      [{ vkey: 'from-file' }, {}],
      [{ vkeyFile }, {}],
      [{}, { ADIT_VKEY: 'from-file' }],
      [{}, { ADIT_VKEY_FILE: vkeyFile }],
    ] as const
  ) expect(readAgentOptions({ config, ...flags }, environment).session.vkey).toBe('from-file');
});

test('logs and sockets are set by flags, or else by variables', () => {
  const variables = { ADIT_LOG_LEVEL: 'debug', ADIT_LOG_FORMAT: 'json', ADIT_SOCKETS: 'net' };
  const flags = { logLevel: 'warn', logFormat: 'text', sockets: 'onread' };
  expect(readAgentOptions({ config: 'a.toml' }, variables)).toMatchObject({ logLevel: { level: 'debug' }, logFormat: 'json', sockets: 'net' });
  expect(readAgentOptions({ config: 'a.toml', ...flags }, variables)).toMatchObject({ ...flags, logLevel: { level: 'warn' } });
  const wrong = { logLevel: 'x', logFormat: 'y', sockets: 'z' };
  for (const [flag, name] of [['--log-level', 'logLevel'], ['--log-format', 'logFormat'], ['--sockets', 'sockets']] as const) {
    expect(() => readAgentOptions({ config: 'a.toml', [name]: wrong[name] }, variables)).toThrow(`${flag}: must be `);
  }
});
