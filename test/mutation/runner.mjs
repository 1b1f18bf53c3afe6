import { on } from 'node:events';
import process from 'node:process';
import TestRunner from 'jest-runner';
import { chosen, reached, SWITCH } from './switch.mjs';

/**
 * Runs suites for as long as the tool wants, in one process that has loaded jest and the program once: each message names a suite and the mutant that is on
 * (-1 = none), each answer says how it ended and which mutants it reached.
 */
export default class MutationRunner extends TestRunner {
  async runTests(tests, watcher) {
    let ended;
    this.on('test-file-success', ([, result]) => (ended = outcomeOf(result)));
    this.on('test-file-failure', ([, error]) => (ended = { passed: false, failure: String(error?.message ?? error) }));
    for await (const [{ suite, mutant }] of on(process, 'message')) {
      const from = { at: Date.now(), cpuMs: cpuMs() };
      chosen[0] = mutant;
      process.env[SWITCH] = String(mutant);
      reached.fill(0);
      ended = undefined;
      await super.runTests(tests.filter(({ path }) => path === suite), watcher, { serial: true });
      chosen[0] = -1;
      process.send({ ...ended, ms: Date.now() - from.at, cpuMs: cpuMs() - from.cpuMs, totalCpuMs: cpuMs(), reached: Buffer.from(reached).toString('base64') });
    }
  }
}

function cpuMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function outcomeOf({ numFailingTests, testExecError, testResults }) {
  const failed = testResults.find(({ status }) => status === 'failed');
  const failure = testExecError?.message ?? (failed && `${failed.fullName}: ${failed.failureMessages[0]}`);
  return { passed: numFailingTests === 0 && !testExecError, failure };
}
