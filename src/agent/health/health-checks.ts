import type { Logger } from 'pino';
import type { HealthMessage, HealthSettings } from '../../wire/health.ts';
import { messageOf } from '../../wire/system-error.ts';
import { ChangeLog, type HealthCounts } from './change-log.ts';
import { checkTarget } from './check-target.ts';
import { type EntryRef, HealthReport } from './health-report.ts';
import { Slots } from './slots.ts';
import { type CheckContext, TargetCheck } from './target-check.ts';
import type { Checked, TargetHealth } from './target-health.ts';

/** Maximum concurrent checks, of all entries together. */
const AT_ONCE = 256;

/** An entry of the configuration file whose targets are checked. */
export interface CheckedEntry {
  /** Names it in the file and in the log: "tunnel web". */
  readonly name: string;
  /** host:port each */
  readonly targets: readonly string[];
  readonly health: HealthSettings;
}

/** The health checks of an agent: of all targets whose entries configure checks, with or without a session. */
export class HealthChecks {
  readonly #entries = new Map<string, EntryChecks>();
  readonly #context: CheckContext;
  readonly #log: ChangeLog;

  constructor(
    { log, random = Math.random, now = () => performance.now(), check = checkTarget }:
      & { readonly log: Logger }
      & Partial<Omit<CheckContext, 'slots' | 'onFault'>>,
  ) {
    this.#context = {
      random,
      now,
      check,
      slots: new Slots(AT_ONCE),
      onFault: (target, error) => this.#log.fault(`the health of ${target} cannot be checked, and stays as it was: ${messageOf(error)}`),
    };
    this.#log = new ChangeLog(log, () => this.#counts());
  }

  /** Replaces the entries to check. Unchanged checks continue; a target that remains keeps its state. */
  set(entries: readonly CheckedEntry[]): void {
    const wanted = new Map(entries.map((entry) => [entry.name, entry]));
    for (const [name, checks] of this.#entries) {
      const entry = wanted.get(name);
      if (entry && sameSettings(entry.health, checks.how)) continue;
      checks.end();
      this.#entries.delete(name);
    }
    for (const { name, health, targets } of wanted.values()) {
      const checks = this.#entries.get(name) ?? new EntryChecks(this.#context, this.#log, name, health);
      this.#entries.set(name, checks);
      checks.setTargets(targets);
    }
  }

  /** The server has accepted the current entry: its health is reported until the session is lost or the entry changes. */
  established(name: string, ref: EntryRef, send: (message: HealthMessage) => void): void {
    this.#entries.get(name)?.established(ref, send);
  }

  /** The session is over. */
  lost(): void {
    for (const checks of this.#entries.values()) checks.lost();
  }

  /** Ends all checks. */
  stop(): void {
    this.lost();
    this.set([]);
    this.#log.stop();
  }

  #counts(): HealthCounts {
    let [out, all] = [0, 0];
    for (const { counts } of this.#entries.values()) {
      out += counts.out;
      all += counts.all;
    }
    return { out, all };
  }
}

/** The checks of one entry. */
class EntryChecks {
  readonly how: HealthSettings;
  readonly #context: CheckContext;
  readonly #log: ChangeLog;
  readonly #name: string;
  readonly #targets = new Map<string, TargetCheck>();
  #report: HealthReport | undefined;

  constructor(context: CheckContext, log: ChangeLog, name: string, how: HealthSettings) {
    this.#context = context;
    this.#log = log;
    this.#name = name;
    this.how = how;
  }

  setTargets(targets: readonly string[]): void {
    const wanted = new Set(targets);
    for (const [target, check] of this.#targets) {
      if (wanted.has(target)) continue;
      check.stop();
      this.#targets.delete(target);
    }
    for (const target of wanted) {
      if (!this.#targets.has(target)) {
        this.#targets.set(
          target,
          new TargetCheck(this.#context, this.how, target, (health, changed) => this.#changed(health, changed)),
        );
      }
    }
  }

  established(ref: EntryRef, send: (message: HealthMessage) => void): void {
    this.#report?.stop();
    const failed = Array.from(this.#targets.values(), ({ health }) => health).filter(({ error }) => error !== '');
    this.#report = new HealthReport(ref, send, this.#context.now, this.how, failed);
  }

  lost(): void {
    this.#report?.stop();
    this.#report = undefined;
  }

  end(): void {
    this.#report?.end();
    this.setTargets([]);
  }

  get counts(): HealthCounts {
    const out = Array.from(this.#targets.values()).filter(({ health }) => !health.healthy).length;
    return { out, all: this.#targets.size };
  }

  #changed(health: TargetHealth, changed: Exclude<Checked, 'same'>): void {
    this.#report?.changed(health, changed);
    if (changed !== 'rotation') return;
    const { target, failures, error } = health;
    const { out, all } = this.counts;
    const left = out === all ? 'no target is left: visitors are refused' : `${all - out} of ${all} targets are in rotation`;
    const state = { event: 'health', entry: this.#name, target, healthy: health.healthy, error: health.healthy ? '' : error, left: all - out } as const;
    if (health.healthy) this.#log.write('info', state, `${this.#name}: ${target} is healthy again and back in rotation; ${left}`);
    else {this.#log.write(
        'warn',
        state,
        `${this.#name}: ${target} is out of rotation: ${failures} health ${failures === 1 ? 'check' : 'checks'} failed in a row (${error}); ${left}`,
      );}
  }
}

function sameSettings(one: HealthSettings, other: HealthSettings): boolean {
  return one.type === other.type && one.path === other.path && one.intervalMs === other.intervalMs && one.timeoutMs === other.timeoutMs
    && one.maxFailed === other.maxFailed;
}
