import { HEALTH_TARGETS, type HealthMessage, type HealthSettings, type TargetHealthReport } from '../../wire/health.ts';
import type { HealthState, TargetHealthState } from '../face.ts';

/** The health of one tunnel's or host's targets, as its agent reports it. Targets without a report are healthy. */
export class ReportedHealth {
  readonly #check: HealthSettings;
  readonly #targets: ReadonlyMap<string, TargetHealthState>;

  constructor(check: HealthSettings, targets: ReadonlyMap<string, TargetHealthState> = new Map()) {
    this.#check = check;
    this.#targets = targets;
  }

  /** Adds an agent's report. Keeps nothing about other targets than `targets`. @param now ms since the epoch */
  with(reports: readonly TargetHealthReport[], targets: readonly string[], now: number): ReportedHealth {
    const own = new Set(targets);
    const states = new Map(Array.from(this.#targets).filter(([target]) => own.has(target)));
    for (const { target, healthy, failures, ageMs, error } of reports) {
      if (own.has(target)) states.set(target, { target, healthy, failures, since: now - ageMs, lastError: error });
    }
    return new ReportedHealth(this.#check, states);
  }

  /** What the agent would report now. @param now ms since the epoch */
  *reports(of: HealthMessage['of'], id: number, now: number): Generator<HealthMessage> {
    const targets = Array.from(this.#targets.values(), ({ target, healthy, failures, since, lastError: error }) => ({
      target,
      healthy,
      failures,
      ageMs: Math.max(0, Math.round(now - (since ?? now))),
      error,
    }));
    yield { type: 'health', of, id, check: this.#check, targets: targets.slice(0, HEALTH_TARGETS) };
    for (let start = HEALTH_TARGETS; start < targets.length; start += HEALTH_TARGETS) {
      yield { type: 'health', of, id, targets: targets.slice(start, start + HEALTH_TARGETS) };
    }
  }

  /** The targets that are in rotation. */
  healthyTargets(targets: readonly string[]): readonly string[] {
    return targets.filter((target) => this.#targets.get(target)?.healthy !== false);
  }

  /** What lists show. */
  state(targets: readonly string[]): HealthState {
    return {
      ...this.#check,
      targets: Array.from(new Set(targets), (target) => this.#targets.get(target) ?? { target, healthy: true, failures: 0, since: null, lastError: '' }),
    };
  }
}

/** The health after an agent's message; undefined = the targets are not checked, and all are in rotation. @param now ms since the epoch */
export function afterMessage(
  before: ReportedHealth | undefined,
  { check, targets: reports }: HealthMessage,
  targets: readonly string[],
  now: number,
): ReportedHealth | undefined {
  if (check === null) return undefined;
  return (check ? new ReportedHealth(check) : before)?.with(reports, targets, now);
}

/** A tunnel or host with targets. */
interface Checked {
  readonly health: ReportedHealth | undefined;
  readonly wanted: { readonly targets: readonly string[] };
}

/** Metrics over tunnels and hosts: targets that are out of rotation, and records without a healthy target. Takes time in proportion to the number of records. */
export function countOut(...lists: ReadonlyArray<Iterable<Checked>>): { readonly targetsUnhealthy: number; readonly withoutTarget: number } {
  let [targetsUnhealthy, withoutTarget] = [0, 0];
  for (const all of lists) {
    for (const { health, wanted } of all) {
      if (!health) continue;
      const { targets } = wanted;
      const left = health.healthyTargets(targets).length;
      targetsUnhealthy += targets.length - left;
      if (left === 0) withoutTarget++;
    }
  }
  return { targetsUnhealthy, withoutTarget };
}

/** The targets that are in rotation, given their health. */
export function healthyTargets(health: ReportedHealth | undefined, targets: readonly string[]): readonly string[] {
  return health?.healthyTargets(targets) ?? targets;
}

/** Whether the same targets are in rotation before and after a report. */
export function sameHealthy(before: ReportedHealth | undefined, after: ReportedHealth | undefined, targets: readonly string[]): boolean {
  const [one, other] = [healthyTargets(before, targets), healthyTargets(after, targets)];
  return one.length === other.length && one.every((target, index) => target === other[index]);
}
