import { expect, test } from '@jest/globals';
import { afterMessage, type ReportedHealth } from '../../src/engine/health/reported-health.ts';
import type { HealthMessage, HealthSettings } from '../../src/wire/health.ts';

const check: HealthSettings = { type: 'tcp', intervalMs: 1000, timeoutMs: 1000, maxFailed: 1, path: '' };
const targets = ['a:1', 'b:1', 'a:1'];

function after(before: ReportedHealth | undefined, message: Partial<HealthMessage>, of: readonly string[] = targets) {
  return afterMessage(before, { type: 'health', of: 'tunnel', id: 1, targets: [], ...message }, of, 10_000);
}

const out = (target: string) => ({ target, healthy: false, failures: 1, ageMs: 4000, error: 'x' });

test('later messages add to the first, whose word of a target counts until another', () => {
  let health = after(undefined, { check, targets: [out('a:1')] });
  expect(health?.healthyTargets(targets)).toEqual(['b:1']);
  health = after(health, { targets: [out('b:1')] });
  expect(health?.healthyTargets(targets)).toEqual([]);
  health = after(health, { targets: [{ ...out('a:1'), healthy: true, failures: 0 }] });
  // A target that is named twice takes two turns.
  expect(health?.healthyTargets(targets)).toEqual(['a:1', 'a:1']);
  expect(health?.state(targets)).toEqual({
    ...check,
    targets: [
      { target: 'a:1', healthy: true, failures: 0, since: 6000, lastError: 'x' },
      { target: 'b:1', healthy: false, failures: 1, since: 6000, lastError: 'x' },
    ],
  });
});

test('checks that begin again have no earlier state, and checks that have ended remove no target', () => {
  const health = after(undefined, { check, targets: [out('a:1')] });
  expect(after(health, { check })?.healthyTargets(targets)).toEqual(targets);
  expect(after(health, { check: null })).toBeUndefined();
  expect(after(undefined, { targets: [out('a:1')] })).toBeUndefined();
});

test('targets that are no longer there are forgotten', () => {
  const health = after(undefined, { check, targets: [out('a:1'), out('c:1')] });
  const fewer = after(health, { targets: [] }, ['b:1']);
  expect(fewer?.healthyTargets(targets)).toEqual(targets);
});
