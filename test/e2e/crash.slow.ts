import { test } from '@jest/globals';
import { expectNothingLost } from '../support/crash.ts';
import { sized } from '../support/endurance.ts';

// Short form: test/e2e/crash.test.ts

const CRASHES = sized(3, 10);

test(`a server killed during eight parallel writers, ${CRASHES} times, has all that it acknowledged and no half of anything`, () =>
  expectNothingLost({ crashes: CRASHES, writers: 8, writes: 100 }));
