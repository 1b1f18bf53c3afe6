import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { commonSettings } from '../../src/settings/common-settings.ts';
import { readSettings } from '../../src/settings/load.ts';
import { fileKey, infoOf, settingNames } from '../../src/settings/settings.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const configFile = path.join(temporaryDirectory(), 'adit.toml');

test('servers compare the settings that must be equal, by hashes that say nothing about the values', () => {
  const of = (text: string) => {
    writeFileSync(configFile, text);
    return commonSettings(readSettings({ configFile }).settings);
  };
  const usual = of('auth_key = "hush-hush-hush"');
  expect(Object.keys(usual)).toEqual(settingNames.filter((name) => infoOf(name).common === true).map(fileKey));
  for (const hash of Object.values(usual)) expect(hash).toMatch(/^[0-9a-f]{16}$/);
  // Equal values of different settings look different.
  expect(new Set(Object.values(usual)).size).toBe(Object.values(usual).length);
  expect(of('auth_key = "hush-hush-hush"\nhttp_port = 9')).toEqual(usual);
  const differing = (other: Readonly<Record<string, string>>) => Object.keys(usual).filter((name) => usual[name] !== other[name]);
  expect(differing(of('auth_key = "hush"\nallow_ports = "1-2"\ndrain_seconds = 9\nvhost_idle_seconds = 9'))).toEqual([
    'auth_key',
    'allow_ports',
    'vhost_idle_seconds',
  ]);
});
