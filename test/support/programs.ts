import { networkInterfaces } from 'node:os';
import { describe, test } from '@jest/globals';
import { missingPrograms, type Program } from './debian-packages.ts';
import { findProgram } from './find-program.ts';

/**
 * A suite that needs programs beyond Node. Where one is missing the suite is skipped, and its name says why; with
 * ADIT_REQUIRE_PROGRAMS=1 (set by .ci/run, which installs every one of them) it fails instead. jest calls `suite` for the
 * tests' names even then, so look the programs up inside of hooks and tests.
 *
 *     describeWith('initdb', 'the store on PostgreSQL', () => { ... });
 */
export function describeWith(programs: Program | readonly Program[], name: string, suite: () => void): void {
  const missing = [programs].flat().filter((program) => findProgram(program) === undefined);
  if (missing.length === 0) {
    describe(name, suite);
    return;
  }
  const reason = missingPrograms(missing);
  if (process.env['ADIT_REQUIRE_PROGRAMS'] === '1') {
    describe(name, () => {
      test('finds its programs', () => {
        throw new Error(`${reason}, and ADIT_REQUIRE_PROGRAMS=1 allows no suite to be skipped`);
      });
    });
    return;
  }
  describe.skip(`${name} (skipped: ${reason})`, suite);
}

/** A suite that needs a machine with IPv6; elsewhere it is skipped, as `describeWith` says. */
export function describeWithIpv6(name: string, suite: () => void): void {
  const present = Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === '::1'));
  if (present) describe(name, suite);
  else describe.skip(`${name} (skipped: IPv6 is missing)`, suite);
}
