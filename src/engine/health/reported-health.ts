import type { HealthMessage, HealthSettings, TargetHealthReport } from '../../wire/health.ts';
import type { HealthState, TargetHealthState } from '../face.ts';

/** What its agent has told of the health of one tunnel's or host's targets. Those that it told nothing of are healthy. */
export class ReportedHealth {
  readonly #check: HealthSettings;
  readonly #targets: ReadonlyMap<string, TargetHealthState>;

  constructor(check: HealthSettings, targets: ReadonlyMap<string, TargetHealthState> = new Map()) {
    this.#check = check;
    this.#targets = targets;
  }

  /** With what the agent tells now. Of others than `targets` nothing is kept. @param now ms since the epoch */
  with(reports: readonly TargetHealthReport[], targets: readonly string[], now: number): ReportedHealth {
    const own = new Set(targets);
    const told = new Map(Array.from(this.#targets).filter(([target]) => own.has(target)));
    for (const { target, healthy, failures, ageMs, error } of reports) {
      if (own.has(target)) told.set(target, { target, healthy, failures, since: now - ageMs, lastError: error });
    }
    return new ReportedHealth(this.#check, told);
  }

  /** Those of the targets that take turns. */
  inTurn(targets: readonly string[]): readonly string[] {
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

/** What is known after an agent's message; undefined = the targets are not checked, and all take turns. @param now ms since the epoch */
export function afterMessage(before: ReportedHealth | undefined, { check, targets: reports }: HealthMessage, targets: readonly string[], now: number): ReportedHealth | undefined {
  if (check === null) return undefined;
  return (check ? new ReportedHealth(check) : before)?.with(reports, targets, now);
}

/** What a monitor looks at, over tunnels and hosts: targets that are out of turn, and how many have none left. Costs a look at each. */
export function countOut(all: Iterable<{ readonly health: ReportedHealth | undefined; readonly wanted: { readonly targets: readonly string[] } }>): { readonly targetsOutOfTurn: number; readonly withoutTarget: number } {
  let [targetsOutOfTurn, withoutTarget] = [0, 0];
  for (const { health, wanted: { targets } } of all) {
    if (!health) continue;
    const left = health.inTurn(targets).length;
    targetsOutOfTurn += targets.length - left;
    if (left === 0) withoutTarget++;
  }
  return { targetsOutOfTurn, withoutTarget };
}

/** Those of the targets that take turns, with what is known of their health. */
export function inTurn(health: ReportedHealth | undefined, targets: readonly string[]): readonly string[] {
  return health?.inTurn(targets) ?? targets;
}

/** Whether the same targets take turns after a change of what is known. */
export function sameTurns(before: ReportedHealth | undefined, after: ReportedHealth | undefined, targets: readonly string[]): boolean {
  const [one, other] = [inTurn(before, targets), inTurn(after, targets)];
  return one.length === other.length && one.every((target, index) => target === other[index]);
}
