import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { settingsDocument } from '../../src/settings/document.ts';
import { defaultOf, environmentName, infoOf, settingNames } from '../../src/settings/settings.ts';

const document = readFileSync(path.resolve(import.meta.dirname, '../../docs/settings.md'), 'utf8');

test('docs/settings.md is what "npm run docs:settings" writes', () => {
  expect(document).toBe(settingsDocument());
});

test('docs/settings.md has a row for each setting, with its default and its description, and marks secrets and what is common', () => {
  const rows = document.split('\n').filter((line) => line.startsWith('| `ADIT_')).map((line) =>
    line.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('`', '').replaceAll('\\|', '|'))
  );
  expect(rows.map(([, name]) => name)).toEqual(settingNames.map(environmentName));
  for (const [index, name] of settingNames.entries()) {
    const { help, value, secret = false, common = false } = infoOf(name);
    expect(rows[index]?.[2]).toBe(secret ? `${value}, secret` : value);
    expect(rows[index]?.[3]).toBe(defaultOf(name) === '' ? 'empty' : defaultOf(name) ?? 'generated');
    expect(rows[index]?.[4]).toBe(`${help.replaceAll('`', '')}${common ? ' (*)' : ''}`);
  }
});
