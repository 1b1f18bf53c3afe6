import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import {
  installationKeyFile,
  invitationOf,
  keepInstallationKey,
  keepNextInstallationKey,
  keptInstallationKeys,
  useNextInstallationKey,
} from '../../src/settings/installation-key.ts';
import { SettingsError } from '../../src/settings/settings-error.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory();
const keyOf = (byte: number): Buffer => Buffer.alloc(32, byte);
const textOf = (byte: number): string => `adit-invitation-${keyOf(byte).toString('base64url')}`;

test('the key in the data directory comes first, then the one that is to replace it, then that of an invitation', () => {
  const dataDir = path.join(directory, 'three');
  expect(keptInstallationKeys(dataDir, '')).toEqual([]);
  expect(keptInstallationKeys(dataDir, textOf(3))).toEqual([keyOf(3)]);
  keepNextInstallationKey(dataDir, keyOf(2));
  keepInstallationKey(dataDir, keyOf(1));
  expect(keptInstallationKeys(dataDir, textOf(3))).toEqual([keyOf(1), keyOf(2), keyOf(3)]);
  expect(invitationOf(dataDir)).toBe(textOf(1));
  expect(readdirSync(dataDir).map((name) => [name, statSync(path.join(dataDir, name)).mode & 0o777])).toEqual([
    ['installation-next.key', 0o600],
    ['installation.key', 0o600],
  ]);
  useNextInstallationKey(dataDir, keyOf(2));
  expect(keptInstallationKeys(dataDir, '')).toEqual([keyOf(2)]);
  expect(readFileSync(installationKeyFile(dataDir), 'utf8')).toBe(`${textOf(2)}\n`);
  // It may have been done before the server was stopped.
  useNextInstallationKey(dataDir, keyOf(2));
  expect(invitationOf(dataDir)).toBe(textOf(2));
});

test('a key that is kept already is not written again', () => {
  const dataDir = path.join(directory, 'same');
  keepInstallationKey(dataDir, keyOf(1));
  const { ino } = statSync(installationKeyFile(dataDir));
  keepInstallationKey(dataDir, keyOf(1));
  expect(statSync(installationKeyFile(dataDir)).ino).toBe(ino);
  keepInstallationKey(dataDir, keyOf(2));
  expect(invitationOf(dataDir)).toBe(textOf(2));
});

test('what is no key is refused by its name, and not quoted', () => {
  const dataDir = path.join(directory, 'wrong');
  const file = installationKeyFile(dataDir);
  const must = 'must be what "adit nodes invite" prints';
  for (const text of ['hush', textOf(1).slice(0, -2), textOf(1).replace('adit', 'other'), `${textOf(1)}AAAA`]) {
    expect(() => keptInstallationKeys(path.join(directory, 'none'), text)).toThrow(`invitation: ${must}`);
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(file, text);
    expect(() => keptInstallationKeys(dataDir, '')).toThrow(`${file}: ${must}`);
    expect(() => invitationOf(dataDir)).toThrow(`${file}: ${must}`);
    expect(() => keepInstallationKey(dataDir, keyOf(1))).toThrow(`${file}: ${must}`);
    expect(readFileSync(file, 'utf8')).toBe(text);
  }
  expect(() => invitationOf(path.join(directory, 'none'))).toThrow(/installation\.key: there is no such file/);
  mkdirSync(path.join(directory, 'odd', 'installation.key'), { recursive: true });
  expect(() => keptInstallationKeys(path.join(directory, 'odd'), '')).toThrow(/installation\.key: EISDIR/);
});

test('a file that can be neither written nor removed is named, and the key stays the one before', () => {
  const dataDir = path.join(directory, 'unwritable');
  keepInstallationKey(dataDir, keyOf(1));
  mkdirSync(path.join(dataDir, 'installation-next.key'));
  for (const use of [keepNextInstallationKey, useNextInstallationKey]) {
    expect(() => use(dataDir, keyOf(1))).toThrow(SettingsError);
    expect(() => use(dataDir, keyOf(1))).toThrow(/installation-next\.key: ./);
  }
  expect(invitationOf(dataDir)).toBe(textOf(1));
});
