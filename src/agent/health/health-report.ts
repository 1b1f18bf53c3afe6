import { HEALTH_TARGETS, type HealthMessage, type HealthSettings, type TargetHealthReport } from '../../wire/health.ts';
import type { Checked, TargetHealth } from './target-health.ts';

/** A change is told at once, and no more often than this, in ms. */
const CHANGE_MS = 1000;
/** Counts and errors that have no effect are told this late at most, in ms. */
const COUNT_MS = 30_000;

/** The tunnel or host of the server that an entry of the configuration file has become. */
export type EntryRef = Pick<HealthMessage, 'of' | 'id'>;

/** Tells the server of the checks of one entry, as long as a session lasts. */
export class HealthReport {
  readonly #ref: EntryRef;
  readonly #send: (message: HealthMessage) => void;
  readonly #now: () => number;
  readonly #unsaid = new Set<TargetHealth>();
  #toldAt: number;
  #timer: NodeJS.Timeout | undefined;
  #dueAt = Infinity;

  /** Tells at once how things are. @param known the targets of which something failed before */
  constructor(ref: EntryRef, send: (message: HealthMessage) => void, now: () => number, check: HealthSettings, known: Iterable<TargetHealth>) {
    this.#ref = ref;
    this.#send = send;
    this.#now = now;
    this.#toldAt = now();
    this.#tell(known, check);
  }

  /** A target is not what was told. */
  changed(health: TargetHealth, changed: Exclude<Checked, 'same'>): void {
    this.#unsaid.add(health);
    const now = this.#now();
    const dueAt = changed === 'turned' ? Math.max(now, this.#toldAt + CHANGE_MS) : now + COUNT_MS;
    if (dueAt >= this.#dueAt) return;
    clearTimeout(this.#timer);
    this.#dueAt = dueAt;
    this.#timer = setTimeout(() => this.#flush(), dueAt - now).unref();
  }

  /** The checks have ended, and the session goes on. */
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
    this.#toldAt = this.#now();
    const unsaid = [...this.#unsaid];
    this.#unsaid.clear();
    this.#tell(unsaid);
  }

  #tell(targets: Iterable<TargetHealth>, check?: HealthSettings): void {
    const reports: TargetHealthReport[] = Array.from(targets, (health) => health.report(this.#now()));
    const begin = { type: 'health', ...this.#ref } as const;
    this.#send({ ...begin, ...(check && { check }), targets: reports.slice(0, HEALTH_TARGETS) });
    for (let from = HEALTH_TARGETS; from < reports.length; from += HEALTH_TARGETS) this.#send({ ...begin, targets: reports.slice(from, from + HEALTH_TARGETS) });
  }
}
