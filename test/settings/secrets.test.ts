import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { loadSettings, readSettings, type SettingsInput } from '../../src/settings/load.ts';
import { SettingsError } from '../../src/settings/settings-error.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const directory = temporaryDirectory();
const noFile = path.join(directory, 'empty.toml');
writeFileSync(noFile, '');

function start(dataDir: string, environment: NodeJS.ProcessEnv = {}): SettingsInput {
  return { configFile: noFile, environment: { ADIT_DATA_DIR: path.join(directory, dataDir), ...environment } };
}

function mode(file: string): string {
  return (statSync(path.join(directory, file)).mode & 0o777).toString(8);
}

describe('the first start', () => {
  test('generates the secrets that are not set, and stores them for this user only', () => {
    const { settings, generated } = loadSettings(start('first/data'));
    expect(generated).toEqual({ authKey: settings.authKey, authCryptKey: settings.authCryptKey, adminPassword: settings.adminPassword });
    expect(settings.authKey).toMatch(/^[A-Za-z0-9]{40}$/);
    expect(settings.authCryptKey).toMatch(/^[A-Za-z0-9]{16}$/);
    expect(settings.adminPassword).toMatch(/^[A-Za-z0-9]{20}$/);
    expect(mode('first/data')).toBe('700');
    expect(mode('first/data/secrets.json')).toBe('600');
  });

  test('generates others in another data directory', () => {
    expect(loadSettings(start('one')).settings.authKey).not.toBe(loadSettings(start('two')).settings.authKey);
  });

  test('is the only one that shows them: the second takes what is stored', () => {
    const first = loadSettings(start('again'));
    const second = loadSettings(start('again'));
    expect(second.generated).toEqual({});
    expect(second.settings).toEqual(first.settings);
  });

  test('neither generates nor stores a secret that was given, be it empty', () => {
    const { settings, generated } = loadSettings(start('given', { ADIT_AUTH_KEY: '', ADIT_ADMIN_PASSWORD: 'mine, really' }));
    expect(Object.keys(generated)).toEqual(['authCryptKey']);
    expect(settings).toMatchObject({ authKey: '', adminPassword: 'mine, really' });
    expect(readFileSync(path.join(directory, 'given/secrets.json'), 'utf8')).not.toContain('mine, really');
  });

  test('writes nothing when all of them are given', () => {
    loadSettings(start('all given', { ADIT_AUTH_KEY: 'k', ADIT_AUTH_CRYPT_KEY: 'c', ADIT_ADMIN_PASSWORD: 'mine, really' }));
    expect(existsSync(path.join(directory, 'all given'))).toBe(false);
  });

  test('happens later for a secret that is no longer given, and keeps the stored ones', () => {
    const first = loadSettings(start('later', { ADIT_ADMIN_PASSWORD: 'given at first' }));
    const second = loadSettings(start('later'));
    expect(Object.keys(second.generated)).toEqual(['adminPassword']);
    expect(second.settings).toEqual({ ...first.settings, adminPassword: second.settings.adminPassword });
    expect(loadSettings(start('later')).settings).toEqual(second.settings);
  });
});

describe('stored secrets', () => {
  test('give way to given ones', () => {
    loadSettings(start('override'));
    expect(loadSettings(start('override', { ADIT_AUTH_KEY: 'given' })).settings.authKey).toBe('given');
  });

  test('are closed to others when their file was open', () => {
    loadSettings(start('open'));
    chmodSync(path.join(directory, 'open/secrets.json'), 0o644);
    readSettings(start('open'));
    expect(mode('open/secrets.json')).toBe('600');
    chmodSync(path.join(directory, 'open/secrets.json'), 0o400);
    readSettings(start('open'));
    expect(mode('open/secrets.json')).toBe('400');
  });

  test.each([['{"authKey": "topsecret', 'is not JSON'], ['{"other": "topsecret"}', 'holds something else than generated secrets']])(
    'that are damaged (%s) stop the start, unshown and untouched',
    (content, problem) => {
      mkdirSync(path.join(directory, 'damaged'), { recursive: true });
      const file = path.join(directory, 'damaged/secrets.json');
      writeFileSync(file, content, { mode: 0o600 });
      expect(() => loadSettings(start('damaged'))).toThrow(new SettingsError([`${file}: ${problem} (data directory)`]));
      expect(readFileSync(file, 'utf8')).toBe(content);
    },
  );

  test('that can not be stored stop the start', () => {
    writeFileSync(path.join(directory, 'occupied'), '');
    expect(() => loadSettings(start('occupied'))).toThrow(SettingsError);
  });

  test('are not made by only reading the settings', () => {
    expect(readSettings(start('untouched')).missing).toEqual(['authKey', 'authCryptKey', 'adminPassword']);
    expect(existsSync(path.join(directory, 'untouched'))).toBe(false);
  });
});
