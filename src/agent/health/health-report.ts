import { HEALTH_TARGETS, type HealthMessage, type HealthSettings, type TargetHealthReport } from '../../wire/health.ts';
import type { Checked, TargetHealth } from './target-health.ts';

/** Minimum interval of reports, in ms: after it, a change is reported immediately. */
const CHANGE_MS = 1000;
/** Counts and errors that don't change the rotation are reported after this many ms at most. */
const COUNT_MS = 30_000;

/** The record on the server of an entry of the configuration file. */
export type EntryRef = Pick<HealthMessage, 'of' | 'id'>;

/** Reports the checks of one entry to the server while a session lasts. */
export class HealthReport {
  readonly #ref: EntryRef;
  readonly #send: (message: HealthMessage) => void;
  readonly #now: () => number;
  readonly #unsaid = new Set<TargetHealth>();
  #reportedAt: number;
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Infinity;

  /** Sends the current state at once. @param known the targets with an earlier failure */
  constructor(ref: EntryRef, send: (message: HealthMessage) => void, now: () => number, check: HealthSettings, known: Iterable<TargetHealth>) {
    this.#ref = ref;
    this.#send = send;
    this.#now = now;
    this.#reportedAt = now();
    this.#sendReports(known, check);
  }

  /** A target differs from its last report. */
  changed(health: TargetHealth, changed: Exclude<Checked, 'same'>): void {
    this.#unsaid.add(health);
    const now = this.#now();
    const dueAt = changed === 'rotation' ? Math.max(now, this.#reportedAt + CHANGE_MS) : now + COUNT_MS;
    if (dueAt >= this.#dueAt) return;
    clearTimeout(this.#timer);
    this.#dueAt = dueAt;
    this.#timer = setTimeout(() => this.#flush(), dueAt - now).unref();
  }

  /** The checks have ended, but the session continues. */
  end(): void {
    this.stop();
    this.#send({ type: 'health', ...this.#ref, check: null, targets: [] });
  }

  /** The session is over. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  #flush(): void {
    this.#dueAt = Infinity;
    this.#reportedAt = this.#now();
    const unsaid = [...this.#unsaid];
    this.#unsaid.clear();
    this.#sendReports(unsaid);
  }

  #sendReports(targets: Iterable<TargetHealth>, check?: HealthSettings): void {
    const reports: TargetHealthReport[] = Array.from(targets, (health) => health.report(this.#now()));
    const begin = { type: 'health', ...this.#ref } as const;
    this.#send({ ...begin, ...(check && { check }), targets: reports.slice(0, HEALTH_TARGETS) });
    for (let from = HEALTH_TARGETS; from < reports.length; from += HEALTH_TARGETS) {
      this.#send({ ...begin, targets: reports.slice(from, from + HEALTH_TARGETS) });
    }
  }
}
