import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { SettingsError } from '../../src/settings/settings-error.ts';
import { readVisitOptions } from '../../src/settings/visit-options.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const passwordFile = path.join(temporaryDirectory(), 'password');
writeFileSync(passwordFile, 'from-file\n');
const flags = { server: 'h:1', type: 'p2p', password: 'k', listen: '22' };

test.each([
  ['2222', { host: '127.0.0.1', port: 2222 }],
  ['0', { host: '127.0.0.1', port: 0 }],
  ['0.0.0.0:2222', { host: '0.0.0.0', port: 2222 }],
  ['[::1]:65535', { host: '::1', port: 65535 }],
])('the local port %s is understood', (listen, expected) => {
  expect(readVisitOptions({ ...flags, listen }, {})).toEqual({
    servers: [{ host: 'h', port: 1 }],
    tls: undefined,
    type: 'p2p',
    password: 'k',
    listen: expected,
    logLevel: { level: 'info', modules: {} },
    logFormat: 'text',
    sockets: 'auto',
    halfClosedSeconds: 300,
  });
});

test('TLS is used with --tls or a fingerprint, and only then', () => {
  const tls = (given: object) => readVisitOptions({ ...flags, ...given }, {}).tls;
  const pinned = 'ab'.repeat(32);
  expect([tls({}), tls({ tls: true }), tls({ tlsFingerprint: pinned })]).toEqual([undefined, { fingerprint: '' }, { fingerprint: pinned }]);
  expect(() => tls({ tlsFingerprint: 'ab' })).toThrow('--tls-fingerprint: must be a SHA-256 fingerprint');
});

test('the password comes from a flag, a file or the environment', () => {
  expect(readVisitOptions({ ...flags, password: undefined, passwordFile }, { ADIT_VISIT_PASSWORD: 'e' }).password).toBe('from-file');
  expect(readVisitOptions({ ...flags, password: undefined }, { ADIT_VISIT_PASSWORD: 'e' }).password).toBe('e');
});

test('all problems are reported at once, and the password is not shown', () => {
  expect(() => readVisitOptions({ server: 'h', type: 'tcp', password: 'hush', passwordFile, listen: 'x:y', logLevel: 'loud' }, {})).toThrow(
    new SettingsError([
      '--server: must be HOST:PORT, such as tunnel.example.com:8024, or up to 16 of them, separated by commas, not "h"',
      '--type: must be secret or p2p',
      '--password-file: must not be given together with --password',
      '--listen: must be PORT or HOST:PORT, such as 2222, not "x:y"',
      '--log-level: must be log levels like info or engine:debug,info ("loud" is not a level: there are trace, debug, info, warn, error, fatal, silent)',
    ]),
  );
  expect(() => readVisitOptions({ ...flags, password: undefined }, {})).toThrow('the password is missing: give --password PASSWORD or --password-file FILE');
  expect(() => readVisitOptions({ ...flags, listen: '65536' }, {})).toThrow('--listen: must be PORT or HOST:PORT');
});

test('logs, sockets and half-closed connections are set by flags, or else by variables', () => {
  const variables = { ADIT_LOG_LEVEL: 'debug', ADIT_LOG_FORMAT: 'json', ADIT_SOCKETS: 'net', ADIT_HALF_CLOSED_SECONDS: '7' };
  const given = { logLevel: 'warn', logFormat: 'text', sockets: 'onread', halfClosedSeconds: '8' };
  expect(readVisitOptions(flags, variables)).toMatchObject({ logLevel: { level: 'debug' }, logFormat: 'json', sockets: 'net', halfClosedSeconds: 7 });
  expect(readVisitOptions({ ...flags, ...given }, variables)).toMatchObject({ ...given, logLevel: { level: 'warn' }, halfClosedSeconds: 8 });
  const wrong = { logLevel: 'x', logFormat: 'y', sockets: 'z', halfClosedSeconds: '0' };
  for (
    const [flag, name] of [
      ['--log-level', 'logLevel'],
      ['--log-format', 'logFormat'],
      ['--sockets', 'sockets'],
      ['--half-closed-seconds', 'halfClosedSeconds'],
    ] as const
  ) expect(() => readVisitOptions({ ...flags, [name]: wrong[name] }, variables)).toThrow(`${flag}: must be `);
});

test('a password in a file that a variable names, and the types of tunnels', () => {
  expect(readVisitOptions({ ...flags, password: undefined }, { ADIT_VISIT_PASSWORD_FILE: passwordFile }).password).toBe('from-file');
  for (const type of ['secret', 'p2p']) expect(readVisitOptions({ ...flags, type }, {}).type).toBe(type);
});
