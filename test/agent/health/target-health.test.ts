import { expect, test } from '@jest/globals';
import { TargetHealth } from '../../../src/agent/health/target-health.ts';

test('a target is out of rotation when so many checks in a row have failed, not earlier, and stays out while they fail', () => {
  const health = new TargetHealth('a:1', 3, 0);
  expect([1000, 2000].map((now) => health.checked('refused', now))).toEqual(['counted', 'counted']);
  expect(health.healthy).toBe(true);
  expect(health.checked('refused', 3000)).toBe('rotation');
  expect(health.checked('silent', 4000)).toBe('counted');
  expect(health.report(5000)).toEqual({ target: 'a:1', healthy: false, failures: 4, ageMs: 2000, error: 'silent' });
});

test('a successful check between failures resets the count', () => {
  const health = new TargetHealth('a:1', 2, 0);
  for (const problem of ['x', '', 'x', '', 'x', '']) expect(health.checked(problem, 1)).toBe('counted');
  expect(health.report(1)).toMatchObject({ healthy: true, failures: 0, error: 'x' });
});

test('the first check that succeeds brings the target back, and its last error is remembered', () => {
  const health = new TargetHealth('a:1', 1, 0);
  expect(health.checked('x', 1000)).toBe('rotation');
  expect(health.checked('', 2000)).toBe('rotation');
  expect(health.checked('', 3000)).toBe('same');
  expect(health.report(4500)).toEqual({ target: 'a:1', healthy: true, failures: 0, ageMs: 2500, error: 'x' });
});

test('what a target makes of an error is one line of bounded length', () => {
  const health = new TargetHealth('a:1', 1, 0);
  health.checked(`a\r\n\x1b[31mb\u2028${'c'.repeat(1000)}`, 0);
  expect(health.error).toMatch(/^a \[31mb c{192}$/);
});
