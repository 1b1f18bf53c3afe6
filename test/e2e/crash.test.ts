import { test } from '@jest/globals';
import { expectNothingLost } from '../support/crash.ts';

test('a server killed during four parallel writers has all that it acknowledged and no half of anything', () =>
  expectNothingLost({ crashes: 1, writers: 4, writes: 40 }));
