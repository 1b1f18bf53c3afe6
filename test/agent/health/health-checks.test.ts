import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { HealthChecks } from '../../../src/agent/health/health-checks.ts';
import { HEALTH_TARGETS, type HealthMessage, healthMessage, type HealthSettings } from '../../../src/wire/health.ts';
import { MAX_CONTROL } from '../../../src/wire/frames.ts';
import { LogRecorder } from '../../support/log-recorder.ts';

const how: HealthSettings = { type: 'tcp', intervalMs: 10_000, timeoutMs: 3000, maxFailed: 2, path: '' };
const ref = { of: 'tunnel', id: 7 } as const;
let stop: () => void = () => undefined;

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  stop();
  jest.useRealTimers();
});

/** Checks whose results the test determines, with a clock that the test advances. */
function startChecks(outcome: (target: string, stopped: AbortSignal) => string | Promise<string> = () => '', random = () => 0.5) {
  const log = new LogRecorder();
  const checked: Array<readonly [target: string, at: number]> = [];
  const start = Date.now();
  const checks = new HealthChecks({
    log: log.logger,
    random,
    now: () => Date.now() - start,
    check: async (_how, target, stopped) => {
      checked.push([target, Date.now() - start]);
      return outcome(target, stopped);
    },
  });
  stop = () => checks.stop();
  const lines = () => log.entries.map(({ msg }) => msg);
  const states = () => log.entries.map(({ level, state }) => [level, state]);
  return { checks, checked, lines, states };
}

const named = (name: string, ...targets: string[]) => ({ name, targets, health: how });
const seconds = (count: number) => jest.advanceTimersByTimeAsync(count * 1000);

test('a thousand targets are checked once in each interval, spread over it', async () => {
  const { checks, checked } = startChecks(undefined, Math.random);
  checks.set([named('web', ...Array.from({ length: 1000 }, (_, index) => `a:${index + 1}`))]);
  await seconds(5);
  expect(checked).toHaveLength(1000);
  for (let second = 0; second < 5; second++) expect(checked.filter(([, at]) => Math.floor(at / 1000) === second).length).toBeLessThan(300);
  await seconds(45);
  const times = checked.filter(([target]) => target === 'a:1').map(([, at]) => at);
  for (const [index, at] of times.entries()) {
    const gap = at - (times[index - 1] ?? at - how.intervalMs);
    expect(gap).toBeGreaterThanOrEqual(8999);
    expect(gap).toBeLessThanOrEqual(11_001);
  }
});

test('a target is not checked again while a check of it is under way', async () => {
  let end: (problem: string) => void = () => undefined;
  const { checks, checked } = startChecks(() =>
    new Promise((resolve) => {
      end = resolve;
    })
  );
  checks.set([named('web', 'a:1')]);
  await seconds(60);
  expect(checked).toHaveLength(1);
  end('');
  await seconds(0.001);
  expect(checked).toHaveLength(2);
});

test('a check that is under way when its target is removed is aborted, and no other follows', async () => {
  const running: Array<{ readonly stopped: AbortSignal; readonly end: (problem: string) => void }> = [];
  const { checks, checked } = startChecks((_, stopped) => new Promise((end) => running.push({ stopped, end })));
  checks.set([named('web', 'a:1')]);
  await seconds(10);
  checks.set([]);
  for (const { stopped, end } of running) {
    expect(stopped.aborted).toBe(true);
    end('refused');
  }
  await seconds(60);
  expect(checked).toHaveLength(1);
});

test('at most 256 checks run at once, and the others are queued', async () => {
  const ends: Array<(problem: string) => void> = [];
  const { checks, checked } = startChecks(() => new Promise((resolve) => ends.push(resolve)));
  checks.set([named('web', ...Array.from({ length: 300 }, (_, index) => `a:${index + 1}`))]);
  await seconds(9);
  expect(checked).toHaveLength(256);
  for (const end of ends.splice(0)) end('');
  await seconds(0.001);
  expect(checked).toHaveLength(300);
});

test('each change is logged in one line', async () => {
  let problem = '';
  const { checks, lines, states } = startChecks((target) => target === 'a:1' ? problem : '');
  checks.set([named('tunnel web', 'a:1', 'b:1', 'c:1')]);
  await seconds(20);
  problem = 'refused';
  await seconds(60);
  problem = '';
  await seconds(60);
  expect(lines()).toEqual([
    'tunnel web: a:1 is out of rotation: 2 health checks failed in a row (refused); 2 of 3 targets are in rotation',
    'tunnel web: a:1 is healthy again and back in rotation; 3 of 3 targets are in rotation',
  ]);
  const state = { event: 'health', entry: 'tunnel web', target: 'a:1' };
  expect(states()).toEqual([
    [40, { ...state, healthy: false, error: 'refused', left: 2 }],
    [30, { ...state, healthy: true, error: '', left: 3 }],
  ]);
});

test.each<Partial<HealthSettings>>([{ type: 'http' }, { intervalMs: 9000 }, { timeoutMs: 2000 }, { maxFailed: 3 }, { path: '/x' }])(
  'checks start again when their settings change by %j, and go on when they do not',
  async (change) => {
    const { checks } = startChecks();
    checks.set([named('web', 'a:1')]);
    const messages: HealthMessage[] = [];
    checks.established('web', ref, (message) => messages.push(message));
    checks.set([{ ...named('web', 'a:1'), health: { ...how } }]);
    expect(messages.splice(0)).toEqual([{ type: 'health', ...ref, check: how, targets: [] }]);
    checks.set([{ ...named('web', 'a:1'), health: { ...how, ...change } }]);
    expect(messages).toEqual([{ type: 'health', ...ref, check: null, targets: [] }]);
  },
);

test('the first check comes within the interval, or within five seconds', async () => {
  const { checks, checked } = startChecks(undefined, () => 0.99);
  checks.set([{ ...named('quick', 'a:1'), health: { ...how, intervalMs: 1000 } }, named('slow', 'b:1')]);
  await seconds(4.949);
  expect(checked[0]).toEqual(['a:1', 990]);
  expect(checked.filter(([target]) => target === 'b:1')).toEqual([]);
  await seconds(0.001);
  expect(checked.at(-1)).toEqual(['b:1', 4950]);
});

test('flapping targets write 20 lines a minute, and one that summarizes the rest', async () => {
  const failing = new Set<string>();
  const { checks, checked, lines, states } = startChecks((target) => {
    if (failing.delete(target)) return '';
    failing.add(target);
    return 'refused';
  });
  checks.set([{ name: 'tunnel web', targets: Array.from({ length: 30 }, (_, index) => `a:${index + 1}`), health: { ...how, intervalMs: 1000, maxFailed: 1 } }]);
  await seconds(300);
  expect(lines().length).toBeGreaterThanOrEqual(4 * 21);
  expect(lines().length).toBeLessThanOrEqual(6 * 21);
  // Each check is a change, which is in one line: its own, or the summary of its minute.
  const more = lines().flatMap((line) => Number(/: (\d+) more changes/.exec(line)?.[1] ?? 0));
  const logged = lines().filter((line) => !line.includes('more changes')).length + more.reduce((sum, count) => sum + count, 0);
  expect(logged).toBeLessThanOrEqual(checked.length);
  expect(logged).toBeGreaterThanOrEqual(checked.length / 2);
  const summaries = lines().flatMap((line, index) => {
    const [, ...numbers] = /^health of targets: (\d+) more changes in the last 60 s; (\d+) of (\d+) targets are out of rotation now$/.exec(line) ?? [];
    const [changes, out, targets] = numbers.map(Number);
    return changes === undefined ? [] : [{ shown: states()[index], said: [40, { event: 'more health', changes, out, targets }] }];
  });
  expect(summaries.length).toBeGreaterThan(0);
  expect(summaries.map(({ shown }) => shown)).toEqual(summaries.map(({ said }) => said));
});

test('a check that this machine cannot run does not count for the target, and is logged once a minute', async () => {
  let fault = false;
  const { checks, lines } = startChecks(() => {
    if (fault) throw new Error('EMFILE: too many open files');
    return 'refused';
  });
  checks.set([named('web', 'a:1', 'b:1')]);
  await seconds(6);
  fault = true;
  await seconds(50);
  expect(lines()).toEqual(['the health of a:1 cannot be checked, and stays as it was: EMFILE: too many open files']);
  fault = false;
  await seconds(10);
  expect(lines()).toHaveLength(3);
});

test('targets without a check in the changed file are not checked any more; the others keep their state', async () => {
  const { checks, checked, lines } = startChecks(() => 'refused');
  checks.set([named('web', 'a:1', 'b:1'), named('db', 'c:1')]);
  await seconds(30);
  expect(lines()).toHaveLength(3);
  checks.set([named('web', 'a:1', 'd:1')]);
  const from = checked.length;
  await seconds(30);
  expect(new Set(checked.slice(from).map(([target]) => target))).toEqual(new Set(['a:1', 'd:1']));
  // a:1 was already out of rotation: only d:1 is new.
  expect(lines().slice(3)).toEqual(['web: d:1 is out of rotation: 2 health checks failed in a row (refused); no target is left: visitors are refused']);
  checks.stop();
  expect(jest.getTimerCount()).toBe(0);
});

test('the state is reported to the server, again after a reconnect; a change at once, a count within half a minute', async () => {
  let problem = 'refused';
  const { checks } = startChecks((target) => target === 'a:1' ? problem : '');
  checks.set([named('web', 'a:1', 'b:1')]);
  await seconds(16);
  const messages: HealthMessage[] = [];
  checks.established('web', ref, (message) => messages.push(message));
  expect(messages).toEqual([{ type: 'health', ...ref, check: how, targets: [{ target: 'a:1', healthy: false, failures: 2, ageMs: 3500, error: 'refused' }] }]);
  await seconds(40);
  expect(messages.slice(1)).toEqual([{
    type: 'health',
    ...ref,
    targets: [expect.objectContaining({ target: 'a:1', healthy: false, failures: expect.any(Number) })],
  }]);
  problem = '';
  await seconds(11);
  expect(messages.at(-1)).toMatchObject({ targets: [{ target: 'a:1', healthy: true, failures: 0 }] });
  checks.lost();
  problem = 'silent';
  const before = messages.length;
  await seconds(30);
  expect(messages).toHaveLength(before);
  const again: HealthMessage[] = [];
  checks.established('web', { of: 'tunnel', id: 8 }, (message) => again.push(message));
  expect(again).toMatchObject([{ id: 8, check: how, targets: [{ target: 'a:1', healthy: false, error: 'silent' }] }]);
  // These checks have ended, but the session continues.
  checks.set([]);
  expect(again.at(-1)).toEqual({ type: 'health', of: 'tunnel', id: 8, check: null, targets: [] });
});

test.each([[5, 7.5], [12, 1]])(
  'a change is reported at once, or a second after the last report: with a session since %d s it is sent %d s later',
  async (since, after) => {
    const { checks } = startChecks(() => 'refused');
    checks.set([named('web', 'a:1')]);
    await seconds(since);
    const messages: HealthMessage[] = [];
    checks.established('web', ref, (message) => messages.push(message));
    // The second check fails after 12.5 s.
    await seconds(after - 0.001);
    expect(messages).toHaveLength(1);
    await seconds(0.002);
    expect(messages[1]).toMatchObject({ targets: [{ target: 'a:1', healthy: false }] });
  },
);

test('an entry that is declared again reports under its new record alone', async () => {
  const { checks } = startChecks(() => 'refused');
  checks.set([named('web', 'a:1')]);
  const [first, second]: [HealthMessage[], HealthMessage[]] = [[], []];
  checks.established('web', ref, (message) => first.push(message));
  // A count is to be reported within half a minute.
  await seconds(6);
  checks.established('web', { of: 'tunnel', id: 8 }, (message) => second.push(message));
  await seconds(60);
  expect(first).toHaveLength(1);
  expect(second.length).toBeGreaterThan(2);
  expect(new Set(second.map(({ id }) => id))).toEqual(new Set([8]));
});

test('changes are reported at most once a second, and messages about many targets with long errors fit into a frame', async () => {
  let checked = 0;
  const { checks } = startChecks(() => checked++ % 300 < 150 ? '\u{10ffff}"\\'.repeat(100) : '', Math.random);
  checks.set([{
    name: 'web',
    targets: Array.from({ length: 120 }, (_, index) => `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}:${index + 1}`),
    health: { ...how, intervalMs: 1000, maxFailed: 1 },
  }]);
  await seconds(5);
  const messages: HealthMessage[] = [];
  checks.established('web', ref, (message) => messages.push(message));
  expect(messages.length).toBeGreaterThan(1);
  await seconds(60);
  expect(messages.filter(({ targets }) => targets.length < HEALTH_TARGETS).length).toBeLessThan(65);
  for (const message of messages) {
    expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThan(MAX_CONTROL);
    expect(healthMessage.safeParse(message).success).toBe(true);
  }
});
