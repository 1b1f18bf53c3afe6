import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { afterEach, expect, jest, test } from '@jest/globals';
import { Child, endChildren } from '../support/child.ts';
import RerunReporter from '../support/rerun-reporter.mjs';
import { logsOf } from '../support/suite-logs.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const own = path.join(root, 'test/project/rerun.test.ts');

afterEach(endChildren);

/** What the reporter says of suites. */
function said(...testResults: readonly object[]): string {
  const write = jest.spyOn(process.stderr, 'write').mockImplementation(() => true);
  try {
    new RerunReporter().onRunComplete(new Set(), { testResults });
    return write.mock.calls.map(([text]) => String(text)).join('');
  } finally {
    write.mockRestore();
  }
}

test('what a process of a suite prints is kept in a file until the suite has passed', async () => {
  const child = new Child(process.execPath, ['-e', 'console.log("to stdout"); console.error("to stderr")']);
  await child.exited;
  const file = path.join(logsOf(own), `${child.pid}.log`);
  expect(readFileSync(file, 'utf8')).toMatch(/^\S+ -e console[^]*\n\n[^]*to std(out|err)\n[^]*to std(out|err)\n$/);
  expect(readdirSync(logsOf(own))).toEqual([`${child.pid}.log`]);
  const reporter = new RerunReporter();
  reporter.onTestResult(undefined, { testFilePath: own, numFailingTests: 1 });
  expect(existsSync(file)).toBe(true);
  expect(said({ testFilePath: own, numFailingTests: 1 })).toBe(
    'To run it again: npm test -- test/project/rerun.test.ts\n  logs of its processes: .cache/logs/test/project/rerun.test/\n',
  );
  reporter.onTestResult(undefined, { testFilePath: own, numFailingTests: 0 });
  expect(existsSync(file)).toBe(false);
});

test('a run that failed ends with the command for each suite that failed, or could not be loaded', () => {
  const suite = (name: string, more: object) => ({ testFilePath: path.join(root, 'test', name), numFailingTests: 0, ...more });
  expect(said(suite('a.test.ts', {}), suite('b.test.ts', { numFailingTests: 2 }), suite('c.test.ts', { testExecError: new Error('no') })))
    .toBe('To run it again: npm test -- test/b.test.ts\nTo run it again: npm test -- test/c.test.ts\n');
  expect(said(suite('a.test.ts', {}))).toBe('');
});
