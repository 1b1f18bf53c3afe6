import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { allowedLicenses, licensesDocument, packagesByLicense } from '../support/licenses.ts';

test('every package that is installed with Adit has a license that lets us distribute it', () => {
  const others = [...packagesByLicense()].filter(([license]) => !allowedLicenses.has(license));
  expect(others).toEqual([]);
});

test('docs/licenses.md is up to date; `npm run docs:licenses` writes it', () => {
  expect(readFileSync(new URL('../../docs/licenses.md', import.meta.url), 'utf8')).toBe(licensesDocument());
});
