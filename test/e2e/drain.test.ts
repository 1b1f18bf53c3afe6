import { test } from '@jest/globals';
import { expectDrained } from '../support/stopping.ts';

test('SIGTERM lets an open connection finish, refuses new ones, and ends with exit code 0', () => expectDrained());
