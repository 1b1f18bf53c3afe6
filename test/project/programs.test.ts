import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { debianPackages, missingPrograms } from '../support/debian-packages.ts';

test('.ci/run installs the package of every program that a suite may ask for', async () => {
  const script = await readFile('.ci/run', 'utf8');
  const listed = /^packages=\(\n([^)]*)\)$/m.exec(script)?.[1]?.split('\n').filter(Boolean) ?? [];
  expect(listed).toEqual(listed.toSorted());
  expect(listed).toEqual(expect.arrayContaining(Object.values(debianPackages).map((name) => `  ${name}`)));
});

test('a missing program is named with its package and the line for .ci/run', () => {
  expect(missingPrograms(['pebble', 'pebble-challtestsrv'])).toBe(
    'pebble, pebble-challtestsrv are missing: run apt-get install pebble; the list of packages in .ci/run needs the line "  pebble"',
  );
  expect(missingPrograms(['initdb'])).toMatch(/^initdb is missing: run apt-get install postgresql; /);
  expect(missingPrograms(['dig', 'curl'])).toMatch(/ needs the lines "  bind9-dnsutils" and "  curl"$/);
});
