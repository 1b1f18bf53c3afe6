import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { defaultOf, environmentName, infoOf, settingNames } from '../../src/settings/settings.ts';

const readme = readFileSync(path.resolve(import.meta.dirname, '../../README.md'), 'utf8');

test("the README's table has every setting with its default and its text", () => {
  const rows = settingNames.map((name) => {
    const fallback = defaultOf(name);
    return `| \`${environmentName(name)}\` | ${fallback === undefined ? 'generated' : fallback === '' ? 'empty' : `\`${fallback}\``} | ${infoOf(name).help} |`;
  });
  expect(readme.split('\n').filter((line) => line.startsWith('| `ADIT_'))).toEqual(rows);
});
