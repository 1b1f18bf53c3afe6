import process from 'node:process';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import SkippedReporter from '../support/skipped-reporter.mjs';

const [REQUIRE, before] = ['ADIT_REQUIRE_PROGRAMS', process.env['ADIT_REQUIRE_PROGRAMS']];
beforeEach(() => {
  process.env[REQUIRE] = '1';
});
afterEach(() => {
  if (before === undefined) delete process.env[REQUIRE];
  else process.env[REQUIRE] = before;
});

test.each([
  ['a skipped suite', undefined, 'the store (skipped: no initdb)', true],
  ['a skipped suite that the pattern names', ' on PostgreSQL ', 'the store on PostgreSQL (skipped: no initdb)', true],
  ['what the pattern does not name', ' on PostgreSQL ', 'the store on SQLite', false],
  ['what needs IPv6', undefined, 'listeners (skipped: IPv6 is missing)', false],
])('where every program is required, a run fails for %s: pattern %p, %p: %p', (_what, testNamePattern, suite, fails) => {
  const print = jest.spyOn(process.stderr, 'write').mockReturnValue(true);
  const reporter = new SkippedReporter({ testNamePattern });
  const skipped = { ancestorTitles: [suite], title: 'works', fullName: `${suite} works`, status: 'pending' };
  reporter.onRunComplete(new Set(), { testResults: [{ testResults: [skipped] }] });
  print.mockRestore();
  expect(reporter.getLastError() !== undefined).toBe(fails);
});
