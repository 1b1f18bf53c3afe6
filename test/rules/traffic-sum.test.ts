import { expect, test } from '@jest/globals';
import { NO_TRAFFIC, trafficSum } from '../../src/rules/traffic-sum.ts';

test('each number of two records is added to its like, and a sum stays one that can be counted exactly', () => {
  const one = { connections: 1, rate: 2, inletRate: 3, exportRate: 4, inletBytes: 5, exportBytes: 6 };
  const other = { connections: 10, rate: 20, inletRate: 30, exportRate: 40, inletBytes: 50, exportBytes: Number.MAX_SAFE_INTEGER };
  expect(trafficSum(one, other)).toEqual({ connections: 11, rate: 22, inletRate: 33, exportRate: 44, inletBytes: 55, exportBytes: Number.MAX_SAFE_INTEGER });
  expect(trafficSum(one, NO_TRAFFIC)).toEqual(one);
});
