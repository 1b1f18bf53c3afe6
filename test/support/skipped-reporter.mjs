import process from 'node:process';

/**
 * Ends a test run with the list of what was skipped, so that nobody takes a skipped suite for a passed one. Where every
 * program is to be there (ADIT_REQUIRE_PROGRAMS=1, set by .ci/run) a run that skipped anything has failed.
 */
export default class SkippedReporter {
  #skipped = new Map();
  #named;

  /** Called by jest with the run's configuration. */
  constructor({ testNamePattern }) {
    this.#named = new RegExp(testNamePattern ?? '', 'i');
  }

  /** Called by jest after the last test. */
  onRunComplete(_contexts, { testResults }) {
    for (const { ancestorTitles, fullName, title, status } of testResults.flatMap((file) => file.testResults)) {
      // What a tunnel of that type can't have is nothing that another machine would run; what the run's pattern does not name, nobody asked for.
      if (status !== 'pending' || title.includes('(cannot apply: ') || !this.#named.test(fullName)) continue;
      const suite = ancestorTitles[0] ?? title;
      this.#skipped.set(suite, (this.#skipped.get(suite) ?? 0) + 1);
    }
    for (const [suite, count] of this.#skipped) process.stderr.write(`Not run: ${suite}: ${count} ${count === 1 ? 'test' : 'tests'}\n`);
    if (this.getLastError() !== undefined) process.stderr.write('ADIT_REQUIRE_PROGRAMS=1 allows no suite to be skipped: the run has failed.\n');
  }

  /** Called by jest to learn whether the run failed because of us. */
  getLastError() {
    // IPv6 is the machine's: nobody can install it.
    const avoidable = [...this.#skipped.keys()].filter((suite) => !suite.endsWith('IPv6 is missing)'));
    return process.env.ADIT_REQUIRE_PROGRAMS === '1' && avoidable.length > 0 ? new Error('No suite may be skipped here') : undefined;
  }
}
