import { statSync } from 'node:fs';

/** Suites that start programs, or wait, and so take the longest. */
const first = /\/test\/(e2e|panel|http|project|dev|release|service|agent)\/|\/store\/durability/;

/**
 * In which order jest starts the suites: those that take the longest first, so that at the end no worker runs one while the others have nothing left to do. Jest's own order relies on the last
 * run's durations, which a fresh clone lacks; without them it starts the largest files first, and some of the longest suites are small.
 */
export default class LongestFirst {
  /** Called by jest with the suites of a run. */
  sort(tests) {
    const sized = tests.map((test) => ({ test, isFirst: first.test(test.path), bytes: statSync(test.path).size }));
    return sized.toSorted((one, other) => Number(other.isFirst) - Number(one.isFirst) || other.bytes - one.bytes).map(({ test }) => test);
  }

  /** Called by jest with the durations of a run. */
  cacheResults() {}
}
