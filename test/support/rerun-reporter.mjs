import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { logsOf } from './suite-logs.mjs';

/** Ends a test run that failed with what to do next: for each suite the command that runs it alone, and where the logs of its processes are. */
export default class RerunReporter {
  /** Called by jest after a suite. */
  onTestResult(_test, result) {
    if (!hasFailed(result)) rmSync(logsOf(result.testFilePath), { recursive: true, force: true });
  }

  /** Called by jest after the last test. */
  onRunComplete(_contexts, { testResults }) {
    for (const { testFilePath } of testResults.filter(hasFailed)) {
      const logs = logsOf(testFilePath);
      process.stderr.write(`To run it again: npm test -- ${relative(testFilePath)}\n`);
      if (existsSync(logs)) process.stderr.write(`  logs of its processes: ${relative(logs)}/\n`);
    }
  }
}

function hasFailed({ numFailingTests, testExecError }) {
  return numFailingTests > 0 || (testExecError ?? undefined) !== undefined; // jest has null too
}

function relative(file) {
  return path.relative(process.cwd(), file).split(path.sep).join('/');
}
