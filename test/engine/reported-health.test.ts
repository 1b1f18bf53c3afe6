import { expect, test } from '@jest/globals';
import { afterMessage, countOut, type ReportedHealth, sameHealthy } from '../../src/engine/health/reported-health.ts';
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

test('targets that are no longer there are forgotten, and nothing is kept of others', () => {
  const health = after(undefined, { check, targets: [out('a:1'), out('c:1')] });
  expect([...health?.reports('host', 7, 0) ?? []].flatMap((message) => message.targets.map(({ target }) => target))).toEqual(['a:1']);
  const fewer = after(health, { targets: [] }, ['b:1']);
  expect(fewer?.healthyTargets(targets)).toEqual(targets);
});

test('what is known of many targets is reported in messages of 50, of which the first begins the checks', () => {
  const many = Array.from({ length: 120 }, (_, n) => `t:${n}`);
  const health = after(undefined, { check, targets: many.map(out) }, many);
  const messages = [...health?.reports('host', 7, 12_000) ?? []];
  expect(messages.map(({ targets: some, ...message }) => [message, some.length, some[0]?.target])).toEqual([
    [{ type: 'health', of: 'host', id: 7, check }, 50, 't:0'],
    [{ type: 'health', of: 'host', id: 7 }, 50, 't:50'],
    [{ type: 'health', of: 'host', id: 7 }, 20, 't:100'],
  ]);
  // It was out 4 s before the first report, which came at 10 s. The clock may be set back.
  expect(messages[0]?.targets[0]).toEqual({ ...out('t:0'), ageMs: 6000 });
  expect([...health?.reports('host', 7, 5999.6) ?? []][0]?.targets[0]?.ageMs).toBe(0);
});

test('whether the same targets are in rotation is a matter of which they are, not of how many', () => {
  const [withoutA, withoutB] = ['a:1', 'b:1'].map((target) => after(undefined, { check, targets: [out(target)] }, ['a:1', 'b:1']));
  const same = (one?: ReportedHealth, other?: ReportedHealth) => sameHealthy(one, other, ['a:1', 'b:1']);
  expect([same(withoutA, withoutA), same(withoutA, withoutB), same(withoutA), same(undefined, withoutA), same()]).toEqual([true, false, false, false, true]);
  const records = [{ health: withoutA, wanted: { targets: ['a:1', 'b:1'] } }, { health: withoutB, wanted: { targets: ['b:1'] } }];
  expect(countOut(records, [{ health: undefined, wanted: { targets: [] } }])).toEqual({ targetsUnhealthy: 2, withoutTarget: 1 });
});
