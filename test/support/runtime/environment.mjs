import { rmSync } from 'node:fs';
import process from 'node:process';
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';
import { logsOf } from '../suite-logs.mjs';

/** Node itself, for jest: what a suite reaches as `jest`, and what jest puts in place of its own while one runs. */
export default class Environment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  #console = globalThis.console;
  #exit = process.exit;

  constructor({ projectConfig }, { testPath }) {
    process.env.TEST_LOGS = logsOf(testPath);
    rmSync(process.env.TEST_LOGS, { recursive: true, force: true });
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  async setup() {
    Error.stackTraceLimit = 20; // jest sets 100, and the program makes an error for each call that it refuses
  }

  /** Called by jest after a suite. */
  async teardown() {
    this.moduleMocker.restoreAllMocks();
    this.fakeTimersModern.dispose();
    globalThis.console = this.#console;
    process.exit = this.#exit;
  }

  /** For jest's own runtime, which is not used. */
  getVmContext() {
    return null;
  }
}
